#!/usr/bin/env python3
"""NIP-70: protected events, and reposts of them."""

import json

from harness import Suite, check_equal, make_event

suite = Suite(shards=(1, 2))


@suite.case("70-01 70-02 unauthenticated: auth-required, whatever the form of the tag")
def unauthenticated(t):
    relay = t.relay()
    client, listener = t.connect(relay), t.connect(relay)
    key = t.key()
    listener.stored("s", {"authors": [key.pubkey]})
    for kind in (1, 0, 10002, 20001, 30023, 5):
        for tags in ([["-"]], [["t", "x"], ["-"]], [["-", "x"]], [["-", ""]]):
            client.refuse(make_event(key, kind, tags, str(tags)), "auth-required")
    listener.silent()
    check_equal(client.query({"authors": [key.pubkey]}), [], "stored")
    for tags in ([["--"]], [["t", "-"]], [[" -"]], [["", "-"]]):
        client.accept(make_event(key, 1, tags))


@suite.case("70-02 as the author accepted, as somebody else restricted")
def authenticated(t):
    relay = t.relay()
    author, other = t.keys(2)
    client = t.connect(relay)
    client.login(other)
    event = make_event(author, 1, [["-"]], "den")
    client.refuse(event, "restricted")
    client.refuse(make_event(author, 20001, [["-"]]), "restricted")
    client.login(author)
    client.accept(event)
    accepted, text = client.publish(event)
    check_equal((accepted, text[:10]), (True, "duplicate:"), "sent again")


@suite.case("70-03 ephemeral and replaceable kinds follow the same rule and are delivered")
def other_classes(t):
    relay = t.relay()
    key = t.key()
    client, listener = t.connect(relay), t.connect(relay)
    listener.stored("s", {"authors": [key.pubkey]})
    client.login(key)
    for kind in (20001, 10002, 30023):
        event = make_event(key, kind, [["-"], ["d", ""]])
        client.accept(event)
        check_equal(listener.live("s"), event, f"live event of kind {kind}")


@suite.case("70-04 reading is unrestricted")
def reading(t):
    relay = t.relay()
    key = t.key()
    client = t.connect(relay)
    client.login(key)
    event = make_event(key, 1, [["-"]])
    client.accept(event)
    check_equal(t.connect(relay).query({"ids": [event["id"]]}), [event], "read by anybody")


@suite.case("70-05 reposts that embed a protected event are refused, others are not")
def reposts(t):
    client = t.connect(t.relay())
    author, other = t.keys(2)
    protected = make_event(author, 1, [["-"]], "den")
    open_event = make_event(author, 1, [["t", "x"]], 'says ["-"] in its text')
    spaced = json.dumps(protected, indent=1)
    escaped = json.dumps(protected).replace('"-"', '"\\u002d"')
    e = ["e", protected["id"]]
    for kind in (6, 16):
        for content in (json.dumps(protected), spaced, escaped, " \n" + spaced):
            accepted, text = client.publish(make_event(other, kind, [e], content))
            check_equal(accepted, False, f"repost with {content[:60]}: {text!r}")
        # Every content can be published once: each kind has the same ones.
        for content in ("", json.dumps(open_event), "not json", "[]", "{}", '{"tags":5}', "null",
                        '{"tags":[[]]}', "[" * 3000, '[["-"]]'):
            client.accept(make_event(other, kind, [e], content))
    client.accept(make_event(other, 1, [e], json.dumps(protected)))


if __name__ == "__main__":
    suite.main()
