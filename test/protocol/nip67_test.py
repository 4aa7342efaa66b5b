#!/usr/bin/env python3
"""NIP-67: what EOSE says about stored events that were not sent."""

from harness import BASE_TIME, UNKNOWN_ID, Suite, check_equal, make_event

suite = Suite(shards=(1, 2, 4))


def hint_of(client, *filters):
    """The events of a query, and the hint at its end."""
    events, eose = client.stored("h", *filters)
    client.send("CLOSE", "h")
    return events, eose[2] if len(eose) == 3 else None


@suite.case("67-01 67-02 finish and more are exact at the limit")
def exact(t):
    client = t.connect(t.relay())
    keys = t.keys(5)
    events = [make_event(keys[n % 5], content=str(n), created_at=BASE_TIME + n) for n in range(30)]
    client.accept(*events)
    authors = {"authors": [key.pubkey for key in keys]}
    for wanted, right in (
        ({}, ["finish"]),
        ({"limit": 31}, ["finish"]),
        ({"limit": 30}, ["finish"]),
        ({"limit": 29}, ["more"]),
        ({"limit": 1}, ["more"]),
        ({"limit": 0}, None),
        ({"since": BASE_TIME + 20, "limit": 10}, ["finish"]),
        ({"since": BASE_TIME + 20, "limit": 9}, ["more"]),
        ({"since": BASE_TIME + 20, "until": BASE_TIME + 19}, ["finish"]),
    ):
        found, hint = hint_of(client, {**authors, **wanted})
        check_equal(hint, right, f"hint for {wanted}")
        check_equal(len(found) > wanted.get("limit", 1000), False, f"beyond {wanted}")
    check_equal(hint_of(client, {"ids": [UNKNOWN_ID]}), ([], ["finish"]), "an unknown id")
    check_equal(hint_of(client, {"ids": []}), ([], ["finish"]), "no id")


@suite.case("67-02 what one filter leaves out and another sends is not more")
def union(t):
    client = t.connect(t.relay())
    key = t.key()
    events = [make_event(key, content=str(n), created_at=BASE_TIME + n) for n in range(10)]
    client.accept(*events)
    author = {"authors": [key.pubkey]}
    found, hint = hint_of(client, {**author, "limit": 3}, {**author, "kinds": [1]})
    check_equal(len(found), 10, "events")
    check_equal(hint != ["more"], True, f"hint {hint}")
    _, hint = hint_of(client, {**author, "limit": 3}, {**author, "limit": 5})
    check_equal(hint, ["more"], "hint of two limits")


@suite.case("67-02 events for others do not show in the hint")
def gated(t):
    client = t.connect(t.relay())
    key, other = t.keys(2)
    client.accept(make_event(key, 1), make_event(key, 1059, [["p", other.pubkey]]))
    found, hint = hint_of(client, {"authors": [key.pubkey]})
    check_equal((len(found), hint), (1, ["finish"]), "answer")
    found, hint = hint_of(client, {"authors": [key.pubkey], "limit": 1})
    check_equal((len(found), hint), (1, ["finish"]), "answer up to a limit")


@suite.case("67-03 the relay's own limit ends with a whole second, a client's does not")
def whole_second(t):
    client = t.connect(
        t.relay({"limits.filter_limit_max": 3, "limits.filter_limit_default": 3})
    )
    keys = t.keys(4)
    same = [make_event(key, content="same", created_at=BASE_TIME + 9) for key in keys]
    older = [make_event(key, content="older", created_at=BASE_TIME) for key in keys]
    client.accept(*same, *older)
    authors = {"authors": [key.pubkey for key in keys]}
    for wanted, count in (({}, 4), ({"limit": 3}, 3), ({"limit": 5000}, 4), ({"limit": 2}, 2)):
        found, hint = hint_of(client, {**authors, **wanted})
        check_equal((len(found), hint), (count, ["more"]), f"answer to {wanted}")
    # Who goes on below the oldest second misses nothing.
    found, hint = hint_of(client, {**authors, "until": BASE_TIME + 8})
    check_equal((len(found), hint), (4, ["finish"]), "the next page")


@suite.case("67-04 67-05 it can be switched off, and is listed while it is on")
def switch(t):
    relay = t.relay({"relay.eose_hints": False})
    client = t.connect(relay)
    check_equal(len(client.stored("s", {"ids": [UNKNOWN_ID]})[1]), 2, "elements of EOSE")
    check_equal(67 in relay.information()["supported_nips"], False, "67 listed while off")
    check_equal(67 in t.relay().information()["supported_nips"], True, "67 listed")


if __name__ == "__main__":
    suite.main()
