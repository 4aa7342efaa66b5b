#!/usr/bin/env python3
"""NIP-62: requests to vanish."""

from harness import BASE_TIME, Suite, check_equal, make_event
from relay import RELAY_URL

suite = Suite(shards=(1, 2, 4))


def vanish(key, relay="ALL_RELAYS", created_at=BASE_TIME + 100):
    return make_event(key, 62, [["relay", relay]], "bye", created_at)


@suite.case("62-01 everything up to the request is gone from every index, others stay")
def everything_goes(t):
    client = t.connect(t.relay())
    key, other = t.keys(2)
    gone = [
        make_event(key, 1, [["t", "x"]]),
        make_event(key, 0, created_at=BASE_TIME + 100),
        make_event(key, 30023, [["d", "x"]]),
        make_event(key, 5, [["e", "ab" * 32]]),
    ]
    later = make_event(key, 1, [["t", "x"]], "later", BASE_TIME + 101)
    foreign = make_event(other, 1, [["p", key.pubkey]])
    request = vanish(key)
    client.accept(*gone, later, foreign)
    client.accept(request)
    left = [later, request]
    check_equal(client.query({"authors": [key.pubkey]}), left, "events of the author")
    check_equal(client.count({"authors": [key.pubkey]}), 2, "COUNT")
    check_equal(client.query({"ids": [event["id"] for event in gone]}), [], "events by id")
    check_equal(client.query({"authors": [key.pubkey], "#t": ["x"]}), [later], "events by tag")
    check_equal(client.query({"#p": [key.pubkey]}), [foreign], "event of another")


@suite.case("62-02 wraps to the author go, whoever sent them")
def wraps_go(t):
    client = t.connect(t.relay({"auth.gated_kinds": []}))
    key, other = t.keys(2)
    senders = t.keys(6)  # On every shard.
    wraps = [make_event(sender, 1059, [["p", key.pubkey]]) for sender in senders]
    kept = [make_event(sender, 1059, [["p", other.pubkey]]) for sender in senders]
    late = make_event(senders[0], 1059, [["p", key.pubkey]], "", BASE_TIME + 101)
    # Not in one go: between different authors there is no order but that of the answers.
    client.accept(*wraps, *kept, late)
    client.accept(vanish(key))
    authors = {"authors": [sender.pubkey for sender in senders]}
    check_equal(client.query({"#p": [key.pubkey], **authors}), [late], "wraps to the author")
    check_equal(client.count({"#p": [other.pubkey], **authors}), 6, "wraps to another")
    client.refuse(wraps[1], "blocked")
    for sender in senders:
        client.refuse(make_event(sender, 1059, [["p", key.pubkey]], "new", BASE_TIME), "blocked")


@suite.case("62-03 nothing of that time comes back, known before or not")
def nothing_comes_back(t):
    relay = t.own_relay()
    client = t.connect(relay)
    key = t.key()
    event = make_event(key)
    client.accept(event, vanish(key))
    for attempt in range(2):
        client.refuse(event, "blocked")
        client.refuse(make_event(key, 1, [], "new", BASE_TIME + 100), "blocked")
        client.refuse(make_event(key, 30023, [["d", "x"]], "", BASE_TIME + 99), "blocked")
        client.refuse(make_event(key, 20001, [], "", BASE_TIME), "blocked")
        client.accept(make_event(key, 1, [], f"after {attempt}", BASE_TIME + 101))
        t.restart(relay, graceful=attempt == 1)
        client = t.connect(relay)


@suite.case("62-05 requests for other relays are refused and do nothing")
def other_relays(t):
    client = t.connect(t.relay())
    key = t.key()
    event = make_event(key)
    client.accept(event)
    for relay in ("wss://other.example/", "all_relays", "ALL_RELAYS ", "", "wss://relay.example/x"):
        client.refuse(vanish(key, relay), "invalid")
    client.refuse(make_event(key, 62, [], "", BASE_TIME + 100), "invalid")
    client.refuse(make_event(key, 62, [["relay"]], "", BASE_TIME + 100), "invalid")
    client.refuse(make_event(key, 62, [["r", "ALL_RELAYS"]], "", BASE_TIME + 100), "invalid")
    check_equal(client.query({"authors": [key.pubkey]}), [event], "events left")


@suite.case("62-05 the relay's own URL is compared as for logins")
def own_url(t):
    client = t.connect(t.relay())
    for url in (RELAY_URL, "WSS://Relay.Example:443", "wss://relay.example"):
        key = t.key()
        event = make_event(key)
        request = make_event(
            key, 62, [["relay", "wss://other.example"], ["relay", url]], "", BASE_TIME + 1
        )
        client.accept(event, request)
        check_equal(client.query({"authors": [key.pubkey]}), [request], f"events after {url}")


@suite.case("62-06 09-09 a deletion of the request has no effect")
def deletion_of_request(t):
    client = t.connect(t.relay())
    key = t.key()
    event, request = make_event(key), vanish(key)
    client.accept(event, request)
    client.accept(make_event(key, 5, [["e", request["id"]]], "", BASE_TIME + 200))
    client.refuse(event, "blocked")
    check_equal(client.query({"kinds": [62], "authors": [key.pubkey]}), [request], "request")


@suite.case("62-08 the newest request decides and is served; an older one changes nothing")
def newest_request(t):
    client = t.connect(t.relay())
    key = t.key()
    first, second = vanish(key, created_at=BASE_TIME + 10), vanish(key, created_at=BASE_TIME + 20)
    between = make_event(key, 1, [], "between", BASE_TIME + 15)
    client.accept(first, between, second)
    check_equal(client.query({"ids": [between["id"]]}), [], "event before the second request")
    found = client.query({"kinds": [62], "authors": [key.pubkey]})
    check_equal(found[:1], [second], "newest request")
    client.publish(vanish(key, created_at=BASE_TIME + 5))
    client.refuse(between, "blocked")
    client.accept(make_event(key, 1, [], "after", BASE_TIME + 21))


if __name__ == "__main__":
    suite.main()
