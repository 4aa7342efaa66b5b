#!/usr/bin/env python3
"""What goes wrong in relays that people run: filters, order, deletion, logins, files, encodings.

Each case is a fault reported in public of some relay or client, cut down to a small input.
"""

import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "protocol"))

from harness import BASE_TIME, Suite, check, check_equal, compact, make_event, newest_first
from harness import raw_event
from websocket import CLOSE, TEXT, encode_frame, upgrade_request

suite = Suite(shards=(1, 2))

CORS = ("access-control-allow-origin", "access-control-allow-headers",
        "access-control-allow-methods")


@suite.case("CL-015 limit 0 and limits above the maximum")
def edges_of_limit(t):
    relay = t.own_relay({"limits.filter_limit_max": 500})
    client = t.connect(relay)
    key, other = t.keys(2)
    events = [make_event(key, content=str(n), created_at=BASE_TIME + n) for n in range(3)]
    client.accept(*events)
    check_equal(client.stored("zero", {"kinds": [1], "limit": 0})[0], [], "zero")
    check_equal(client.stored("ping", {"ids": ["5" * 64], "limit": 0})[0], [], "ping")
    found, _ = client.stored("many", {"kinds": [1], "limit": 999999})
    check_equal(found, newest_first(events), "many")
    fresh = make_event(other, content="kelp")
    client.accept(fresh)
    check_equal((client.live("zero"), client.live("many")), (fresh, fresh), "live events")
    client.silent()


@suite.case("CL-017 events of one second come by id, also after a restart and in reverse filling")
def one_second(t):
    keys = t.keys(5)
    events = newest_first([make_event(key, content="n", created_at=1712345678) for key in keys])
    for order in (events, events[::-1]):
        relay = t.own_relay()
        for _ in range(2):
            client = t.connect(relay)
            for event in order:
                client.publish(event)
            check_equal(client.query({"kinds": [1], "limit": 3}), events[:3], "limit 3")
            check_equal(client.query({"kinds": [1], "limit": 10}), events, "limit 10")
            authors = [key.pubkey for key in keys]
            found = client.query({"authors": authors[:2]}, {"authors": authors[2:]})
            check_equal(found, events, "two filters")
            t.restart(relay)


@suite.case("CL-019 an event that matches twice is sent once and counted once")
def matches_twice(t):
    client = t.connect(t.relay())
    first, second, third = t.keys(3)
    tags = [["p", second.pubkey], ["p", third.pubkey], ["t", "reef"], ["t", "reef"]]
    stored, live = (make_event(first, tags=tags, created_at=1700000001 + n) for n in (0, 1))
    filters = [{"#p": [second.pubkey, third.pubkey]}, {"#t": ["reef"], "authors": [first.pubkey]},
               {"authors": [first.pubkey]}]
    client.accept(stored)
    check_equal(client.stored("dup", *filters)[0], [stored], "stored")
    check_equal(client.count(*filters), 1, "COUNT")
    client.accept(live)
    check_equal(client.live("dup"), live, "live")
    client.silent()


@suite.case("CL-021 after CLOSE or a new REQ nothing of the old subscription comes")
def old_subscription(t):
    relay = t.own_relay()
    keys = t.keys(4)
    client, other, writer = t.connect(relay), t.connect(relay), t.connect(relay)
    events = [make_event(keys[n % 4], content="old", created_at=BASE_TIME + n) for n in range(4000)]
    for first in range(0, len(events), 250):
        writer.accept(*events[first : first + 250])
    other.stored("s", {"kinds": [7]})
    client.send_all(
        [
            ["REQ", "s", {"kinds": [1]}],
            ["REQ", "s", {"kinds": [7]}],
            ["CLOSE", "s"],
            ["REQ", "s", {"kinds": [0], "limit": 1}],
        ]
    )
    # The fence's EOSE comes behind everything that the four messages caused.
    client.fence()
    of_old = []
    try:
        while True:
            of_old.append(client.recv(0.3))
    except TimeoutError:
        pass
    check(of_old[-1][:2] == ["EOSE", "s"], f"last message: {of_old[-1][:2]}")
    check(all(message[0] in ("EVENT", "EOSE") for message in of_old), "CLOSED for a CLOSE")
    note, reaction, profile = (make_event(keys[0], kind, content="new") for kind in (1, 7, 0))
    writer.accept(note, reaction, profile)
    check_equal(client.live("s"), profile, "live event of the last REQ")
    check_equal(other.live("s"), reaction, "live event of the other connection")
    client.silent()


@suite.case("CL-023 of two versions of one second the lowest id stays and is announced")
def tie(t):
    for kind in (10002, 3, 30023):
        for high_first in (True, False):
            relay = t.relay()
            key = t.key()
            low, high = newest_first(
                [
                    make_event(key, kind, [["r", f"wss://{name}.test"], ["d", "x"]])
                    for name in "ab"
                ]
            )
            wanted = {"kinds": [kind], "authors": [key.pubkey]}
            client, listener = t.connect(relay), t.connect(relay)
            listener.stored("s", wanted)
            if high_first:
                client.accept(high, low)
                check_equal([listener.live("s"), listener.live("s")], [high, low], "announced")
            else:
                client.accept(low)
                client.refuse(high, "duplicate")
                check_equal(listener.live("s"), low, "announced")
            listener.silent()
            check_equal(client.query(wanted), [low], "version that stays")


@suite.case("CL-025 a deletion of an unknown id binds its author only")
def deletion_of_unknown(t):
    author, other = t.keys(2)
    client, second = (t.connect(t.relay()) for _ in range(2))
    event = make_event(author, content="squid", created_at=1700000200)
    target = [["e", event["id"]]]
    second.accept(make_event(other, 5, target, created_at=1700000100))
    client.accept(event)
    check_equal(client.query({"ids": [event["id"]]}), [event], "after the other's request")
    client.accept(make_event(author, 5, target, created_at=1700000300))
    check_equal(client.query({"ids": [event["id"]]}), [], "after the author's request")
    client.refuse(event, "blocked")
    fresh = t.connect(t.own_relay())
    fresh.accept(make_event(author, 5, target, created_at=1700000300))
    fresh.refuse(event, "blocked")


@suite.case("CL-027 the janitor removes what is due and nothing else")
def janitor(t):
    relay = t.own_relay({"store.expiry_sweep_s": 1})
    client, listener = t.connect(relay), t.connect(relay)
    key = t.key()
    now = int(time.time())

    def expiring(seconds, content):
        return make_event(key, 1, [["expiration", str(now + seconds)]], content, now)

    later, soon, plain = expiring(604800, "later"), expiring(3, "soon"), make_event(key, content="")
    client.accept(later, soon, plain)
    author = {"authors": [key.pubkey]}
    time.sleep(1.2)
    check_equal(client.query(author), newest_first([later, soon, plain]), "after one second")
    time.sleep(max(0.0, now + 3.1 - time.time()))
    check_equal(client.query(author), newest_first([later, plain]), "from its second on")
    time.sleep(2)
    check_equal(client.query(author), newest_first([later, plain]), "after the janitor")
    t.restart(relay)
    client, listener = t.connect(relay), t.connect(relay)
    check_equal(client.query(author), newest_first([later, plain]), "after a restart")
    listener.stored("s", author)
    client.refuse(expiring(-1, "past"), "invalid")
    listener.silent()


@suite.case("CL-029 private kinds reach their parties only, by REQ, COUNT and live")
def private_kinds(t):
    relay = t.own_relay()
    author, recipient, third, stranger = t.keys(4)
    message = make_event(author, 4, [["p", recipient.pubkey]], "c", 1700000400)
    t.connect(relay).accept(message)
    wraps = {"kinds": [1059], "#p": [recipient.pubkey]}
    clients = {name: t.connect(relay) for name in ("nobody", "third", "recipient")}
    clients["third"].login(third)
    clients["recipient"].login(recipient)
    text = clients["nobody"].closed("REQ", "d", {"kinds": [4]})
    check(text.startswith("auth-required: "), text)
    text = clients["nobody"].closed("COUNT", "n", wraps)
    check(text.startswith("auth-required: "), text)
    check_equal(clients["third"].query({"kinds": [4]}), [], "stored, to a third")
    check_equal(clients["recipient"].query({"kinds": [4]}), [message], "stored, to the recipient")
    for client in clients.values():
        check_equal(client.stored("w", {"kinds": [1059, 1]})[0], [], "before any wrap")
    wrap = make_event(stranger, 1059, [["p", recipient.pubkey]], "c", 1700000500)
    note = make_event(author, content="open")
    t.connect(relay).accept(wrap, note)
    for name, right in (("nobody", [note]), ("third", [note]), ("recipient", [wrap, note])):
        live = [clients[name].live("w") for _ in right]
        check_equal(newest_first(live), newest_first(right), f"live, to {name}")
        clients[name].silent()
    check_equal(clients["third"].count(wraps), 0, "COUNT of a third")
    check_equal(clients["recipient"].count(wraps), 1, "COUNT of the recipient")
    check_equal(clients["recipient"].query(wraps), [wrap], "stored, to the recipient")


@suite.case("CL-031 logins with a slash, a path, a port or capitals are answered and right")
def login_urls(t):
    relay = t.own_relay({"relay.urls": ["wss://relay.test/sub"]})
    key = t.key()
    for url, right in (
        ("wss://relay.test/sub", True),
        ("wss://relay.test/sub/", True),
        ("wss://RELAY.test", True),
        ("wss://relay.test:443/sub", True),
        ("wss://other.test", False),
    ):
        client = t.connect(relay)
        accepted, text = client.try_login(key, relay=url)
        check_equal(accepted, right, f"login with {url} ({text})")
        if right:
            check_equal(client.query({"kinds": [4]}), [], f"kind 4 after {url}")
    accepted, _ = t.connect(relay).try_login(key, relay="wss://relay.test/sub", challenge="wrong")
    check_equal(accepted, False, "login with a wrong challenge")


@suite.case("CL-033 protected events do not get in through third parties")
def protected(t):
    relay = t.relay()
    author, other = t.keys(2)
    event = make_event(author, tags=[["-"]], content="den")
    nobody, second, first = (t.connect(relay) for _ in range(3))
    nobody.refuse(event, "auth-required")
    check(nobody.await_challenge(), "no challenge")
    second.login(other)
    second.refuse(event, "restricted")
    first.login(author)
    first.accept(event)
    e = ["e", event["id"]]
    for kind in (6, 16):
        accepted, text = second.publish(make_event(other, kind, [e], json.dumps(event)))
        check(not accepted, f"kind {kind} that embeds it: {text!r}")
    second.accept(make_event(other, 6, [e], ""), make_event(other, 6, [e], "not json"))


@suite.case("CL-035 import takes odd lines one by one; export and import keep the set")
def odd_lines(t):
    relay = t.own_relay()  # For its folder alone.
    relay.terminate()
    key = t.key()
    good = [make_event(key, content=f"line\n{n}") for n in (1, 3, 7)]
    large = make_event(key, 30023, [["d", "x"]], "large " * 33000)
    doubled = compact(make_event(key, content="a\nb")).replace("\\n", "\\\\n")
    lines = [compact(good[0]), "", compact(good[1]) + "\r", doubled, compact(large), '{"id":']
    path = os.path.join(relay.folder, "events.jsonl")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("\n".join(lines + [compact(good[2])]))
    stores = [os.path.join(relay.folder, name) for name in ("first", "second")]

    def run(*arguments):
        done = subprocess.run(
            [t.gyre, *arguments], capture_output=True, text=True, timeout=30, check=False
        )
        return done.stdout, done.stderr

    right = sorted(event["id"] for event in good + [large])
    for attempt in range(2):
        out, err = run("import", "--store", stores[0], path)
        for number in (4, 6):
            check(f"line {number}:" in err, f"line {number} is not reported: {err!r}")
        for number in (1, 2, 3, 5, 7):
            check(f"line {number}:" not in err, f"line {number} is reported: {err!r}")
        check("a\\nb" not in err and doubled[:100] not in err, f"content is reported: {err!r}")
        expected = (0, 4) if attempt else (4, 0)
        for count in expected:
            check(str(count) in out + err, f"import {attempt} does not tell {count}: {out} {err}")
    exported, _ = run("export", "--store", stores[0])
    check_equal(sorted(json.loads(line)["id"] for line in exported.splitlines()), right, "exported")
    copy = os.path.join(relay.folder, "copy.jsonl")
    with open(copy, "w", encoding="utf-8", newline="") as file:
        file.write(exported)
    run("import", "--store", stores[1], copy)
    again, _ = run("export", "--store", stores[1])
    check_equal(sorted(again.splitlines()), sorted(exported.splitlines()), "exported again")


@suite.case("CL-043 bytes behind the upgrade request are not lost")
def early_bytes(t):
    relay = t.relay()
    frame = encode_frame(TEXT, b'["REQ","p",{"ids":["' + b"00" * 32 + b'"]}]')
    client = t.connect(relay, early=frame)
    client.expect(["EOSE", "p"])
    for cut in (1, 3, 6, 10, len(frame) - 1):
        client = t.connect(relay, early=frame[:cut])
        time.sleep(0.2)
        client.send_bytes(frame[cut:])
        client.expect(["EOSE", "p"])
        client.fence()
    client = t.connect(relay, early=frame + frame + encode_frame(CLOSE, b"\x03\xe8"))
    client.expect(["EOSE", "p"], ["EOSE", "p"])
    check_equal(client.wait_closed(), 1000, "close code")


@suite.case("CL-045 the information document on every way to it")
def information_document(t):
    for name in ('Reef "q" \\ é', "日本 😀", "</script>&"):
        relay = t.own_relay({"relay.name": name, "relay.description": name})
        document = relay.information()
        check_equal((document["name"], document["description"]), (name, name), "name, description")
    nostr = "application/nostr+json"
    origin = {"Origin": "https://app.test"}
    for accept in (nostr, f"application/json, {nostr};q=0.9, */*"):
        status, headers, body = relay.http(headers={"Accept": accept, **origin})
        check_equal((status, headers.get("content-type")), (200, nostr), f"{accept}")
        check(all(name in headers for name in CORS), f"CORS headers: {headers}")
        json.loads(body)
    preflight = {**origin, "Access-Control-Request-Headers": "accept"}
    status, headers, _ = relay.http("OPTIONS", headers=preflight)
    check(200 <= status < 300 and all(name in headers for name in CORS), f"{status} {headers}")
    check_equal(relay.http("HEAD", headers={"Accept": nostr})[0], 200, "HEAD")
    upgrade = upgrade_request("relay", headers=[("Accept", nostr)])
    check_equal(relay.raw_http(upgrade)[0], 101, "upgrade with Accept")
    browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    check(relay.http(headers={"Accept": browser})[0] < 500, "a browser's GET")


@suite.case("CL-047 integers out of range are refused, never wrapped")
def integers(t):
    client = t.connect(t.relay())
    key = t.key()
    for member, values in (
        ("created_at", ("9223372036854775808", "-1", "1.7e9", "1700000000.0", '"1700000000"')),
        ("kind", ("65536", "-1", "1.0", "4294967297")),
    ):
        for value in values:
            identifier, text = raw_event(key, **{member: value})
            client.send_text(f'["EVENT",{text}]')
            accepted, reason = client.await_ok(identifier)
            check(not accepted and reason.startswith("invalid: "), f"{member} {value}: {reason!r}")
    identifier, text = raw_event(key)
    client.send_text('["EVENT",' + text.replace('"kind":1', '"kind":1,"kind":7') + "]")
    check(not client.await_ok(identifier)[0], "an event with two kinds")
    highest = make_event(key, 65535)
    note = make_event(key)
    client.accept(highest, note)
    author = {"authors": [key.pubkey]}
    check_equal(client.query({**author, "since": 18446744073709551615}), [], "highest since")
    check_equal(client.query({**author, "until": -5}), [], "negative until")
    client.refuse_filter("invalid", {**author, "limit": -1})
    client.refuse_filter("invalid", {**author, "kinds": [65537]})
    check_equal(client.query({**author, "kinds": [1]}), [note], "ordinary REQ")


if __name__ == "__main__":
    suite.main()
