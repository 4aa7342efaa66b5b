#!/usr/bin/env python3
"""NIP-45: COUNT."""

from harness import BASE_TIME, UNKNOWN_ID, Suite, check, check_equal, make_event

suite = Suite(shards=(1, 2, 4))


@suite.case("45-01 the shape of the answer")
def shape(t):
    client = t.connect(t.relay())
    key = t.key()
    client.accept(make_event(key))
    client.send("COUNT", 'q "é"', {"authors": [key.pubkey]})
    client.expect(["COUNT", 'q "é"', {"count": 1}])
    client.send("COUNT", "none", {"ids": [UNKNOWN_ID]})
    message = client.recv()
    check_equal(message[:2], ["COUNT", "none"], "answer")
    check_equal(message[2]["count"], 0, "count")
    check(message[2].get("approximate", False) is False, f"approximate: {message[2]}")
    client.silent()


@suite.case("45-01 filters are ORed, each event counts once, over all shards")
def union(t):
    client = t.connect(t.relay())
    keys = t.keys(6)
    events = [
        make_event(keys[n % 6], (1, 7)[n % 2], [["t", "c"], ["t", "d"]], str(n), BASE_TIME + n)
        for n in range(120)
    ]
    client.accept(*events)
    authors = {"authors": [key.pubkey for key in keys]}
    one = {"authors": [keys[0].pubkey]}
    for filters, right in (
        ([authors], 120),
        ([authors, authors], 120),
        ([{**authors, "kinds": [1]}, {**authors, "kinds": [7]}], 120),
        ([one, {**authors, "kinds": [7]}], 80),
        ([one, {"ids": [events[0]["id"]]}, {"ids": [events[1]["id"]]}], 21),
        ([{**authors, "#t": ["c", "d"]}], 120),
        ([{**authors, "#t": ["c", "d"], "kinds": [1]}], 60),
        ([{**authors, "since": BASE_TIME + 10, "until": BASE_TIME + 19}], 10),
        ([{**authors, "since": BASE_TIME + 10, "until": BASE_TIME + 9}], 0),
        ([{**authors, "kinds": [9]}], 0),
        ([{"ids": [event["id"] for event in events[:50]] * 2}], 50),
        ([{"ids": []}], 0),
    ):
        check_equal(client.count(*filters), right, f"COUNT of {filters}")


@suite.case("45-03 limit is ignored, limit 0 too")
def limit(t):
    client = t.connect(t.relay({"limits.filter_limit_max": 10, "limits.filter_limit_default": 5}))
    key = t.key()
    client.accept(*[make_event(key, content=str(n)) for n in range(30)])
    for wanted in ({}, {"limit": 1}, {"limit": 0}, {"limit": 10}, {"limit": 5000}):
        check_equal(client.count({"authors": [key.pubkey], **wanted}), 30, f"COUNT with {wanted}")
    check_equal(client.count({"authors": [key.pubkey], "kinds": [1], "limit": 1}), 30, "two terms")


@suite.case("45-03 query ids are apart from subscription ids, and nothing stays open")
def own_names(t):
    relay = t.relay()
    client, writer = t.connect(relay), t.connect(relay)
    key, other = t.keys(2)
    client.stored("x", {"authors": [key.pubkey]})
    client.send("COUNT", "x", {"authors": [other.pubkey]})
    client.expect(["COUNT", "x", {"count": 0}])
    client.send("COUNT", "x", {"kinds": "broken"})
    client.expect(["CLOSED", "x", "invalid:*"])
    event = make_event(key)
    writer.accept(event, make_event(other))
    check_equal(client.live("x"), event, "live event of the subscription")
    client.silent()


@suite.case("45-02 45-03 ids and filters are judged as for REQ")
def judged_as_req(t):
    client = t.connect(t.relay())
    for identifier in ("", "s" * 65):
        text = client.closed("COUNT", identifier, {})
        check(text.startswith("invalid: "), text)
    for word, wanted in (("invalid", {"kinds": [70000]}), ("unsupported", {"kindz": [1]}),
                         ("auth-required", {"kinds": [1059], "#p": [UNKNOWN_ID]})):
        client.refuse_filter(word, wanted, command="COUNT")
    client.notice('["COUNT",5,{}]')
    client.send("COUNT", "no filter")
    client.expect(["CLOSED", "no filter", "invalid:*"])


@suite.case("45-01 the count follows replacement, deletion and new events")
def count_follows(t):
    client = t.connect(t.relay())
    key = t.key()
    wanted = {"authors": [key.pubkey], "kinds": [30023]}
    versions = [make_event(key, 30023, [["d", str(n % 3)]], "", BASE_TIME + n) for n in range(9)]
    for n, version in enumerate(versions):
        client.accept(version)
        check_equal(client.count(wanted), min(n + 1, 3), f"after version {n}")
    client.accept(make_event(key, 5, [["e", versions[8]["id"]]], "", BASE_TIME + 20))
    check_equal(client.count(wanted), 2, "after a deletion")
    check_equal(client.count({"authors": [key.pubkey]}), 3, "with the request")


@suite.case("45-01 many counts in flight on one connection, each answered once")
def many_counts(t):
    client = t.connect(t.relay())
    keys = t.keys(5)
    client.accept(*[make_event(keys[n % 5], content=str(n)) for n in range(50)])
    counts = [["COUNT", str(n), {"authors": [keys[n % 5].pubkey]}] for n in range(300)]
    for first in range(0, 300, 10):
        client.send_all(counts[first : first + 10])
        answers = sorted((client.recv() for _ in range(10)), key=lambda answer: answer[1])
        right = sorted(["COUNT", str(n)] for n in range(first, first + 10))
        check_equal([answer[:2] for answer in answers], right, "answers")
        check_equal([answer[2]["count"] for answer in answers], [10] * 10, "counts")
    # All at once: a relay may refuse some, but leaves none without an answer.
    client.send_all(counts)
    answered = []
    for _ in counts:
        message = client.recv()
        if message[0] == "CLOSED":
            check(message[2].startswith("rate-limited: "), f"got {message}")
        else:
            check_equal(message[2]["count"], 10, "count")
        answered.append(message[1])
    check_equal(sorted(answered), sorted(count[1] for count in counts), "ids answered")
    client.silent()


if __name__ == "__main__":
    suite.main()
