#!/usr/bin/env python3
"""NIP-42: logins, and what they open: kinds 4 and 1059 (NIP-04, 17, 59), protected events."""

import threading
import time

from harness import BASE_TIME, Suite, check, check_equal, compact, make_event
from relay import RELAY_URL

suite = Suite(shards=(1, 2, 4))


def refuse_login(client, key, **options):
    accepted, text = client.try_login(key, **options)
    check(not accepted, f"login accepted with {options}")
    check(text.startswith("invalid: "), f"login refused with {text!r}, right is invalid:")


def is_logged_in(client, key):
    accepted, text = client.publish(make_event(key, 1, [["-"]], str(time.monotonic())))
    check(accepted or text.split(":")[0] in ("auth-required", "restricted"), text)
    return accepted


@suite.case("42-01 a challenge at connect, of 128 random bits, another for each connection")
def challenge(t):
    relay = t.relay()
    challenges = set()
    for _ in range(20):
        client = t.connect(relay)
        message = client.recv_any()
        check(message[0] == "AUTH" and len(message) == 2, f"first message: {message}")
        check(len(message[1]) >= 22 and message[1].isprintable(), f"challenge {message[1]!r}")
        challenges.add(message[1])
    check_equal(len(challenges), 20, "different challenges")


@suite.case("42-02 every AUTH is answered")
def answered(t):
    client = t.connect(t.relay())
    client.await_challenge()
    for text in ('["AUTH"]', '["AUTH",5]', '["AUTH",null]', '["AUTH",{}]', '["AUTH","x"]'):
        client.notice(text)
    key = t.key()
    event = client.auth_event(key)
    for name in ("pubkey", "sig", "tags", "content", "kind", "created_at"):
        broken = {member: value for member, value in event.items() if member != name}
        client.send("AUTH", broken)
        accepted, text = client.await_ok(event["id"])
        check(not accepted and text.startswith("invalid: "), f"without {name}: {text!r}")
    check(not is_logged_in(client, key), "logged in by a broken event")
    client.send("AUTH", event, "ignored")
    check_equal(client.await_ok(event["id"])[0], True, "good AUTH")
    check(is_logged_in(client, key), "not logged in")


@suite.case("42-03 each check on its own")
def checks(t):
    relay = t.relay()
    key = t.key()
    client, other = t.connect(relay), t.connect(relay)
    right = ["challenge", client.await_challenge()]
    url = ["relay", RELAY_URL]
    for options in (
        {"kind": 1},
        {"kind": 22241},
        {"kind": 27235},
        {"age_s": 1800},
        {"age_s": 700},
        {"age_s": -700},
        {"relay": "wss://evil.example/"},
        {"relay": ""},
        {"challenge": other.await_challenge()},
        {"challenge": "x"},
        {"tags": []},
        {"tags": [url]},
        {"tags": [right]},
        # Two of one and none of the other: a relay that counts matches lets these through.
        {"tags": [url, url]},
        {"tags": [right, right]},
        {"tags": [["challenge", ""], url]},
        {"tags": [["challenge"], url]},
        {"tags": [right, ["relay"]]},
        {"tags": [["relay", right[1]], ["challenge", RELAY_URL]]},
    ):
        refuse_login(client, key, **options)
    event = client.auth_event(key)
    for changed in (
        {**event, "sig": make_event(key)["sig"]},
        {**event, "content": "x"},
        {**event, "pubkey": t.key().pubkey},
    ):
        client.send("AUTH", changed)
        accepted, text = client.await_ok(event["id"])
        check(not accepted and text.startswith("invalid: "), f"forged: {text!r}")
    check(not is_logged_in(client, key), "logged in after refusals only")
    for age in (0, 500, -500):
        fresh = t.connect(relay)
        fresh.login(key, age_s=age)
        check(is_logged_in(fresh, key), f"not logged in by an event of age {age}")


@suite.case("42-03 an AUTH event is good on its own connection only")
def replay(t):
    relay = t.relay()
    key = t.key()
    first, second = t.connect(relay), t.connect(relay)
    event = first.auth_event(key)
    first.send("AUTH", event)
    check(first.await_ok(event["id"])[0], "login refused")
    second.send("AUTH", event)
    check(not second.await_ok(event["id"])[0], "replayed on another connection")


@suite.case("42-04 which URLs name the relay")
def urls(t):
    relay = t.relay({"relay.urls": [RELAY_URL, "wss://relay.test:7777/sub"]})
    key = t.key()
    for url, right in (
        ("wss://relay.example", True),
        ("wss://relay.example/", True),
        ("WSS://Relay.Example:443/", True),
        ("ws://relay.example/", None),  # The scheme class is one or two: left open.
        ("wss://relay.example:444/", False),
        ("wss://relay.example/other", False),
        ("wss://evil.example", False),
        ("wss://relay.example.evil.example/", False),
        ("wss://evilrelay.example/", False),
        ("wss://evil.example/wss://relay.example/", False),
        ("wss://relay.example@evil.example/", False),
        ("https://relay.example/", False),
        ("relay.example", None),
        ("wss://relay.test:7777/sub", True),
        ("wss://relay.test:7777/sub/", True),
        ("wss://relay.test:7777", True),
        ("wss://relay.test:7777/sub/deeper", False),
        ("wss://relay.test/sub", False),
        ("", False),
        ("wss://", False),
    ):
        client = t.connect(relay)
        accepted, text = client.try_login(key, relay=url)
        check(right is None or accepted == right, f"{url}: {accepted} {text!r}, right is {right}")
        check_equal(is_logged_in(client, key), accepted, f"state after {url}")


@suite.case("42-04 Host and X-Forwarded-Host do not make a URL one's own")
def host_headers(t):
    key = t.key()
    headers = [("X-Forwarded-Host", "evil.example"), ("Forwarded", "host=evil.example"),
               ("Origin", "https://evil.example")]
    client = t.connect(t.relay(), headers=headers)
    refuse_login(client, key, relay="wss://evil.example/")
    host, port = client.relay.address
    refuse_login(client, key, relay=f"ws://{host}:{port}/")


@suite.case("42-04 without configured URLs the listen address is the relay's own")
def default_urls(t):
    relay = t.relay({"relay.urls": []})
    port = relay.address[1]
    key = t.key()
    for url in (f"ws://127.0.0.1:{port}", f"ws://localhost:{port}/"):
        t.connect(relay).login(key, relay=url)
    refuse_login(t.connect(relay), key, relay=RELAY_URL)


@suite.case("42-05 several keys add up")
def several_keys(t):
    relay = t.relay()
    first, second, sender = t.keys(3)
    wraps = [make_event(sender, 1059, [["p", key.pubkey]], "w") for key in (first, second)]
    client = t.connect(relay)
    client.accept(*wraps)
    client.login(first)
    found = client.query_ids({"kinds": [1059], "authors": [sender.pubkey]})
    check_equal(found, [wraps[0]["id"]], "wraps of the first")
    client.login(second)
    found = client.query_ids({"kinds": [1059], "authors": [sender.pubkey]})
    check_equal(sorted(found), sorted(wrap["id"] for wrap in wraps), "wraps of both")
    check(is_logged_in(client, first) and is_logged_in(client, second), "a login was lost")
    client.login(first)
    check(is_logged_in(client, second), "a second login by the first took the other's")


@suite.case("42-06 a login ends with its connection")
def login_ends(t):
    relay = t.relay()
    key = t.key()
    client = t.connect(relay)
    client.login(key)
    check(is_logged_in(client, key), "not logged in")
    client.close()
    again = t.connect(relay)
    text = again.refuse(make_event(key, 1, [["-"]], "other connection"), "auth-required")
    check(text, "no text")


@suite.case("42-06 a login opens subscriptions for what comes after it")
def live_after_login(t):
    relay = t.relay()
    sender, recipient = t.keys(2)
    client, writer = t.connect(relay), t.connect(relay)
    client.stored("mixed", {"#p": [recipient.pubkey]})
    before = make_event(sender, 1059, [["p", recipient.pubkey]], "before")
    writer.accept(before)
    client.silent()
    client.login(recipient)
    after = make_event(sender, 1059, [["p", recipient.pubkey]], "after")
    writer.accept(after)
    check_equal(client.live("mixed"), after, "live wrap")
    client.silent()


@suite.case("42-07 42-08 kind 22242 as an EVENT is refused, stored and sent nowhere")
def auth_event_is_no_event(t):
    relay = t.relay()
    key = t.key()
    client, listener = t.connect(relay), t.connect(relay)
    listener.stored("s", {"authors": [key.pubkey]})
    event = client.auth_event(key)
    client.refuse(event, "invalid")
    client.login(key)
    listener.silent()
    check_equal(client.query({"kinds": [22242], "authors": [key.pubkey]}), [], "stored")
    check_equal(client.count({"kinds": [22242], "authors": [key.pubkey]}), 0, "COUNT")


@suite.case("42-09 04-01 59-01 unauthenticated: auth-required where only gated kinds can match")
def gated_unauthenticated(t):
    relay = t.relay()
    client = t.connect(relay)
    sender, recipient = t.keys(2)
    message = make_event(sender, 4, [["p", recipient.pubkey]], "c")
    wrap = make_event(sender, 1059, [["p", recipient.pubkey]], "c")
    note = make_event(sender, 1, [["p", recipient.pubkey]], "c")
    client.accept(message, wrap, note)
    for wanted in (
        {"kinds": [4]},
        {"kinds": [1059]},
        {"kinds": [4, 1059]},
        {"kinds": [1059], "#p": [recipient.pubkey]},
        {"kinds": [4], "ids": [message["id"]]},
        {"kinds": [4], "authors": [sender.pubkey]},
        {"kinds": [21059]},
    ):
        for command in ("REQ", "COUNT"):
            client.refuse_filter("auth-required", wanted, command=command)
    for wanted in (
        {"authors": [sender.pubkey]},
        {"ids": [message["id"], wrap["id"], note["id"]]},
        {"#p": [recipient.pubkey]},
        {"kinds": [1, 4, 1059], "authors": [sender.pubkey]},
        {"since": BASE_TIME, "until": BASE_TIME, "#p": [recipient.pubkey]},
    ):
        check_equal(client.query(wanted), [note], f"events for {wanted}")
        check_equal(client.count(wanted), 1, f"COUNT of {wanted}")


@suite.case("59-01 04-01 authenticated: parties see their own, others nothing, on every path")
def gated_authenticated(t):
    relay = t.relay()
    sender, recipient, stranger = t.keys(3)
    author = {"authors": [sender.pubkey]}
    clients = {}
    for name, key in (("sender", sender), ("recipient", recipient), ("stranger", stranger)):
        clients[name] = t.connect(relay)
        clients[name].login(key)
        clients[name].stored("live", author)
        clients[name].stored("gated", {"kinds": [4, 1059], **author})
    anonymous = t.connect(relay)
    anonymous.stored("live", author)
    message = make_event(sender, 4, [["p", recipient.pubkey]], "m", BASE_TIME + 1)
    wrap = make_event(sender, 1059, [["p", recipient.pubkey]], "w")
    t.connect(relay).accept(message, wrap)
    # The author of a wrap is a throw-away key: only the recipient may read it.
    for name, right in (("sender", [message]), ("recipient", [message, wrap]), ("stranger", [])):
        client = clients[name]
        live = [client.recv() for _ in range(2 * len(right))]
        client.silent()
        for subscription in ("live", "gated"):
            got = [event[2]["id"] for event in live if event[1] == subscription]
            check_equal(sorted(got), sorted(event["id"] for event in right), f"live to {name}")
        for wanted in (
            {"kinds": [4, 1059], **author},
            {"kinds": [4, 1059], "#p": [recipient.pubkey]},
            author,
            {"ids": [message["id"], wrap["id"]]},
            {"#p": [recipient.pubkey], "kinds": [1059, 4, 1]},
        ):
            check_equal(client.query(wanted), right, f"{wanted} by {name}")
            check_equal(client.count(wanted), len(right), f"COUNT of {wanted} by {name}")
    anonymous.silent()


@suite.case("59-01 gated events do not take the place of others under a limit")
def limit_beside_gated(t):
    client = t.connect(t.relay())
    sender, recipient = t.keys(2)
    notes = [make_event(sender, created_at=BASE_TIME + n) for n in range(3)]
    wraps = [
        make_event(sender, 1059, [["p", recipient.pubkey]], "", BASE_TIME + 10 + n)
        for n in range(20)
    ]
    client.accept(*notes, *wraps)
    found = client.query({"authors": [sender.pubkey], "limit": 2})
    check_equal(found, [notes[2], notes[1]], "newest two that may be seen")


@suite.case("59-02 the ephemeral wrap reaches its recipient alone and is not kept")
def ephemeral_wrap(t):
    relay = t.relay()
    sender, recipient, stranger = t.keys(3)
    wanted = {"kinds": [21059], "#p": [recipient.pubkey]}
    reader, other, anonymous = (t.connect(relay) for _ in range(3))
    reader.login(recipient)
    other.login(stranger)
    reader.stored("s", wanted)
    other.stored("s", wanted)
    anonymous.stored("s", {"authors": [sender.pubkey]})
    wrap = make_event(sender, 21059, [["p", recipient.pubkey]], "w")
    t.connect(relay).accept(wrap)
    check_equal(reader.live("s"), wrap, "live wrap")
    other.silent()
    anonymous.silent()
    check_equal(reader.query(wanted), [], "stored")


@suite.case("59-07 seals and rumors get no special treatment")
def seals(t):
    client = t.connect(t.relay())
    key = t.key()
    seal = make_event(key, 13, [], "sealed")
    client.accept(seal, make_event(key, 10050, [["relay", RELAY_URL]]))
    check_equal(client.query({"kinds": [13], "authors": [key.pubkey]}), [seal], "seal")
    rumor = make_event(key, 14, [["p", key.pubkey]], "hi")
    del rumor["sig"]
    client.send("EVENT", rumor)
    accepted, text = client.await_ok(rumor["id"])
    check(not accepted and text.startswith("invalid: "), f"unsigned rumor: {accepted} {text!r}")


@suite.case("42-09 gating can be set to other kinds or none")
def other_gated_kinds(t):
    sender, recipient = t.keys(2)
    client = t.connect(t.relay({"auth.gated_kinds": [30078]}))
    private = make_event(sender, 30078, [["d", "x"], ["p", recipient.pubkey]])
    wrap = make_event(sender, 1059, [["p", recipient.pubkey]])
    client.accept(private, wrap)
    client.refuse_filter("auth-required", {"kinds": [30078]})
    check_equal(client.query({"kinds": [1059], "authors": [sender.pubkey]}), [wrap], "wrap")
    client.login(sender)
    check_equal(client.query({"kinds": [30078], "authors": [sender.pubkey]}), [private], "own")
    client = t.connect(t.relay({"auth.gated_kinds": []}))
    client.accept(wrap)
    check_equal(client.query({"kinds": [1059], "authors": [sender.pubkey]}), [wrap], "wrap")


@suite.case("42-10 with auth.required nothing but AUTH is served before login")
def auth_required(t):
    relay = t.relay({"auth.required": True})
    key = t.key()
    client = t.connect(relay)
    event = make_event(key)
    client.refuse(event, "auth-required")
    client.refuse(make_event(key, 20001), "auth-required")
    for command in ("REQ", "COUNT"):
        client.refuse_filter("auth-required", {"authors": [key.pubkey]}, command=command)
        client.refuse_filter("auth-required", {}, command=command)
    client.send("CLOSE", "x")
    client.silent()
    refuse_login(client, key, challenge="wrong")
    client.refuse(event, "auth-required")
    client.login(key)
    client.accept(event)
    check_equal(client.query({"authors": [key.pubkey]}), [event], "after login")
    # Anybody who is logged in may write, also events of others.
    client.accept(make_event(t.key()))


@suite.case("42-11 after login the relay repeats nothing by itself")
def nothing_repeated(t):
    client = t.connect(t.relay())
    sender, recipient = t.keys(2)
    wrap = make_event(sender, 1059, [["p", recipient.pubkey]])
    client.accept(wrap)
    client.refuse_filter("auth-required", {"kinds": [1059], "#p": [recipient.pubkey]})
    client.refuse(make_event(recipient, 1, [["-"]]), "auth-required")
    client.login(recipient)
    client.silent()
    check_equal(client.query({"kinds": [1059], "#p": [recipient.pubkey]}), [wrap], "repeated REQ")


@suite.case("42-02 AUTH, REQ and EVENT in one write take effect in order")
def pipelined_login(t):
    client = t.connect(t.relay())
    sender, recipient = t.keys(2)
    wrap = make_event(sender, 1059, [["p", recipient.pubkey]])
    client.accept(wrap)
    protected = make_event(recipient, 1, [["-"]])
    wanted = {"kinds": [1059], "#p": [recipient.pubkey]}
    login = client.auth_event(recipient)
    client.send_all(
        [["AUTH", login], ["EVENT", protected], ["REQ", "after", wanted]]
    )
    check(client.await_ok(login["id"])[0], "login refused")
    accepted, text = client.await_ok(protected["id"])
    check(accepted, f"protected event behind AUTH: {text!r}")
    check_equal(client.await_stored("after")[0], [wrap], "wraps behind AUTH")


@suite.case("42-05 many logins at once on many connections")
def many_logins(t):
    relay = t.relay()
    keys = t.keys(4)
    failures = []

    def run(key):
        try:
            for _ in range(5):
                client = t.connect(relay)
                client.login(key)
                check(is_logged_in(client, key), "not logged in")
        except Exception as error:
            failures.append(compact(str(error)))

    threads = [threading.Thread(target=run, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check_equal(failures, [], "failures")


if __name__ == "__main__":
    suite.main()
