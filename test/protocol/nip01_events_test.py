#!/usr/bin/env python3
"""NIP-01, events: members, canonical form, signatures, kinds and the answers to EVENT."""

import json
import threading

from bip340 import FIELD, ORDER
from harness import (
    BASE_TIME,
    MEMBERS,
    Suite,
    check,
    check_equal,
    compact,
    event_id,
    make_event,
    newest_first,
    raw_event,
)

suite = Suite(shards=(1, 2, 4))

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def send_raw_event(client, identifier, text):
    client.send_text(f'["EVENT",{text}]')
    return client.await_ok(identifier)


def refuse_raw(client, identifier, text):
    accepted, reason = send_raw_event(client, identifier, text)
    check(not accepted and reason.startswith("invalid: "), f"{text} answered by {reason!r}")


def accept_and_read_back(client, event):
    client.accept(event)
    check_equal(client.query({"ids": [event["id"]]}), [event], "event read back")


# Section 2: the JSON level.


@suite.case("01-J01 what is not JSON is answered by NOTICE and not executed")
def not_json(t):
    client = t.connect(t.relay())
    event = make_event(t.key())
    text = compact(["EVENT", event])
    for broken in (
        text + text,  # A second document.
        text + " x",
        "\ufeff" + text,  # A byte order mark (01-J02).
        text.replace(":1,", ":01,"),  # A leading zero.
        text.replace(":1,", ":+1,"),
        text.replace(":1,", ":Infinity,"),
        text.replace('"content":""', '"content":"a\tb"'),
        text.replace('"content":""', '"content":"\\u12G4"'),
        text.replace('"content":""', '"content":"\\'),
        text.replace('"content":""', '"content":"\0"'),
        "['EVENT'," + compact(event) + "]",
        text.replace("]", ",]"),
        text[:-1],
        "/* c */" + text,
    ):
        client.notice(broken)
    check_equal(client.query({"ids": [event["id"]]}), [], "event sent in broken JSON only")


@suite.case("01-J01 a message of blanks is ignored or answered by NOTICE")
def blanks(t):
    client = t.connect(t.relay())
    for text in ("", " ", "\n", " \t\r\n"):
        client.send_text(text)
    client.send("REQ", "after", {"ids": ["00" * 32]})
    message = client.recv()
    while message[0] == "NOTICE":
        message = client.recv()
    check_equal(message[:2], ["EOSE", "after"], "answer after blanks")


@suite.case("01-J03 deep nesting does no harm")
def deep_nesting(t):
    client = t.connect(t.relay())
    for opened, closed in (("[", "]"), ('{"a":', "}")):
        client.notice(opened * 5000)
        client.notice(opened * 40000 + "1" + closed * 40000)
    event = make_event(t.key())
    nested = compact(event)[:-1] + ',"x":' + "[" * 3000 + "]" * 3000 + "}"
    client.send_text(f'["EVENT",{nested}]')
    message = client.recv()
    check(message[0] == "NOTICE" or message[2] is False, f"nested event answered by {message}")
    client.fence()


@suite.case("01-J04 members in any order with any white space")
def member_order(t):
    client = t.connect(t.relay())
    event = make_event(t.key(), tags=[["t", "x"]], content="ordered")
    shuffled = {name: event[name] for name in ("sig", "tags", "kind", "content", "id", "pubkey")}
    shuffled["created_at"] = event["created_at"]
    client.send_text('\n[ "EVENT" ,\t' + json.dumps(shuffled, indent=2) + " ]\r\n")
    check(client.await_ok(event["id"])[0], "refused")
    check_equal(client.query({"ids": [event["id"]]}), [event], "event read back")


@suite.case("01-J05 a repeated member of an event is refused")
def repeated_member(t):
    client = t.connect(t.relay())
    event = make_event(t.key())
    for name in MEMBERS[1:]:
        text = compact(event)[:-1] + f",{compact(name)}:{compact(event[name])}}}"
        refuse_raw(client, event["id"], text)
    check_equal(client.query({"ids": [event["id"]]}), [], "stored events")


@suite.case("01-J06 every escape is understood")
def escapes(t):
    client = t.connect(t.relay())
    key = t.key()
    for spelled, plain in (
        (r"\"\\\/\b\f\n\r\t", '"\\/\b\f\n\r\t'),
        (r"\u00e9\u00E9\u20AC", "éé€"),
        (r"\ud83d\ude00 \uD83D\uDE00", "😀 😀"),
        (r"\u0000\u001f\u007f", "\0\x1f\x7f"),
        (r"\udbff\udfff", "\U0010ffff"),
    ):
        event = make_event(key, tags=[["t", plain]], content=plain)
        text = (
            f'{{"id":"{event["id"]}","pubkey":"{key.pubkey}","created_at":{BASE_TIME},"kind":1,'
            f'"tags":[["t","{spelled}"]],"content":"{spelled}","sig":"{event["sig"]}"}}'
        )
        accepted, reason = send_raw_event(client, event["id"], text)
        check(accepted, f"{spelled} refused: {reason}")
        check_equal(client.query({"ids": [event["id"]]}), [event], f"{spelled} read back")
        check_equal(client.query_ids({"#t": [plain]}), [event["id"]], f"{spelled} by tag")


@suite.case("01-J07 lone and misordered surrogates are refused")
def surrogates(t):
    client = t.connect(t.relay())
    key = t.key()
    for spelled in (r"\ud800", r"\udc00", r"\udc00\ud800", r"\ud800x", r"\ud800\u0041"):
        for place in ("content", "tags"):
            content = f'"{spelled}"' if place == "content" else '""'
            tags = f'[["t","{spelled}"]]' if place == "tags" else "[]"
            refuse_raw(client, *raw_event(key, content=content, tags=tags))


@suite.case("01-J08 numbers must be plain integers")
def plain_integers(t):
    client = t.connect(t.relay())
    key = t.key()
    for value in ("1.0", "1e3", "1E3", "-0", "1e0", "0.5", '"1"', "true", "[1]", "{}"):
        refuse_raw(client, *raw_event(key, kind=value))
        refuse_raw(client, *raw_event(key, created_at=value))


# Section 3.1: members.


@suite.case("01-E02 a malformed id is echoed as sent; what cannot be echoed gets a NOTICE")
def malformed_ids(t):
    client = t.connect(t.relay())
    event = make_event(t.key())
    for identifier in (
        event["id"].upper(),
        event["id"][:-1],
        event["id"] + "0",
        "0x" + event["id"][2:],
        "z" * 64,
        "",
        'quote" back\\slash \n é',
        "a" * 128,
    ):
        client.send("EVENT", {**event, "id": identifier})
        accepted, reason = client.await_ok(identifier)
        check(not accepted and reason.startswith("invalid: "), f"{identifier}: {reason!r}")
    for value in (None, 5, 1.5, True, [event["id"]], {}, "a" * 129):
        client.notice(compact(["EVENT", {**event, "id": value}]))


@suite.case("01-E03 an upper-case pubkey is refused though id and sig fit it")
def upper_case_pubkey(t):
    key = t.key()
    client = t.connect(t.relay())
    upper = key.pubkey.upper()
    identifier, text = raw_event(key, preimage=f'[0,"{upper}",{BASE_TIME},1,[],""]')
    refuse_raw(client, identifier, text.replace(key.pubkey, upper))
    for pubkey in (key.pubkey[:-1], key.pubkey + "0", "", "g" * 64):
        event = make_event(key)
        refuse_raw(client, event["id"], compact({**event, "pubkey": pubkey}))


@suite.case("01-E04 created_at takes 0 to 2^63-1 and nothing else")
def created_at_range(t):
    client = t.connect(t.relay())
    key = t.key()
    for value in (0, 1, 4294967301, 2**53 + 1, 2**63 - 1):
        accept_and_read_back(client, make_event(key, created_at=value, content="range"))
    for value in ("-1", "9223372036854775808", "18446744073709551616", "1" * 400, "null"):
        refuse_raw(client, *raw_event(key, created_at=value))


@suite.case("01-E05 kind takes 0 to 65535 and nothing else")
def kind_range(t):
    client = t.connect(t.relay())
    key = t.key()
    for kind in (1, 44, 45, 999, 1000, 40000, 65535):
        accept_and_read_back(client, make_event(key, kind))
    for value in ("-1", "65536", "4294967297", "18446744073709551617", "1" * 31, "null"):
        refuse_raw(client, *raw_event(key, kind=value))


@suite.case("01-E08 sig takes 128 lower-case hex digits")
def sig_form(t):
    client = t.connect(t.relay())
    event = make_event(t.key())
    for sig in (event["sig"].upper(), event["sig"][:-1], event["sig"] + "0", "", 5, [], "z" * 128):
        refuse_raw(client, event["id"], compact({**event, "sig": sig}))
    check_equal(client.query({"ids": [event["id"]]}), [], "stored events")


@suite.case("01-E11 tags is an array of non-empty arrays of strings")
def tags_form(t):
    client = t.connect(t.relay())
    key = t.key()
    for tags in ('[["t","a"],[]]', '[[1,"x"]]', "[[null]]", '[["t","a"],"t"]', "[[[]]]", "1", '""'):
        refuse_raw(client, *raw_event(key, tags=tags))
    accept_and_read_back(client, make_event(key, tags=[["t"] + [f"v{n}" for n in range(60)]]))


@suite.case("01-E13 tag values are any strings")
def odd_tags(t):
    client = t.connect(t.relay())
    tags = [["e", "not-hex"], ["p", ""], [""], ["", ""], ["a"], ["a", "::"], ["t", "\0"]]
    accept_and_read_back(client, make_event(t.key(), tags=tags))


@suite.case("01-E14 every character up to U+10FFFF survives")
def characters_survive(t):
    client = t.connect(t.relay())
    key = t.key()
    everything = "".join(map(chr, [*range(0, 0x500), 0x2028, 0x2029, 0xFEFF, 0xFDD1, 0xFFFF]))
    everything += "\U0001ffff\U0010ffff\U0001f600e\u0301"
    accept_and_read_back(client, make_event(key, tags=[["t", everything]], content=everything))
    for character in "\0\x01\x0b\x0e\x1f\x7f\x80\x9f\"\\/\b\f\n\r\t":
        accept_and_read_back(client, make_event(key, content=f"a{character}b"))


@suite.case("01-S02 ids over other spellings of the preimage are refused")
def other_preimages(t):
    client = t.connect(t.relay())
    key = t.key()
    head = f'[0,"{key.pubkey}",{BASE_TIME},1,'
    for content, preimage in (
        ('"x"', f'[0, "{key.pubkey}",{BASE_TIME},1,[],"x"]'),
        ('"x"', head + '[],"x"] '),
        (r'"a\u0001b"', head + '[],"a\x01b"]'),
        (r'"a\u000bb"', head + r'[],"a\u000Bb"]'),
        (r'"a\u007fb"', head + r'[],"a\u007fb"]'),
        (r'"a\tb"', head + r'[],"a\u0009b"]'),
        ('"a/b"', head + r'[],"a\/b"]'),
        ('"é"', head + r'[],"\u00e9"]'),
        ('"x"', f'[1,"{key.pubkey}",{BASE_TIME},1,[],"x"]'),
    ):
        refuse_raw(client, *raw_event(key, content=content, preimage=preimage))


@suite.case("01-V01 a good signature over a wrong id is refused")
def wrong_id(t):
    client = t.connect(t.relay())
    key = t.key()
    event = make_event(key, content="signed")
    other = make_event(key, content="other")
    for changed in (
        {**event, "content": "changed"},
        {**event, "created_at": event["created_at"] + 1},
        {**event, "kind": 7},
        {**event, "tags": [["t", "x"]]},
        {**event, "id": other["id"], "sig": other["sig"]},
    ):
        refuse_raw(client, changed["id"], compact(changed))
    check_equal(client.query({"authors": [key.pubkey]}), [], "stored events")


@suite.case("01-V02 signatures that BIP-340 rejects are refused")
def bad_signatures(t):
    client = t.connect(t.relay())
    key, other = t.keys(2)
    event = make_event(key, content="signature")
    r, s = event["sig"][:64], event["sig"][64:]
    flipped_s = f"{ORDER - int(s, 16):064x}"
    for sig in (
        make_event(other, content="signature")["sig"],
        r + flipped_s,
        s + r,
        f"{FIELD:064x}" + s,  # r is not below the field's prime.
        r + f"{ORDER:064x}",  # s is not below the order.
        r + f"{2**256 - 1:064x}",
        "0" * 128,
    ):
        refuse_raw(client, event["id"], compact({**event, "sig": sig}))
    # No point of the curve has this x.
    off_curve = {**event, "pubkey": f"{5:064x}"}
    off_curve["id"] = event_id(off_curve)
    refuse_raw(client, off_curve["id"], compact(off_curve))
    client.accept(event)


# Section 3.4: kinds.


@suite.case("01-K05 kinds that no range names are stored as regular ones")
def unnamed_kinds(t):
    client = t.connect(t.relay())
    key = t.key()
    kinds = [54, 64, 78, 443, 444, 445, 818, 999, 40000, 50000, 65535]
    events = [
        make_event(key, kind, [["d", "x"]], f"{kind} {n}", BASE_TIME + n)
        for kind in kinds
        for n in range(2)
    ]
    client.accept(*events)
    for kind in kinds:
        found = client.query({"authors": [key.pubkey], "kinds": [kind]})
        check_equal(len(found), 2, f"events of kind {kind}")


@suite.case("01-K02 01-K04 01-K07 only the newest version of an address remains")
def newest_version(t):
    client = t.connect(t.relay())
    key = t.key()
    # The `d` tag of a replaceable event means nothing; that of an addressable one names it.
    for kind, addresses in ((10002, 1), (0, 1), (3, 1), (30078, 2), (31234, 2), (30315, 2)):
        versions = [
            make_event(key, kind, [["d", f"d{n % 2}"]], str(n), BASE_TIME + n) for n in range(6)
        ]
        client.accept(*versions)
        found = client.query({"authors": [key.pubkey], "kinds": [kind]})
        check_equal(found, newest_first(versions[-addresses:]), f"versions of kind {kind}")
        old = [event["id"] for event in versions[:-addresses]]
        check_equal(client.query({"ids": old}), [], "replaced versions by id")
        check_equal(client.count({"ids": old}), 0, "replaced versions counted")
        # Late ones, known before or not, change nothing (01-M06).
        client.refuse(versions[0], "duplicate")
        client.refuse(make_event(key, kind, [["d", "d1"]], "late", BASE_TIME), "duplicate")


@suite.case("01-K03 of two versions of one second the lowest id stays")
def tie_of_versions(t):
    client = t.connect(t.relay())
    for kind in (0, 10002, 30023):
        for low_first in (True, False):
            key = t.key()
            pair = [make_event(key, kind, [["d", "x"]], content) for content in ("a", "b")]
            low, high = newest_first(pair)
            if low_first:
                client.accept(low)
                client.refuse(high, "duplicate")
            else:
                client.accept(high)
                client.accept(low)
            check_equal(client.query({"authors": [key.pubkey]}), [low], "version that stays")


@suite.case("01-K04 no d, an empty one and one without value are one address")
def one_empty_address(t):
    client = t.connect(t.relay())
    key = t.key()
    forms = ([], [["d"]], [["d", ""]], [["d", "", "x"]], [["t", "a"], ["d", ""], ["d", "y"]])
    events = [make_event(key, 30023, tags, "", BASE_TIME + n) for n, tags in enumerate(forms)]
    for event in events:
        client.accept(event)
        check_equal(client.query({"authors": [key.pubkey]}), [event], "versions")
    named = make_event(key, 30023, [["d", "x"], ["d", ""]])
    client.accept(named)
    check_equal(len(client.query({"authors": [key.pubkey]})), 2, "addresses")


@suite.case("01-K06 ephemeral events are delivered and not kept")
def ephemeral(t):
    relay = t.relay()
    key = t.key()
    listener, client = t.connect(relay), t.connect(relay)
    wanted = {"authors": [key.pubkey]}
    listener.stored("live", wanted)
    for kind in (20000, 24133, 29999):
        event = make_event(key, kind, [["d", "x"], ["expiration", "1"]], "passing")
        client.accept(event)
        check_equal(listener.live("live"), event, "live event")
        check_equal(client.query(wanted, {"ids": [event["id"]]}), [], "stored")
        check_equal(client.count(wanted), 0, "count")


@suite.case("01-K08 64 connections, 64 versions of one address at once")
def concurrent_versions(t):
    relay = t.relay()
    key = t.key()
    # Eight share the highest time, so that the lowest id decides among them.
    versions = [
        make_event(key, 30023, [["d", "race"]], str(n), BASE_TIME + min(n, 56)) for n in range(64)
    ]
    clients = [t.connect(relay) for _ in versions]
    barrier = threading.Barrier(len(clients))
    answers = [None] * len(clients)

    def publish(number):
        barrier.wait()
        answers[number] = clients[number].publish(versions[number], 20)

    threads = [threading.Thread(target=publish, args=(n,)) for n in range(len(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winner = newest_first(versions)[0]
    check_equal(clients[0].query({"authors": [key.pubkey]}), [winner], "version that remains")
    check(answers[versions.index(winner)][0], "the winner was refused")
    for accepted, text in answers:
        check(accepted or text.startswith("duplicate: "), f"refused with {text!r}")


# Section 3.5: EVENT and OK.


@suite.case("01-M02 malformed commands are answered by NOTICE")
def malformed_commands(t):
    client = t.connect(t.relay())
    event = compact(make_event(t.key()))
    for text in (
        "[]", "{}", "5", "true", '"EVENT"', "null", "[null]", "[5,{}]", '[["EVENT"]]', '[{}]',
        '["EVENT"]', '["EVENT",5]', '["EVENT",[]]', f'["EVENT","sub",{event}]', '["EVENT",{}]',
        f'["event",{event}]', '["REQ"]', '["REQ",null,{}]', '["REQ",[],{}]', '["COUNT"]',
        '["COUNT",5,{}]', '["CLOSE"]', '["CLOSE",5]', '["CLOSE",null]', '["AUTH"]', '["AUTH",5]',
        '["AUTH","challenge"]', '["OK","x",true,""]', '["EOSE","x"]', '["NOTICE","x"]', '["",1]',
    ):
        client.notice(text)


@suite.case("01-M03 elements after the expected ones are ignored")
def extra_elements(t):
    client = t.connect(t.relay())
    event = make_event(t.key())
    client.send("EVENT", event, {"x": 1}, None, "y")
    check(client.await_ok(event["id"])[0], "refused")
    client.stored("s", {"ids": [event["id"]]})
    client.send("CLOSE", "s", 5, {})
    client.silent()


@suite.case("01-M04 100 events sent at once get 100 answers")
def pipelined(t):
    client = t.connect(t.relay())
    keys = t.keys(5)
    events = [make_event(keys[n % 5], content=str(n)) for n in range(100)]
    client.send_all([["EVENT", event] for event in events])
    answered = []
    for _ in events:
        message = client.recv()
        check(message[0] == "OK" and len(message) == 4 and message[2] is True, f"got {message}")
        answered.append(message[1])
    check_equal(sorted(answered), sorted(event["id"] for event in events), "ids answered")
    client.silent()
    found = client.query({"authors": [key.pubkey for key in keys]})
    check_equal(found, newest_first(events), "events stored")


@suite.case("01-M04 the same event ten times in one write is stored once and answered ten times")
def same_event_pipelined(t):
    client = t.connect(t.relay())
    event = make_event(t.key(), content="again")
    client.send_all([["EVENT", event]] * 10)
    texts = []
    for _ in range(10):
        accepted, text = client.await_ok(event["id"])
        check(accepted, f"refused with {text!r}")
        texts.append(text)
    duplicates = [text for text in texts if text.startswith("duplicate: ")]
    check_equal(len(duplicates), 9, f"answers that say duplicate among {texts}")
    client.silent()
    check_equal(client.count({"ids": [event["id"]]}), 1, "count")


@suite.case("01-M05 a stored event is a duplicate for every connection and not sent again")
def duplicate(t):
    relay = t.relay()
    key = t.key()
    event = make_event(key)
    t.connect(relay).accept(event)
    listener = t.connect(relay)
    listener.stored("live", {"authors": [key.pubkey]})
    for _ in range(3):
        accepted, text = t.connect(relay).publish(event)
        check(accepted and text.startswith("duplicate: "), f"answered {accepted} {text!r}")
    listener.silent()


@suite.case("02-01 04-02 IX-02 kinds with rules for clients are ordinary for a relay")
def ordinary_kinds(t):
    relay = t.relay({"auth.gated_kinds": []})
    client = t.connect(relay)
    key, friend = t.keys(2)
    followed = make_event(key, 3, [["p", friend.pubkey, "wss://r", "bob"]])
    client.accept(followed)
    check_equal(client.query({"#p": [friend.pubkey]}), [followed], "follow list by p")
    for kind, content in ((4, "not base64"), (64, "not chess"), (13, "seal"), (9734, "{}")):
        accept_and_read_back(client, make_event(key, kind, content=content))


@suite.case("IX-01 each of the 52 letters is indexed for itself")
def all_letters(t):
    client = t.connect(t.relay())
    key = t.key()
    value = key.pubkey  # 64 hex digits, so that #e and #p take it.
    event = make_event(key, tags=[[letter, value] for letter in LETTERS])
    singles = [
        make_event(key, tags=[[letter, value]], created_at=BASE_TIME - n)
        for n, letter in enumerate(LETTERS, 1)
    ]
    client.accept(event, *singles)
    for letter, single in zip(LETTERS, singles):
        found = client.query_ids({f"#{letter}": [value]})
        check_equal(found, [event["id"], single["id"]], f"events by #{letter}")


@suite.case("47-01 content of 64 KiB and more passes")
def large_content(t):
    client = t.connect(t.relay())
    key = t.key()
    for kind, size in ((1, 65536), (30023, 200_000), (1, 400_000)):
        accept_and_read_back(client, make_event(key, kind, content="é" * (size // 2)))
    listener = t.connect(client.relay)
    listener.stored("live", {"authors": [key.pubkey], "kinds": [23195]})
    event = make_event(key, 23195, content="x" * 65536)
    client.accept(event)
    check_equal(listener.live("live"), event, "live event")


if __name__ == "__main__":
    suite.main()
