#!/usr/bin/env python3
"""NIP-40: expiration."""

import time

from harness import Suite, check, check_equal, make_event

suite = Suite(shards=(1, 2), workers=8)


def expiring(key, seconds, kind=1, **options):
    """An event that expires so many seconds from now; options as of make_event."""
    expiration = ["expiration", str(int(time.time()) + seconds)]
    return make_event(key, kind, options.pop("tags", []) + [expiration], **options)


def wait_past(event):
    """Sleeps until a moment after the event's expiration."""
    expiry = int(next(tag[1] for tag in event["tags"] if tag[0] == "expiration"))
    time.sleep(max(0.0, expiry - time.time() + 0.2))


@suite.case("40-01 an event whose time has come is refused on arrival and not delivered")
def expired_on_arrival(t):
    relay = t.relay()
    client, listener = t.connect(relay), t.connect(relay)
    key = t.key()
    listener.stored("s", {"authors": [key.pubkey]})
    for value in ("0", "1", "1600000000", str(int(time.time()) - 1), str(int(time.time()))):
        client.refuse(make_event(key, tags=[["expiration", value]]), "invalid")
    listener.silent()
    for value in ("4102444800", str(2**63 - 1)):
        client.accept(make_event(key, tags=[["expiration", value]]))


@suite.case("40-02 an event is served until its second and no longer")
def served_until(t):
    client = t.connect(t.relay())
    key = t.key()
    event = expiring(key, 2, tags=[["t", "x"]])
    plain = make_event(key)
    client.accept(event, plain)
    for wanted in ({"ids": [event["id"]]}, {"authors": [key.pubkey], "#t": ["x"]}):
        check_equal(client.query(wanted), [event], "before")
        check_equal(client.count(wanted), 1, "COUNT before")
    wait_past(event)
    for wanted in ({"ids": [event["id"]]}, {"authors": [key.pubkey], "#t": ["x"]}):
        check_equal(client.query(wanted), [], "after")
        check_equal(client.count(wanted), 0, "COUNT after")
    check_equal(client.query({"authors": [key.pubkey]}), [plain], "others stay")
    client.refuse(event, "invalid")


@suite.case("40-02 an expired event does not take the place of others under a limit")
def limit_beside_expired(t):
    client = t.connect(t.relay({"store.expiry_sweep_s": 3600}))
    key = t.key()
    plain = [make_event(key, created_at=1767225600 + n) for n in range(3)]
    events = [expiring(key, 1, created_at=1767225700 + n) for n in range(5)]
    client.accept(*plain, *events)
    wait_past(events[-1])
    found = client.query({"authors": [key.pubkey], "limit": 2})
    check_equal(found, [plain[2], plain[1]], "newest two")
    check_equal(client.count({"authors": [key.pubkey]}), 3, "COUNT")


@suite.case("40-03 expired events leave the store for good")
def leaves_the_store(t):
    relay = t.own_relay({"store.expiry_sweep_s": 1})
    client = t.connect(relay)
    key = t.key()
    soon, later, plain = expiring(key, 4), expiring(key, 604800), make_event(key, 7)
    client.accept(soon, later, plain)
    time.sleep(2)
    check_equal(client.count({"authors": [key.pubkey]}), 3, "after a sweep before its time")
    wait_past(soon)
    time.sleep(1.2)
    left = sorted([later["id"], plain["id"]])
    check_equal(sorted(client.query_ids({"authors": [key.pubkey]})), left, "after the sweep")
    t.restart(relay)
    client = t.connect(relay)
    check_equal(sorted(client.query_ids({"authors": [key.pubkey]})), left, "after a restart")


@suite.case("40-03 an event that expires while the relay is down is not served afterwards")
def expires_while_down(t):
    relay = t.own_relay()
    client = t.connect(relay)
    key = t.key()
    event, plain = expiring(key, 2), make_event(key, 7)
    client.accept(event, plain)
    relay.kill()
    wait_past(event)
    relay.start()
    check_equal(t.connect(relay).query({"authors": [key.pubkey]}), [plain], "events")


@suite.case("40-04 expiration means nothing for ephemeral events")
def ephemeral(t):
    relay = t.relay()
    client, listener = t.connect(relay), t.connect(relay)
    key = t.key()
    listener.stored("s", {"authors": [key.pubkey]})
    event = make_event(key, 20001, [["expiration", "1600000000"]])
    client.accept(event)
    check_equal(listener.live("s"), event, "live event")


@suite.case("40-05 a value that is no plain decimal integer is refused; the first tag counts")
def odd_values(t):
    client = t.connect(t.relay())
    key = t.key()
    future = str(int(time.time()) + 1000)
    for value in ("", "x", "-1", "1e12", "+" + future, future + ".0", " " + future, "0x7fffffff",
                  future + " ", str(2**63), "9" * 30, "soon"):
        client.refuse(make_event(key, tags=[["expiration", value]]), "invalid")
    client.refuse(make_event(key, tags=[["expiration"]]), "invalid")
    client.refuse(make_event(key, tags=[["expiration", "1"], ["expiration", future]]), "invalid")
    client.accept(make_event(key, tags=[["expiration", future], ["expiration", "1"]]))
    client.accept(make_event(key, tags=[["expiration", future], ["expiration", "x"]]))


@suite.case("40-06 an expired newest version does not uncover an older one")
def no_older_version(t):
    client = t.connect(t.relay())
    for kind in (10002, 30023):
        key = t.key()
        first = make_event(key, kind, created_at=1767225600)
        second = expiring(key, 2, kind, created_at=1767225601)
        client.accept(first, second)
        wait_past(second)
        wanted = {"authors": [key.pubkey], "kinds": [kind]}
        check_equal(client.query(wanted), [], "versions")
        check_equal(client.query({"ids": [first["id"]]}), [], "older version by id")
        check_equal(client.count(wanted), 0, "COUNT")


@suite.case("69-01 expires_at means nothing to a relay")
def expires_at(t):
    client = t.connect(t.relay())
    event = expiring(t.key(), 1000, 38383, tags=[["d", "x"], ["expires_at", "1600000000"]])
    client.accept(event)
    check_equal(client.query({"ids": [event["id"]]}), [event], "event")


@suite.case("40-07 the document lists 40")
def listed(t):
    check(40 in t.relay().information()["supported_nips"], "40 is not listed")


if __name__ == "__main__":
    suite.main()
