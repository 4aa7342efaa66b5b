#!/usr/bin/env python3
"""NIP-01, subscriptions: REQ, live delivery, EOSE, CLOSE, CLOSED, and the seam between them."""

import threading
import time

from bip340 import Key
from harness import BASE_TIME, Suite, check, check_equal, make_event, newest_first

suite = Suite(shards=(1, 2, 4))


@suite.case("T-13 what was acknowledged is visible to the REQ that follows")
def read_your_writes(t):
    relay = t.relay()
    writer, reader = t.connect(relay), t.connect(relay)
    keys = t.keys(8)
    for n in range(1000):
        event = make_event(keys[n % 8], content=str(n))
        writer.accept(event)
        # The writer's own connection and another one take turns.
        client = (writer, reader)[n % 2]
        found = client.query({"ids": [event["id"]]} if n % 3 else {"authors": [event["pubkey"]]})
        check(event in found, f"round {n}: acknowledged event missing")


@suite.case("T-13 EVENT and REQ in one write: stored events, then EOSE, then live ones")
def order_within_subscription(t):
    client = t.connect(t.relay())
    keys = t.keys(4)
    events = [make_event(keys[n % 4], content=str(n)) for n in range(200)]
    wanted = {"authors": [key.pubkey for key in keys]}
    messages = [["EVENT", event] for event in events]
    messages.insert(100, ["REQ", "s", wanted])
    client.send_all(messages)
    seen, answered, eose = [], 0, 0
    while len(seen) < 200 or answered < 200 or not eose:
        message = client.recv()
        if message[0] == "EVENT":
            seen.append(message[2]["id"])
        elif message[0] == "EOSE":
            eose += 1
            check_equal(len(seen), len(set(seen)), "stored events, each once")
        else:
            answered += 1
    client.silent()
    check_equal(sorted(seen), sorted(event["id"] for event in events), "events, each once")


@suite.case("01-R01 subscription ids of 1 to 64 characters are echoed exactly")
def subscription_ids(t):
    client = t.connect(t.relay())
    key = t.key()
    for identifier in ("x", "é" * 64, "😀" * 64, "\0\n\"\\/\u2028", " ", "s" * 64, "\x7f"):
        client.stored(identifier, {"authors": [key.pubkey]})
    event = make_event(key)
    client.accept(event)
    for identifier in ("x", "é" * 64, "😀" * 64, "\0\n\"\\/\u2028", " ", "s" * 64, "\x7f"):
        check_equal(client.live(identifier), event, f"live event of {identifier!r}")
    for identifier in ("", "s" * 65, "é" * 65, "s" * 256):
        for command in ("REQ", "COUNT"):
            text = client.closed(command, identifier, {"kinds": [1]})
            check(text.startswith("invalid: "), f"{identifier!r}: {text!r}")
    for identifier in ("s" * 257, "s" * 5000):
        client.notice(f'["REQ","{identifier}",{{}}]')


@suite.case("01-R01 two connections may use one subscription id")
def same_id_on_two_connections(t):
    relay = t.relay()
    first, second = t.keys(2)
    one, two, writer = t.connect(relay), t.connect(relay), t.connect(relay)
    one.stored("s", {"authors": [first.pubkey]})
    two.stored("s", {"authors": [second.pubkey]})
    of_first, of_second = make_event(first), make_event(second)
    writer.accept(of_first, of_second)
    check_equal((one.live("s"), two.live("s")), (of_first, of_second), "live events")
    one.send("CLOSE", "s")
    one.fence()
    again = make_event(second, content="2")
    writer.accept(again, make_event(first, content="2"))
    check_equal(two.live("s"), again, "live event after the other's CLOSE")
    one.silent()


@suite.case("01-R02 live matching follows every member of the filter")
def live_matching(t):
    relay = t.relay()
    key, other = t.keys(2)
    listener, writer = t.connect(relay), t.connect(relay)
    match = make_event(key, 7, [["t", "a"], ["p", other.pubkey]], created_at=BASE_TIME + 5)
    author = {"authors": [key.pubkey]}
    for name, wanted, met in (
        ("ids", {"ids": [match["id"]]}, True),
        ("author", author, True),
        ("kind", {**author, "kinds": [7, 9]}, True),
        ("other kind", {**author, "kinds": [1]}, False),
        ("tag", {"#p": [other.pubkey], "#t": ["a", "b"]}, True),
        ("other tag", {"#p": [other.pubkey], "#t": ["b"]}, False),
        ("since", {**author, "since": BASE_TIME + 5}, True),
        ("later since", {**author, "since": BASE_TIME + 6}, False),
        ("until", {**author, "until": BASE_TIME + 5}, True),
        ("earlier until", {**author, "until": BASE_TIME + 4}, False),
        ("limit", {**author, "limit": 1}, True),
    ):
        listener.stored(f"{name} {met}", wanted)
    writer.accept(match)
    names = []
    try:
        while True:
            message = listener.recv(0.4)
            check_equal(message[2], match, "live event")
            names.append(message[1])
    except TimeoutError:
        pass
    right = ["author True", "ids True", "kind True", "limit True", "since True", "tag True",
             "until True"]
    check_equal(sorted(names), right, "subscriptions that got the event")


@suite.case("01-R03 once for each subscription, also to the publisher itself")
def once_each(t):
    client = t.connect(t.relay())
    key = t.key()
    author = {"authors": [key.pubkey]}
    client.stored("one", author, {"kinds": [1], **author}, {"#t": ["x", "y"], **author})
    client.stored("two", author)
    event = make_event(key, tags=[["t", "x"], ["t", "y"], ["t", "x"]])
    client.send("EVENT", event)
    kinds = sorted(client.recv()[:2] for _ in range(3))
    check_equal(kinds, [["EVENT", "one"], ["EVENT", "two"], ["OK", event["id"]]], "messages")
    client.silent()


@suite.case("01-R04 a REQ with an id in use replaces the subscription without a word")
def replacement(t):
    relay = t.relay()
    first, second = t.keys(2)
    listener, writer = t.connect(relay), t.connect(relay)
    listener.stored("s", {"authors": [first.pubkey]})
    listener.send("REQ", "s", {"authors": [second.pubkey]})
    listener.expect(["EOSE", "s"])
    event = make_event(second)
    writer.accept(make_event(first), event)
    check_equal(listener.live("s"), event, "live event")
    listener.silent()


@suite.case("01-R04 01-R05 replaced and closed scans end: one EOSE for the last REQ alone")
def replaced_scans(t):
    relay = t.relay()
    key = t.key()
    client = t.connect(relay)
    events = [make_event(key, created_at=BASE_TIME + n, content="x" * 500) for n in range(400)]
    last = make_event(key, 7, created_at=BASE_TIME)
    client.accept(*events, last)
    author = {"authors": [key.pubkey]}
    for _ in range(10):
        client.send_all(
            [
                ["REQ", "s", {**author, "kinds": [1]}],
                ["REQ", "s", {**author, "kinds": [1], "limit": 300}],
                ["CLOSE", "s"],
                ["REQ", "s", {**author, "kinds": [7]}],
                ["REQ", "end", {"ids": ["00" * 32]}],
            ]
        )
        messages = []
        while not messages or messages[-1][:2] != ["EOSE", "end"]:
            messages.append(client.recv())
        of_s = [message for message in messages if message[1] == "s"]
        # Events of the scans that were cut short may have been queued; an EOSE of the last
        # REQ comes exactly once, and after it nothing of the others.
        ends = [n for n, message in enumerate(of_s) if message[0] == "EOSE"]
        check(ends and ends[-1] == len(of_s) - 1, "messages after the last EOSE")
        check_equal(of_s[ends[-1] - 1][2:], [last], "stored event of the last REQ")
        check(all(message[0] != "CLOSED" for message in messages), "CLOSED for a replacement")
        check(len(ends) <= 3, f"{len(ends)} EOSE for three REQs")


@suite.case("01-R05 CLOSE has no answer, CLOSE of an unknown id neither")
def close_is_silent(t):
    relay = t.relay()
    key = t.key()
    client, writer = t.connect(relay), t.connect(relay)
    client.stored("s", {"authors": [key.pubkey]})
    client.send("CLOSE", "s")
    client.send("CLOSE", "never opened")
    client.send("CLOSE", "s")
    client.send("CLOSE", "")
    client.fence()
    writer.accept(make_event(key))
    client.silent()


@suite.case("01-R06 duplicates, stale, refused and deleted events are sent to nobody")
def nothing_refused_is_sent(t):
    relay = t.relay()
    key = t.key()
    writer, listener = t.connect(relay), t.connect(relay)
    newest = make_event(key, 10002, created_at=BASE_TIME + 1)
    note = make_event(key, content="gone")
    deletion = make_event(key, 5, [["e", note["id"]]])
    writer.accept(newest, note, deletion)
    listener.stored("s", {"authors": [key.pubkey]})
    writer.publish(newest)
    writer.publish(note)
    writer.publish(deletion)
    writer.publish(make_event(key, 10002, created_at=BASE_TIME))
    writer.publish({**make_event(key, content="bad sig"), "sig": note["sig"]})
    listener.silent()


@suite.case("01-R09 a refused REQ gets CLOSED, no EOSE, and nothing live")
def refused_request(t):
    relay = t.relay()
    key = t.key()
    client, writer = t.connect(relay), t.connect(relay)
    client.refuse_filter("invalid", {"authors": [key.pubkey]}, {"ids": ["short"]})
    writer.accept(make_event(key))
    client.silent()


@suite.case("01-R09 a refused REQ leaves no subscription under an id in use")
def refused_replacement(t):
    relay = t.relay()
    key = t.key()
    client, writer = t.connect(relay), t.connect(relay)
    client.stored("s", {"authors": [key.pubkey]})
    text = client.closed("REQ", "s", {"kindz": [1]})
    check(text.startswith("unsupported: "), text)
    # CLOSED says that the subscription has ended, whichever of the two it meant.
    writer.accept(make_event(key))
    client.silent()


@suite.case("01-R11 a complete subscription is not ended by the relay")
def complete_subscription(t):
    client = t.connect(t.relay())
    event = make_event(t.key())
    client.accept(event)
    client.send("REQ", "s", {"ids": [event["id"]]})
    client.expect(["EVENT", "s", event], ["EOSE", "s"])
    client.silent()
    client.send("CLOSE", "s")
    client.silent()


@suite.case("01-R02 a hundred subscribers each get every event once, in order of one author")
def fan_out(t):
    relay = t.relay()
    keys = t.keys(2)
    listeners = [t.connect(relay) for _ in range(100)]
    for listener in listeners:
        listener.stored("s", {"authors": [key.pubkey for key in keys]})
    writer = t.connect(relay)
    events = [make_event(keys[n % 2], content=str(n)) for n in range(40)]
    writer.accept(*events)
    for listener in listeners:
        got = [listener.live("s") for _ in events]
        check_equal(newest_first(got), newest_first(events), "live events")
        listener.close()


@suite.case("01-R08 no gap and no repeat between stored and live events", alone=True)
def seam(t):
    relay = t.own_relay()
    keys = [Key.numbered(1000 + n) for n in range(8)]
    start = int(time.time()) - 1
    events = [make_event(keys[n % 8], content=str(n), created_at=start) for n in range(4000)]
    written = threading.Event()

    def write():
        writer = t.connect(relay)
        # 16 in flight: about as fast as the relay answers, without one large burst.
        for first in range(0, len(events), 16):
            writer.accept(*events[first : first + 16])
        written.set()

    thread = threading.Thread(target=write)
    thread.start()
    readers = []
    shapes = (
        {"since": start - 5},
        {"kinds": [1], "since": start - 5},
        {"authors": [key.pubkey for key in keys]},
        {"authors": [keys[3].pubkey]},
    )
    while not written.is_set() and len(readers) < 60:
        reader = t.connect(relay)
        wanted = shapes[len(readers) % len(shapes)]
        reader.send("REQ", "s", {**wanted, "limit": 5000})
        readers.append((reader, wanted))
        time.sleep(0.03)
    thread.join()
    check(written.is_set(), "the writer failed")
    check(len(readers) > 3, "the writer was done before readers came")
    for reader, wanted in readers:
        right = [e["id"] for e in events if e["pubkey"] in wanted.get("authors", [e["pubkey"]])]
        seen, eose = [], 0
        try:
            while len(seen) < len(right) or not eose:
                message = reader.recv(10)
                if message[0] == "EOSE":
                    eose += 1
                else:
                    seen.append(message[2]["id"])
            message = reader.recv(0.05)
            check(False, f"after every event came {message[:2]}")
        except TimeoutError:
            pass
        check_equal(eose, 1, "EOSE")
        check_equal(len(seen), len(set(seen)), f"events of {wanted}, each once")
        check_equal(sorted(seen), sorted(right), f"events of {wanted}")
        reader.close()


if __name__ == "__main__":
    suite.main()
