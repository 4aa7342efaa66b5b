#!/usr/bin/env python3
"""NIP-01, filters: what they select, in which order, and which are refused."""

import itertools
import random

from filter_model import selected
from harness import BASE_TIME, UNKNOWN_ID, Suite, check, check_equal, make_event, newest_first
from harness import compact

suite = Suite(shards=(1, 2, 4))


def series(key, count, kind=1, **options):
    return [make_event(key, kind, created_at=BASE_TIME + n, **options) for n in range(count)]


@suite.case("01-F01 random filters select what the model selects, stored, live and counted")
def random_filters(t):
    relay = t.own_relay()
    client, listener = t.connect(relay), t.connect(relay)
    chance = random.Random(1)
    keys = t.keys(6)
    events = []
    for n in range(240):
        tags = [["t", chance.choice("abcd")] for _ in range(chance.randrange(3))]
        tags += [["p", chance.choice(keys).pubkey]] * chance.randrange(2)
        if events and chance.random() < 0.3:
            tags.append(["e", chance.choice(events)["id"], "wss://hint"])
        created_at = BASE_TIME + chance.randrange(60)
        kind = chance.choice([1, 1, 7, 1111, 40001])
        events.append(make_event(chance.choice(keys), kind, tags, str(n), created_at))
    client.accept(*events[:120])
    requests = [random_request(chance, keys, events) for _ in range(150)]
    for number, filters in enumerate(requests):
        listener.stored(f"live {number}", *[{**wanted, "limit": 0} for wanted in filters])
    client.accept(*events[120:])
    live = {f"live {number}": [] for number in range(len(requests))}
    try:
        while True:
            message = listener.recv(0.7)
            live[message[1]].append(message[2])
    except TimeoutError:
        pass
    for number, filters in enumerate(requests):
        wanted = newest_first(selected(filters, events))
        check_equal(client.query(*filters), wanted, f"stored for {filters}")
        check_equal(client.count(*filters), len(wanted), f"COUNT of {filters}")
        arrived = newest_first(live[f"live {number}"])
        check_equal(arrived, newest_first(selected(filters, events[120:])), f"live for {filters}")
    for filters in requests[:60]:
        limit = chance.randrange(1, 20)
        limited = [{**filters[0], "limit": limit}]
        wanted = newest_first(selected(limited, events))[:limit]
        check_equal(client.query(*limited), wanted, f"stored for {limited}")


def random_request(chance, keys, events):
    return [random_filter(chance, keys, events) for _ in range(chance.choice([1, 1, 1, 2, 3]))]


def random_filter(chance, keys, events):
    wanted = {}
    if chance.random() < 0.15:
        wanted["ids"] = [event["id"] for event in chance.sample(events, 8)]
    if chance.random() < 0.4:
        wanted["authors"] = [key.pubkey for key in chance.sample(keys, chance.randint(1, 4))]
    if chance.random() < 0.4:
        wanted["kinds"] = chance.sample([1, 7, 1111, 40001, 9], chance.randint(1, 3))
    if chance.random() < 0.3:
        wanted["#t"] = chance.sample("abcdx", chance.randint(1, 3))
    if chance.random() < 0.2:
        wanted["#p"] = [chance.choice(keys).pubkey for _ in range(2)]
    if chance.random() < 0.1:
        wanted["#e"] = [event["id"] for event in chance.sample(events, 20)]
    if chance.random() < 0.3:
        wanted["since"] = BASE_TIME + chance.randrange(60)
    if chance.random() < 0.3:
        wanted["until"] = BASE_TIME + chance.randrange(60)
    return wanted


@suite.case("01-F05 tag filters look at the first value alone, in full, case-sensitively")
def tag_values(t):
    client = t.connect(t.relay())
    key = t.key()
    author = {"authors": [key.pubkey]}
    long = "L" * 1000
    tags = ([["t", "red", "blue"]], [["t", "Red"]], [["t"]], [["t", ""]], [["T", "red"]],
            [["t", long]], [["t", long + "x"]], [["alt", "red"]])
    events = [make_event(key, tags=one, created_at=BASE_TIME + n) for n, one in enumerate(tags)]
    client.accept(*events)
    for wanted, found in (
        ({"#t": ["red"]}, [0]),
        ({"#t": ["blue"]}, []),
        ({"#t": ["Red"]}, [1]),
        ({"#t": [""]}, [3]),
        ({"#T": ["red"]}, [4]),
        ({"#t": [long]}, [5]),
        ({"#t": [long[:-1]]}, []),
        ({"#t": ["red", "Red", long + "x"]}, [6, 1, 0]),
    ):
        expected = [events[n]["id"] for n in found]
        check_equal(client.query_ids({**author, **wanted}), expected, f"events for {wanted}")
        check_equal(client.count({**author, **wanted}), len(found), f"COUNT of {wanted}")


@suite.case("01-F05 #d with an empty value also finds addresses without d")
def empty_d(t):
    client = t.connect(t.relay())
    keys = t.keys(4)
    tags = ([], [["d", ""]], [["d"]], [["d", "x"], ["d", ""]])
    events = [make_event(key, 30023, one) for key, one in zip(keys, tags)]
    client.accept(*events)
    wanted = {"authors": [key.pubkey for key in keys], "#d": [""]}
    # The last one has a tag with that value though its address is another.
    expected = [event["id"] for event in newest_first(events)]
    check_equal(client.query_ids(wanted), expected, "events")
    regular = make_event(keys[0], 1)
    client.accept(regular)
    check_equal(client.query({"ids": [regular["id"]], "#d": [""]}), [], "regular event without d")


@suite.case("01-F07 since and until are inclusive and take every 64-bit integer")
def time_bounds(t):
    client = t.connect(t.relay())
    key = t.key()
    events = series(key, 10)
    client.accept(*events)
    author = {"authors": [key.pubkey]}
    for bounds, first, last in (
        ({"since": BASE_TIME + 3}, 3, 9),
        ({"until": BASE_TIME + 3}, 0, 3),
        ({"since": BASE_TIME + 3, "until": BASE_TIME + 3}, 3, 3),
        ({"since": BASE_TIME + 4, "until": BASE_TIME + 3}, 1, 0),
        ({"since": -(2**63)}, 0, 9),
        ({"since": -5, "until": 2**64 - 1}, 0, 9),
        ({"since": 2**63}, 1, 0),
        ({"since": 2**64 - 1}, 1, 0),
        ({"until": -1}, 1, 0),
        ({"until": 2**63 - 1}, 0, 9),
        ({"since": 0, "until": 0}, 1, 0),
    ):
        expected = [event["id"] for event in reversed(events[first : last + 1])]
        check_equal(client.query_ids({**author, **bounds}), expected, f"events for {bounds}")
        check_equal(client.count({**author, **bounds}), len(expected), f"COUNT of {bounds}")


@suite.case("01-F07 an until in the past does not end the subscription")
def until_in_the_past(t):
    relay = t.relay()
    key = t.key()
    listener, client = t.connect(relay), t.connect(relay)
    listener.stored("past", {"authors": [key.pubkey], "until": BASE_TIME})
    late = make_event(key, created_at=BASE_TIME + 1)
    early = make_event(key, created_at=BASE_TIME)
    client.accept(late, early)
    check_equal(listener.live("past"), early, "live event")
    listener.silent()


@suite.case("01-F09 limit keeps the newest, ties by lowest id, for every filter shape")
def limits_and_ties(t):
    client = t.connect(t.relay())
    keys = t.keys(5)
    events = [
        make_event(key, kind, [["t", "tie"]], str(n), BASE_TIME + n // 4)
        for n, (key, kind) in enumerate(itertools.product(keys, [1, 7, 1, 7, 1]))
    ]
    client.accept(*events)
    authors = {"authors": [key.pubkey for key in keys]}
    for shape in ({}, {"kinds": [1]}, {"kinds": [1, 7]}, {"#t": ["tie"]}, {"since": BASE_TIME + 1}):
        wanted = {**authors, **shape}
        right = newest_first(selected([wanted], events))
        for limit in (1, 2, 3, 5, 6, 24, 25, 26, 5000):
            found = client.query({**wanted, "limit": limit})
            check_equal(found, right[:limit], f"limit {limit} with {shape}")


@suite.case("01-F09 paging by until visits every event")
def paging(t):
    client = t.connect(t.relay())
    keys = t.keys(4)
    events = [event for key in keys for event in series(key, 50)]
    client.accept(*events)
    wanted = {"authors": [key.pubkey for key in keys], "limit": 12}
    seen, until = [], BASE_TIME + 1000
    while True:
        page = client.query({**wanted, "until": until})
        fresh = [event for event in page if event not in seen]
        if not fresh:
            break
        check_equal(page, newest_first(page), "order of a page")
        seen += fresh
        # Four events share a second, fewer than a page: the last second is asked for again.
        until = page[-1]["created_at"]
    check_equal(seen, newest_first(events), "events of all pages")


@suite.case("01-F10 limit 0 gives EOSE at once and stays live")
def limit_zero(t):
    relay = t.relay()
    key = t.key()
    listener, client = t.connect(relay), t.connect(relay)
    stored, fresh = series(key, 2)
    client.accept(stored)
    check_equal(listener.stored("z", {"authors": [key.pubkey], "limit": 0})[0], [], "stored")
    client.accept(fresh)
    check_equal(listener.live("z"), fresh, "live event")


@suite.case("01-F11 filters are ORed, each with its limit, the union newest first, each event once")
def several_filters(t):
    client = t.connect(t.relay())
    first, second = t.keys(2)
    of_first = series(first, 10, tags=[["t", "x"]])
    of_second = series(second, 10, tags=[["t", "x"]], content="2")
    client.accept(*of_first, *of_second)
    found = client.query(
        {"authors": [first.pubkey], "limit": 3}, {"authors": [second.pubkey], "limit": 2}
    )
    check_equal(found, newest_first(of_first[-3:] + of_second[-2:]), "union of two limits")
    both = {"authors": [first.pubkey, second.pubkey], "#t": ["x"]}
    found = client.query(both, {"authors": [first.pubkey]}, {"ids": [of_first[0]["id"]]}, both)
    check_equal(found, newest_first(of_first + of_second), "overlapping filters")
    check_equal(client.count(both, both, {"ids": [of_first[0]["id"]]}), 20, "COUNT")


@suite.case("01-F12 an empty list matches nothing and kills only its own filter")
def empty_lists(t):
    relay = t.relay()
    client, listener = t.connect(relay), t.connect(relay)
    key = t.key()
    event = make_event(key, tags=[["t", "x"]])
    client.accept(event)
    author = {"authors": [key.pubkey]}
    for name in ("ids", "authors", "kinds", "#t", "#e", "#p"):
        dead = {**author, name: []}
        check_equal(client.query(dead), [], f"{name} empty")
        check_equal(client.count(dead), 0, f"COUNT with {name} empty")
        check_equal(client.query(dead, author), [event], f"{name} empty beside a live filter")
        listener.stored(f"dead {name}", dead)
    client.accept(make_event(key, content="later"))
    listener.silent()


@suite.case("01-F13 an empty filter matches everything")
def match_all(t):
    relay = t.own_relay()
    client, listener = t.connect(relay), t.connect(relay)
    listener.stored("all", {})
    events = [event for key in t.keys(3) for event in series(key, 5)]
    client.accept(*events)
    check_equal(client.query({}), newest_first(events), "stored")
    check_equal(client.count({}), 15, "count")
    live = [listener.live("all") for _ in events]
    check_equal(newest_first(live), newest_first(events), "live")


@suite.case("01-F02 01-F14 01-F16 bad filters are refused with the right word")
def bad_filters(t):
    client = t.connect(t.relay())
    key = t.key()
    upper = key.pubkey.upper()
    for word, text in (
        ("invalid", '{"ids":["%s"]}' % upper),
        ("invalid", '{"ids":["%s0"]}' % key.pubkey),
        ("invalid", '{"ids":["000000"]}'),
        ("invalid", '{"ids":[""]}'),
        ("invalid", '{"ids":"%s"}' % key.pubkey),
        ("invalid", '{"ids":null}'),
        ("invalid", '{"ids":[1]}'),
        ("invalid", '{"authors":["%s"]}' % upper),
        ("invalid", '{"authors":[null]}'),
        ("invalid", '{"kinds":[null]}'),
        ("invalid", '{"kinds":[1.0]}'),
        ("invalid", '{"kinds":[1e0]}'),
        ("invalid", '{"kinds":[65537]}'),
        ("invalid", '{"kinds":[4294967297]}'),
        ("invalid", '{"kinds":[99999999999999999999999]}'),
        ("invalid", '{"kinds":{}}'),
        ("invalid", '{"since":null}'),
        ("invalid", '{"since":true}'),
        ("invalid", '{"since":18446744073709551616}'),
        ("invalid", '{"until":-9223372036854775809}'),
        ("invalid", '{"until":1e9}'),
        ("invalid", '{"until":1.0}'),
        ("invalid", '{"limit":null}'),
        ("invalid", '{"limit":"5"}'),
        ("invalid", '{"limit":-1}'),
        ("invalid", '{"limit":1.0}'),
        ("invalid", '{"#e":["%s"]}' % upper),
        ("invalid", '{"#p":[""]}'),
        ("invalid", '{"#t":[null]}'),
        ("invalid", '{"#t":[["x"]]}'),
        ("invalid", '{"#t":{}}'),
        ("invalid", '{"kinds":[1],"kinds":[7]}'),
        ("invalid", '{"#t":["x"],"#t":["x"]}'),
        ("invalid", "[]"),
        ("invalid", '[{"kinds":[1]}]'),
        ("invalid", "5"),
        ("invalid", '{"kinds":[1]},null'),
        ("unsupported", '{"kindz":[1]}'),
        ("unsupported", '{"Kinds":[1]}'),
        ("unsupported", '{"#tt":["x"]}'),
        ("unsupported", '{"#":["x"]}'),
        ("unsupported", '{"#é":["x"]}'),
        ("unsupported", '{"#1":["x"]}'),
        ("unsupported", '{"t":["x"]}'),
        ("unsupported", '{"":1}'),
    ):
        for command in ("REQ", "COUNT"):
            client.send_text(f'["{command}","bad",{text}]')
            message = client.recv()
            right = message[:2] == ["CLOSED", "bad"] and message[2].startswith(word + ": ")
            check(right, f"{command} {text} answered by {message}, right is CLOSED {word}:")
    client.silent()
    client.send("EVENT", make_event(key))
    client.await_ok(make_event(key)["id"])
    client.silent()


@suite.case("01-F17 limits above the maximum are clamped, without one the default holds")
def clamped(t):
    # Four events a second: the limits fall between two seconds, for 67-03 has its say else.
    relay = t.relay({"limits.filter_limit_max": 52, "limits.filter_limit_default": 20})
    client = t.connect(relay)
    keys = t.keys(4)
    events = newest_first([event for key in keys for event in series(key, 20)])
    client.accept(*events)
    author = {"authors": [key.pubkey for key in keys]}
    for limit in (52, 53, 5000, 2**31, 2**32 + 1, 2**63):
        check_equal(client.query({**author, "limit": limit}), events[:52], f"limit {limit}")
    check_equal(client.query(author), events[:20], "without limit")
    check_equal(client.count(author), 80, "COUNT is not clamped")
    check_equal(relay.information()["limitation"]["max_limit"], 52, "max_limit of NIP-11")
    check_equal(relay.information()["limitation"]["default_limit"], 20, "default_limit of NIP-11")


@suite.case("01-F18 a hundred filters and a thousand values are taken")
def large_requests(t):
    client = t.connect(t.relay())
    key = t.key()
    events = series(key, 100, tags=[["t", "many"]])
    client.accept(*events)
    found = client.query(*[{"ids": [event["id"]]} for event in events])
    check_equal(found, newest_first(events), "events by 100 filters")
    padding = [f"{n:064x}" for n in range(1, 950)]
    ids = padding + [event["id"] for event in events[:51]]
    check_equal(client.query_ids({"ids": ids}), ids[949:][::-1], "events by 1000 ids")
    authors = {"authors": padding + [key.pubkey] * 51}
    check_equal(len(client.query(authors)), 100, "events by 1000 authors")
    values = {"authors": [key.pubkey], "#t": [str(n) for n in range(999)] + ["many"]}
    check_equal(client.count(values), 100, "COUNT by 1000 values")
    kinds = {"authors": [key.pubkey], "kinds": list(range(1000))}
    check_equal(client.count(kinds), 100, "COUNT by 1000 kinds")


@suite.case("01-F14 members of filters may be spelled with escapes")
def escaped_members(t):
    client = t.connect(t.relay())
    event = make_event(t.key(), tags=[["t", "é"]])
    client.accept(event)
    client.send_text(
        '["R\\u0045Q","s\\u0031",{"\\u0069ds":["%s"],"#\\u0074":["\\u00e9"]}]' % event["id"]
    )
    check_equal(client.await_stored("s1")[0], [event], "events")


@suite.case("01-R07 an unknown id gives EOSE alone")
def eose_alone(t):
    client = t.connect(t.relay())
    for wanted in ({"ids": [UNKNOWN_ID]}, {"authors": [UNKNOWN_ID]}, {"#e": [UNKNOWN_ID]}):
        client.send("REQ", "e", wanted)
        message = client.recv()
        right = message[:2] == ["EOSE", "e"] and message[2:] in ([], [["finish"]])
        check(right, f"{compact(wanted)} answered by {message}")
        client.send("CLOSE", "e")
    client.silent()


if __name__ == "__main__":
    suite.main()
