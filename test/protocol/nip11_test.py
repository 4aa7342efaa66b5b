#!/usr/bin/env python3
"""NIP-11: the information document, its headers, and that every number in it is enforced."""

import json
import re
import time

from harness import Suite, check, check_equal, compact, make_event

suite = Suite(shards=(2,))

NOSTR = "application/nostr+json"
CORS = ("access-control-allow-origin", "access-control-allow-headers",
        "access-control-allow-methods")
TEXTS = ("name", "description", "banner", "icon", "pubkey", "self", "contact", "software",
         "version", "terms_of_service", "payments_url")
NUMBERS = ("max_message_length", "max_subscriptions", "max_limit", "default_limit",
           "max_subid_length", "max_event_tags", "max_content_length", "min_pow_difficulty",
           "created_at_lower_limit", "created_at_upper_limit")
BOOLEANS = ("auth_required", "payment_required", "restricted_writes")

# Small numbers, so that each can be met and broken.
SMALL = {
    "limits.message_bytes": 40000,
    "limits.subscriptions": 5,
    "limits.filter_limit_max": 30,
    "limits.filter_limit_default": 10,
    "limits.subscription_id_chars": 20,
    "limits.event_tags": 50,
    "limits.content_chars": 1000,
    "limits.created_at_future_s": 900,
    "limits.created_at_past_s": 400_000_000,
}


def check_cors(headers, what):
    check_equal(headers.get(CORS[0]), "*", f"{what}: Allow-Origin")
    allowed = headers.get(CORS[1], "").lower()
    for name in ("authorization", "accept", "content-type"):
        check(name in allowed, f"{what}: Allow-Headers lacks {name}: {allowed!r}")
    methods = headers.get(CORS[2], "")
    for name in ("GET", "HEAD", "POST", "OPTIONS"):
        check(name in methods, f"{what}: Allow-Methods lacks {name}: {methods!r}")


@suite.case("11-01 the document is found by its media type, in lists and with parameters")
def media_type(t):
    relay = t.relay()
    for accept in (
        NOSTR,
        "application/Nostr+JSON",
        f"{NOSTR}, */*",
        f"application/json, {NOSTR};q=0.9, */*",
        f"text/html;q=0.1,{NOSTR}",
        f"{NOSTR}; charset=utf-8",
    ):
        status, headers, body = relay.http(headers={"Accept": accept})
        check_equal(status, 200, f"status for {accept}")
        check_equal(headers.get("content-type", "").split(";")[0], NOSTR, f"type for {accept}")
        check("accept" in headers.get("vary", "").lower(), f"Vary: {headers.get('vary')}")
        check(isinstance(json.loads(body), dict), "no object")
    for accept in ("text/html", "application/json", "*/*", f"x{NOSTR}"):
        _, headers, _ = relay.http(headers={"Accept": accept})
        check(NOSTR not in headers.get("content-type", ""), f"document for {accept}")
    # A query string does not matter, nor do two Accept headers.
    check_equal(relay.http(path="/?a=b", headers={"Accept": NOSTR})[0], 200, "with a query")
    raw = f"GET / HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nAccept: {NOSTR}\r\n\r\n"
    check_equal(relay.raw_http(raw.encode())[1].get("content-type"), NOSTR, "second Accept")


@suite.case("11-01 HEAD gives the headers alone")
def head(t):
    relay = t.relay()
    status, headers, body = relay.http("HEAD", headers={"Accept": NOSTR})
    _, of_get, document = relay.http(headers={"Accept": NOSTR})
    check_equal((status, body), (200, b""), "HEAD")
    for name in ("content-type", "content-length", "vary", *CORS):
        check_equal(headers.get(name), of_get.get(name), name)
    check_equal(int(headers["content-length"]), len(document), "Content-Length")


@suite.case("11-02 CORS headers for any origin, with GET and OPTIONS")
def cors(t):
    relay = t.relay()
    origin = {"Origin": "https://app.test"}
    status, headers, _ = relay.http(headers={"Accept": NOSTR, **origin})
    check_equal(status, 200, "status")
    check_cors(headers, "GET")
    preflight = {
        **origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    for wanted in (preflight, origin, {**preflight, "Access-Control-Request-Headers": "accept"}):
        status, headers, body = relay.http("OPTIONS", headers=wanted)
        check_equal((status, body), (204, b""), "OPTIONS")
        check_cors(headers, "OPTIONS")


@suite.case("11-03 11-05 11-06 every member has its type, none is out of date")
def members(t):
    document = t.relay({"relay.pubkey": "a" * 64, "relay.contact": "mailto:a@b.test"}).information()
    for name in TEXTS:
        check(isinstance(document.get(name, ""), str), f"{name}: {document.get(name)!r}")
    check(None not in document.values(), f"null in {document}")
    check_equal(document["pubkey"], "a" * 64, "pubkey")
    check_equal(document["contact"], "mailto:a@b.test", "contact")
    software = document.get("software", "https://")
    check(re.match(r"https?://", software), f"software is no URL: {software}")
    nips = document["supported_nips"]
    check(all(type(nip) is int for nip in nips), f"supported_nips: {nips}")
    check_equal(nips, sorted(set(nips)), "supported_nips, each once")
    check(not {12, 15, 16, 20, 22, 33} & set(nips), f"merged NIPs in {nips}")
    check({1, 9, 11, 40, 42, 45, 70} <= set(nips), f"NIPs missing in {nips}")
    limitation = document["limitation"]
    for name in NUMBERS:
        check(type(limitation.get(name, 0)) is int, f"{name}: {limitation.get(name)!r}")
    for name in BOOLEANS:
        check(type(limitation.get(name, False)) is bool, f"{name}: {limitation.get(name)!r}")
    old = {"retention", "relay_countries", "language_tags", "tags", "posting_policy",
           "privacy_policy"}
    check(not old & set(document), f"members of the past: {old & set(document)}")
    check("max_filters" not in limitation, "max_filters")


@suite.case("11-04 the document shows the numbers that are set")
def numbers_shown(t):
    limitation = t.relay(SMALL).information()["limitation"]
    for name, right in (
        ("max_message_length", 40000), ("max_subscriptions", 5), ("max_limit", 30),
        ("default_limit", 10), ("max_subid_length", 20), ("max_event_tags", 50),
        ("max_content_length", 1000), ("created_at_upper_limit", 900),
        ("created_at_lower_limit", 400_000_000), ("auth_required", False),
    ):
        check_equal(limitation.get(name), right, name)
    limitation = t.relay().information()["limitation"]
    for name in ("created_at_upper_limit", "created_at_lower_limit"):
        check(name not in limitation, f"{name} shown though it is off")
    check_equal(t.relay({"auth.required": True}).information()["limitation"]["auth_required"],
                True, "auth_required")


@suite.case("11-04 max_subscriptions: n are open, n + 1 is refused, replacing is not opening")
def max_subscriptions(t):
    client = t.connect(t.relay(SMALL))
    key = t.key()
    for n in range(5):
        client.stored(f"s{n}", {"authors": [key.pubkey]})
    text = client.closed("REQ", "s5", {"authors": [key.pubkey]})
    check(text.startswith("rate-limited: "), f"refused with {text!r}")
    client.stored("s0", {"authors": [key.pubkey], "kinds": [1]})
    client.send("CLOSE", "s1")
    client.stored("s5", {"authors": [key.pubkey]})
    client.refuse_filter("rate-limited", {"authors": [key.pubkey]})
    check_equal(client.count({"authors": [key.pubkey]}), 0, "COUNT beside full subscriptions")
    event = make_event(key)
    client.accept(event)
    names = sorted(client.recv()[1] for _ in range(5))
    check_equal(names, ["s0", "s2", "s3", "s4", "s5"], "subscriptions that got the event")
    client.silent()


@suite.case("11-04 max_subid_length: n characters work, n + 1 do not")
def max_subid_length(t):
    client = t.connect(t.relay(SMALL))
    wanted = {"ids": ["00" * 32]}
    for character in "xé😀":
        client.stored(character * 20, wanted)
        for command in ("REQ", "COUNT"):
            text = client.closed(command, character * 21, wanted)
            check(text.startswith("invalid: "), f"refused with {text!r}")


@suite.case("11-04 max_limit and default_limit")
def limits_of_filters(t):
    client = t.connect(t.relay(SMALL))
    key = t.key()
    client.accept(*[make_event(key, created_at=1767225600 + n) for n in range(40)])
    author = {"authors": [key.pubkey]}
    for wanted, right in (({"limit": 29}, 29), ({"limit": 30}, 30), ({"limit": 31}, 30), ({}, 10)):
        check_equal(len(client.query({**author, **wanted})), right, f"events for {wanted}")


@suite.case("11-04 max_event_tags: n tags pass, n + 1 do not")
def max_event_tags(t):
    client = t.connect(t.relay(SMALL))
    key = t.key()
    client.accept(make_event(key, tags=[["t", str(n)] for n in range(50)]))
    client.refuse(make_event(key, tags=[["t", str(n)] for n in range(51)]), "invalid")
    # Of tags, not of their items.
    client.accept(make_event(key, tags=[["t"] + ["x"] * 200]))


@suite.case("11-04 max_content_length counts characters, not bytes or escapes")
def max_content_length(t):
    client = t.connect(t.relay(SMALL))
    key = t.key()
    for character in ("x", "é", "😀", "\n", "\0"):
        client.accept(make_event(key, content=character * 1000))
        client.refuse(make_event(key, content=character * 1001), "invalid")


@suite.case("11-04 max_message_length: n bytes pass, n + 1 end the connection")
def max_message_length(t):
    relay = t.relay({**SMALL, "limits.content_chars": 40000})
    key = t.key()
    frame = len(compact(["EVENT", make_event(key)]))
    client = t.connect(relay)
    client.accept(make_event(key, content="x" * (40000 - frame)))
    client.send("EVENT", make_event(key, content="x" * (40001 - frame)))
    check_equal(client.wait_closed(), 1009, "close code")


@suite.case("11-04 01-E06 created_at within its limits, gift wraps up to two days back")
def created_at_limits(t):
    relay = t.relay({"limits.created_at_future_s": 900, "limits.created_at_past_s": 3600})
    limitation = relay.information()["limitation"]
    check_equal(limitation["created_at_upper_limit"], 900, "upper limit shown")
    check_equal(limitation["created_at_lower_limit"], 3600, "lower limit shown")
    client = t.connect(relay)
    key = t.key()
    now = int(time.time())
    for kind in (1, 20001, 10002):
        # Oldest first: these are versions of one address too.
        for age in (3500, 0, -600, -890):
            client.accept(make_event(key, kind, [], f"{age}", now - age))
        for age in (3700, 10**9, -1000, -3600):
            client.refuse(make_event(key, kind, [], f"{age}", now - age), "invalid")
    client.refuse(make_event(key, created_at=0), "invalid")
    client.refuse(make_event(key, created_at=2**63 - 1), "invalid")
    for kind in (13, 1059):
        client.accept(make_event(key, kind, [["p", key.pubkey]], "wrap", now - 172_000))


@suite.case("59-06 the default limits take wraps of two days ago and notes of any age")
def default_window(t):
    client = t.connect(t.relay({"limits.created_at_future_s": 900}))
    key = t.key()
    now = int(time.time())
    client.accept(make_event(key, 1059, [["p", key.pubkey]], "", now - 172_000))
    client.accept(make_event(key, created_at=0), make_event(key, created_at=now + 600))
    client.refuse(make_event(key, created_at=now + 3600), "invalid")
    # Far ahead in the future a deletion or a vanish request would block what comes (62-09).
    client.refuse(make_event(key, 62, [["relay", "ALL_RELAYS"]], "", now + 3600), "invalid")



if __name__ == "__main__":
    suite.main()
