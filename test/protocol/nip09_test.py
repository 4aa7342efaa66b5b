#!/usr/bin/env python3
"""NIP-09, deletion requests, and what NIP-59 adds to them."""

import time

from harness import BASE_TIME, Suite, check_equal, make_event

suite = Suite(shards=(1, 2, 4))


@suite.case("09-01 own events are deleted by e whatever their times")
def delete_by_id(t):
    client = t.connect(t.relay())
    key = t.key()
    older, same, newer = (make_event(key, created_at=BASE_TIME + n) for n in (-5, 0, 5))
    request = make_event(key, 5, [["e", event["id"]] for event in (older, same, newer)])
    client.accept(older, same, newer, request)
    check_equal(client.query({"authors": [key.pubkey]}), [request], "events left")


@suite.case("09-02 events of others stay, the request is accepted")
def foreign_event(t):
    client = t.connect(t.relay())
    author, stranger = t.keys(2)
    event = make_event(author)
    request = make_event(stranger, 5, [["e", event["id"]]])
    client.accept(event, request)
    check_equal(client.query({"ids": [event["id"]]}), [event], "event of another")
    check_equal(client.query({"ids": [request["id"]]}), [request], "request")
    accepted, text = client.publish(event)
    check_equal((accepted, text[:10]), (True, "duplicate:"), "event sent again")


@suite.case("09-03 a request that comes first keeps its author's event out, nobody else's")
def deletion_before_event(t):
    client = t.connect(t.relay())
    author, stranger = t.keys(2)
    event = make_event(author)
    client.accept(make_event(stranger, 5, [["e", event["id"]]], created_at=BASE_TIME - 10))
    client.accept(event)
    check_equal(client.query({"ids": [event["id"]]}), [event], "after a stranger's request")
    other = make_event(author, content="other")
    client.accept(make_event(author, 5, [["e", other["id"]]], created_at=BASE_TIME - 10))
    client.refuse(other, "blocked")
    check_equal(client.query({"ids": [other["id"]]}), [], "after the author's request")


@suite.case("09-04 a deletes versions up to its time, d may hold colons, plain replaceables too")
def delete_by_address(t):
    client = t.connect(t.relay())
    key = t.key()
    d = "a:b:c"
    for kind, tags, address in (
        (30023, [["d", d]], f"30023:{key.pubkey}:{d}"),
        (30024, [], f"30024:{key.pubkey}:"),
        (10002, [], f"10002:{key.pubkey}:"),
        (0, [], f"0:{key.pubkey}:"),
    ):
        first, same, later = (make_event(key, kind, tags, str(n), BASE_TIME + n) for n in (0, 5, 6))
        client.accept(first, make_event(key, 5, [["a", address]], str(kind), BASE_TIME + 5))
        check_equal(client.query({"authors": [key.pubkey], "kinds": [kind]}), [], "versions")
        client.refuse(first, "blocked")
        client.refuse(same, "blocked")
        client.accept(later)
        found = client.query({"authors": [key.pubkey], "kinds": [kind]})
        check_equal(found, [later], "versions after the request")


@suite.case("09-04 an address deleted before any version came")
def address_before_event(t):
    client = t.connect(t.relay())
    key = t.key()
    client.accept(make_event(key, 5, [["a", f"30023:{key.pubkey}:x"]], created_at=BASE_TIME + 5))
    client.refuse(make_event(key, 30023, [["d", "x"]], created_at=BASE_TIME + 5), "blocked")
    client.accept(make_event(key, 30023, [["d", "y"]]))
    client.accept(make_event(key, 30023, [["d", "x"]], created_at=BASE_TIME + 6))


@suite.case("09-05 requests are stored, served and delivered like any event")
def request_is_an_event(t):
    relay = t.relay()
    key = t.key()
    client, listener = t.connect(relay), t.connect(relay)
    listener.stored("s", {"authors": [key.pubkey], "kinds": [5]})
    event = make_event(key)
    request = make_event(key, 5, [["e", event["id"]]], "a mistake")
    client.accept(event, request)
    check_equal(listener.live("s"), request, "live request")
    check_equal(client.query({"#e": [event["id"]]}), [request], "request by e")
    listener.silent()


@suite.case("09-07 a deleted event is refused for good, also from another connection")
def refused_for_good(t):
    relay = t.relay()
    client = t.connect(relay)
    key = t.key()
    event = make_event(key)
    client.accept(event, make_event(key, 5, [["e", event["id"]]]))
    for _ in range(3):
        t.connect(relay).refuse(event, "blocked")


@suite.case("09-08 a that is malformed, foreign, of another class or unknown has no effect")
def useless_addresses(t):
    client = t.connect(t.relay())
    key, other = t.keys(2)
    kept = [
        make_event(key),
        make_event(key, 30023, [["d", "k"]]),
        make_event(key, 10002),
        make_event(other, 30023, [["d", "k"]]),
    ]
    client.accept(*kept)
    author = key.pubkey
    for number, tags in enumerate((
        [["a", f"30023:{other.pubkey}:k"]],
        [["a", f"1:{author}:"]],
        [["a", f"20001:{author}:"]],
        [["a", "garbage"]],
        [["a", ""]],
        [["a"]],
        [["a", f"30023:{author}"]],
        [["a", f"30023:{author.upper()}:k"]],
        [["a", f"30023:{author}:unknown"]],
        [["a", f"030023:{author}:k"]],
        [["a", f"95559:{author}:k"]],
        [["a", f"-1:{author}:"]],
        [["a", f":{author}:k"]],
        [["e", ""]],
        [["e"]],
        [["e", "not hex"]],
        [["E", kept[0]["id"]]],
        [["k", "1"]],
        [],
    )):
        client.accept(make_event(key, 5, tags, str(number), BASE_TIME + 100))
        found = client.query({"ids": [event["id"] for event in kept]})
        check_equal(len(found), len(kept), f"events left after {tags}")


@suite.case("09-09 deleting a deletion removes and revives nothing")
def deletion_of_deletion(t):
    client = t.connect(t.relay())
    key = t.key()
    event = make_event(key)
    request = make_event(key, 5, [["e", event["id"]]])
    again = make_event(key, 5, [["e", request["id"]], ["k", "5"]], created_at=BASE_TIME + 1)
    client.accept(event, request, again)
    client.refuse(event, "blocked")
    check_equal(client.query({"authors": [key.pubkey]}), [again, request], "events left")
    # Also when the request that aims at a request comes first.
    other = make_event(key, content="other")
    late = make_event(key, 5, [["e", other["id"]]], created_at=BASE_TIME + 2)
    client.accept(make_event(key, 5, [["e", late["id"]]], created_at=BASE_TIME + 3))
    client.accept(other, late)
    check_equal(client.query({"ids": [other["id"], late["id"]]}), [late], "events left")


@suite.case("09-10 deleting the current version by e does not bring an older one back")
def no_older_version(t):
    client = t.connect(t.relay())
    for kind in (0, 10002, 30023):
        key = t.key()
        old, new = (make_event(key, kind, [["d", "x"]], str(n), BASE_TIME + n) for n in (0, 1))
        client.accept(old, new, make_event(key, 5, [["e", new["id"]]], created_at=BASE_TIME + 2))
        wanted = {"authors": [key.pubkey], "kinds": [kind]}
        check_equal(client.query(wanted), [], "versions left")
        check_equal(client.count(wanted), 0, "COUNT")
        client.refuse(new, "blocked")
        newer = make_event(key, kind, [["d", "x"]], "newer", BASE_TIME + 3)
        client.accept(newer)
        check_equal(client.query(wanted), [newer], "later version")


@suite.case("09-11 k tags do not limit what is deleted")
def k_tags(t):
    client = t.connect(t.relay())
    key = t.key()
    event = make_event(key)
    client.accept(event, make_event(key, 5, [["e", event["id"]], ["k", "7"]], "wrong kind"))
    check_equal(client.query({"ids": [event["id"]]}), [], "event")


@suite.case("09-12 a deletion outlives its request's expiration and a restart")
def deletion_outlives(t):
    relay = t.own_relay({"store.expiry_sweep_s": 1})
    client = t.connect(relay)
    key = t.key()
    event = make_event(key)
    addressed = make_event(key, 30023, [["d", "x"]])
    expiry = ["expiration", str(int(time.time()) + 2)]
    client.accept(
        event,
        addressed,
        make_event(key, 5, [["e", event["id"]], expiry]),
        make_event(key, 5, [["a", f"30023:{key.pubkey}:x"], expiry]),
    )
    time.sleep(4.2)
    check_equal(client.query({"authors": [key.pubkey]}), [], "events after the expiration")
    client.refuse(event, "blocked")
    client.refuse(addressed, "blocked")
    t.restart(relay)
    client = t.connect(relay)
    client.refuse(event, "blocked")
    client.refuse(addressed, "blocked")


@suite.case("09-13 deleted events leave every index")
def every_index(t):
    client = t.connect(t.relay())
    key, friend = t.keys(2)
    kept = make_event(key, 7, [["t", "x"]], "kept", BASE_TIME + 1)
    event = make_event(key, 7, [["t", "x"], ["p", friend.pubkey], ["d", "y"]])
    client.accept(event, kept, make_event(key, 5, [["e", event["id"]]]))
    for wanted, left in (
        ({"ids": [event["id"]]}, []),
        ({"authors": [key.pubkey], "kinds": [7]}, [kept]),
        ({"authors": [key.pubkey], "#t": ["x"]}, [kept]),
        ({"#p": [friend.pubkey]}, []),
        ({"authors": [key.pubkey], "#d": ["y"]}, []),
        ({"authors": [key.pubkey], "until": BASE_TIME, "kinds": [7]}, []),
    ):
        check_equal(client.query(wanted), left, f"events for {wanted}")
        check_equal(client.count(wanted), len(left), f"COUNT of {wanted}")


@suite.case("09-01 many targets in one request")
def many_targets(t):
    client = t.connect(t.relay())
    key = t.key()
    events = [make_event(key, content=str(n)) for n in range(300)]
    versions = [make_event(key, 30023, [["d", str(n)]]) for n in range(300)]
    client.accept(*events, *versions)
    tags = [["e", event["id"]] for event in events[:250]]
    tags += [["a", f"30023:{key.pubkey}:{n}"] for n in range(250)]
    client.accept(make_event(key, 5, tags))
    check_equal(client.count({"authors": [key.pubkey], "kinds": [1]}), 50, "events left")
    check_equal(client.count({"authors": [key.pubkey], "kinds": [30023]}), 50, "versions left")


@suite.case("59-03 a wrap is deleted by its recipient, not by others, and stays out")
def wrap_deleted_by_recipient(t):
    client = t.connect(t.relay())
    sender, recipient, stranger = t.keys(3)
    wrap = make_event(sender, 1059, [["p", recipient.pubkey]], "sealed")
    other = make_event(sender, 1059, [["p", stranger.pubkey]], "sealed")
    client.accept(wrap, other)
    reader = t.connect(client.relay)
    reader.login(recipient)
    reader.login(stranger)
    client.accept(make_event(stranger, 5, [["e", wrap["id"]]]))
    check_equal(reader.query({"ids": [wrap["id"]]}), [wrap], "after a stranger's request")
    client.accept(make_event(recipient, 5, [["e", wrap["id"]], ["e", other["id"]]]))
    check_equal(reader.query({"ids": [wrap["id"], other["id"]]}), [other], "wraps left")
    client.refuse(wrap, "blocked")


@suite.case("59-03 a recipient's request that comes before the wrap keeps it out")
def wrap_deleted_before(t):
    client = t.connect(t.relay())
    sender, recipient, stranger = t.keys(3)
    wrap = make_event(sender, 1059, [["p", recipient.pubkey]], "sealed")
    other = make_event(sender, 1059, [["p", stranger.pubkey]], "sealed")
    note = make_event(sender, 1, [["p", recipient.pubkey]])
    client.accept(
        make_event(recipient, 5, [["e", wrap["id"]], ["e", other["id"]], ["e", note["id"]]])
    )
    client.refuse(wrap, "blocked")
    client.accept(other, note)


if __name__ == "__main__":
    suite.main()
