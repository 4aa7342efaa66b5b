#!/usr/bin/env python3
"""RFC 6455 beyond the byte vectors: fragments, control frames, UTF-8, close codes, sizes."""

import random
import socket
import struct
import time

from harness import UNKNOWN_ID, Suite, check, check_equal, compact, make_event
from websocket import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, Closed, Refused, encode_frame

suite = Suite(shards=(2,), workers=6)

REQUEST = compact(["REQ", "é", {"ids": [UNKNOWN_ID]}]).encode()


def close_code(t, *frames):
    """Sends these bytes on a fresh connection; how the relay closes it."""
    client = t.connect(t.relay())
    try:
        client.send_bytes(b"".join(frames))
    except ConnectionError:
        pass
    return client.wait_closed()


def next_pong(client):
    while True:
        opcode, payload, _ = client.next_frame()
        if opcode == PONG:
            return payload


@suite.case("T-03 a message in any number of fragments with control frames between")
def fragments(t):
    client = t.connect(t.relay())
    for size in (1, 2, 7, len(REQUEST)):
        pieces = [REQUEST[at : at + size] for at in range(0, len(REQUEST), size)]
        data = b""
        for n, piece in enumerate(pieces):
            opcode = CONTINUATION if n else TEXT
            data += encode_frame(opcode, piece, fin=n == len(pieces) - 1)
            if n % 3 == 1 and n < len(pieces) - 1:
                data += encode_frame(PING, b"between")
        client.send_bytes(data)
        client.expect(["EOSE", "é"])
    # Empty fragments at the start, within and at the end.
    client.send_bytes(
        encode_frame(TEXT, b"", fin=False)
        + encode_frame(CONTINUATION, REQUEST, fin=False)
        + encode_frame(CONTINUATION, b"", fin=False)
        + encode_frame(CONTINUATION, b"")
    )
    client.expect(["EOSE", "é"])


@suite.case("T-03 a stream cut at random places means the same")
def random_cuts(t):
    client = t.connect(t.relay())
    chance = random.Random(3)
    event = make_event(t.key(), content="é😀" * 5000)
    data = encode_frame(TEXT, compact(["EVENT", event]).encode())
    data += b"".join(
        encode_frame(TEXT, compact(["REQ", str(n), {"ids": [UNKNOWN_ID]}]).encode())
        for n in range(50)
    )
    at = 0
    while at < len(data):
        size = chance.choice([1, 2, 3, 10, 100, 5000])
        client.send_bytes(data[at : at + size])
        at += size
    check(client.await_ok(event["id"])[0], "refused")
    client.expect(*[["EOSE", str(n)] for n in range(50)])


@suite.case("T-03 200 messages in one write are answered in order")
def many_in_one_write(t):
    client = t.connect(t.relay())
    client.send_all([["REQ", str(n % 50), {"ids": [UNKNOWN_ID]}] for n in range(200)])
    client.expect(*[["EOSE", str(n % 50)] for n in range(200)])


@suite.case("T-04 binary messages are answered by NOTICE, whole and fragmented")
def binary(t):
    client = t.connect(t.relay())
    client.send_bytes(encode_frame(BINARY, REQUEST))
    client.expect(["NOTICE", "invalid:*"])
    client.send_bytes(
        encode_frame(BINARY, b"\xff\xfe", fin=False)
        + encode_frame(PING, b"")
        + encode_frame(CONTINUATION, b"\xff")
    )
    client.expect(["NOTICE", "invalid:*"])
    client.send_bytes(encode_frame(BINARY, b""))
    client.expect(["NOTICE", "invalid:*"])
    client.send_text(REQUEST)
    client.expect(["EOSE", "é"])


@suite.case("T-05 text that is not UTF-8 closes with 1007")
def not_utf8(t):
    for text in (
        b"\xff",
        b'["REQ","\x80"]',
        b"\xc0\xaf",  # Overlong.
        b"\xe0\x80\xaf",
        b"\xed\xa0\x80",  # A surrogate.
        b"\xf4\x90\x80\x80",  # Above U+10FFFF.
        b"\xf5\x80\x80\x80",
        b'["NOTICE","\xe2\x82"]',  # Cut short.
        b'["x"]\xe2\x82',
        b"a" * 5000 + b"\xc3(" + b"a" * 5000,
    ):
        check_equal(close_code(t, encode_frame(TEXT, text)), 1007, f"close for {text[:20]}")
        halves = encode_frame(TEXT, text[:1], fin=False) + encode_frame(CONTINUATION, text[1:])
        check_equal(close_code(t, halves), 1007, f"close for {text[:20]} in fragments")


@suite.case("T-06 protocol errors close with 1002")
def protocol_errors(t):
    start = encode_frame(TEXT, b"[", fin=False)
    for what, data in (
        ("data frame inside a fragmented message", start + encode_frame(TEXT, b"]")),
        ("binary frame inside a fragmented message", start + encode_frame(BINARY, b"]")),
        ("continuation after a whole message",
         encode_frame(TEXT, REQUEST) + encode_frame(CONTINUATION, b"]")),
        ("RSV2", bytes([0xA1]) + encode_frame(TEXT, REQUEST)[1:]),
        ("RSV3", bytes([0x91]) + encode_frame(TEXT, REQUEST)[1:]),
        ("RSV1 on a ping", bytes([0xC9]) + encode_frame(PING, b"x")[1:]),
        ("unmasked ping", encode_frame(PING, b"x", mask=None)),
        ("opcode 3", bytes([0x83]) + encode_frame(TEXT, b"x")[1:]),
        ("opcode 7", bytes([0x87]) + encode_frame(TEXT, b"x")[1:]),
        ("opcode 11", bytes([0x8B]) + encode_frame(TEXT, b"x")[1:]),
        ("opcode 15", bytes([0x8F]) + encode_frame(TEXT, b"x")[1:]),
        ("fragmented ping", encode_frame(PING, b"x", fin=False)),
        ("fragmented close", encode_frame(CLOSE, b"\x03\xe8", fin=False)),
        ("ping of 126 bytes", encode_frame(PING, b"x" * 126)),
        ("close of 126 bytes", encode_frame(CLOSE, b"\x03\xe8" + b"x" * 124)),
    ):
        code = close_code(t, data)
        check_equal(code, 1002, f"close for {what}")


@suite.case("T-06 close codes that may not be sent are answered by 1002, others echoed")
def close_codes(t):
    for code in (0, 1, 999, 1004, 1005, 1006, 1015, 1016, 2000, 2999, 5000, 65535):
        frame = encode_frame(CLOSE, struct.pack(">H", code))
        check_equal(close_code(t, frame), 1002, f"answer to close {code}")
    for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999):
        frame = encode_frame(CLOSE, struct.pack(">H", code) + "gründlich".encode())
        check_equal(close_code(t, frame), code, f"answer to close {code}")
    check_equal(close_code(t, encode_frame(CLOSE, b"")), 1005, "answer to an empty close")


@suite.case("T-05 a close reason that is not UTF-8 is a fault")
def close_reason(t):
    code = close_code(t, encode_frame(CLOSE, b"\x03\xe8\xff\xfe"))
    check(code in (1002, 1007), f"answer to a broken reason: {code}")


@suite.case("T-07 pings of every size come back, pongs are ignored")
def pings(t):
    client = t.connect(t.relay())
    for size in (0, 1, 2, 64, 124, 125):
        payload = bytes(range(256))[:size]
        client.send_bytes(encode_frame(PING, payload))
        check_equal(next_pong(client), payload, f"pong to {size} bytes")
    client.send_bytes(encode_frame(PONG, b"x" * 125) + encode_frame(PONG, b""))
    data = b"".join(encode_frame(PING, str(n).encode()) for n in range(500))
    client.send_bytes(data)
    check_equal([next_pong(client) for _ in range(500)], [b"%d" % n for n in range(500)], "pongs")
    client.fence()


@suite.case("T-07 nothing that follows a Close is executed")
def after_close(t):
    relay = t.relay()
    event = make_event(t.key())
    client = t.connect(relay)
    publish = encode_frame(TEXT, compact(["EVENT", event]).encode())
    client.send_bytes(encode_frame(CLOSE, b"\x03\xe8") + publish)
    check_equal(client.wait_closed(), 1000, "close code")
    check_equal(t.connect(relay).query({"ids": [event["id"]]}), [], "event after the Close")


@suite.case("T-08 the size limit holds at n and breaks at n + 1, whole and in fragments")
def message_size(t):
    relay = t.relay({"limits.message_bytes": 20000})
    check_equal(relay.information()["limitation"]["max_message_length"], 20000, "advertised")
    text = compact(["REQ", "s", {"ids": [UNKNOWN_ID]}]).encode()

    def padded(size):
        return text[:-1] + b" " * (size - len(text)) + b"]"

    client = t.connect(relay)
    client.send_text(padded(20000))
    client.expect(["EOSE", "s"])
    exact = padded(20000)
    client.send_bytes(encode_frame(TEXT, exact[:9000], fin=False)
                      + encode_frame(CONTINUATION, exact[9000:]))
    client.expect(["EOSE", "s"])
    over = padded(20001)
    for frames in (
        encode_frame(TEXT, over),
        encode_frame(TEXT, over[:10000], fin=False) + encode_frame(CONTINUATION, over[10000:]),
        encode_frame(TEXT, over)[:8],  # The header alone says enough.
        encode_frame(BINARY, over),
        encode_frame(TEXT, over[:1], fin=False)
        + b"".join(encode_frame(CONTINUATION, b"x", fin=False) for _ in range(20000)),
    ):
        client = t.connect(relay)
        try:
            client.send_bytes(frames)
        except ConnectionError:
            pass
        check_equal(client.wait_closed(), 1009, "close code")


@suite.case("T-15 what the relay sends is unmasked text in JSON arrays")
def relay_frames(t):
    client = t.connect(t.relay())
    key = t.key()
    sizes = (0, 100, 125, 126, 1000, 65000, 65535, 65536, 300_000)
    events = [make_event(key, content="ü" * (size // 2)) for size in sizes]
    client.accept(*events)
    # The client checks masks, reserved bits, UTF-8 and JSON of every frame.
    found = client.query({"authors": [key.pubkey]})
    check_equal(len(found), len({event["id"] for event in events}), "events")


@suite.case("T-13 a client that has ended its side still gets the answers to what it has sent")
def half_closed(t):
    key = t.key()
    events = [make_event(key, content=f"event {n}") for n in range(20)]
    client = t.connect(t.relay())
    client.send_all([["EVENT", event] for event in events])
    client.send("REQ", "s", {"ids": [UNKNOWN_ID]})
    client.socket.shutdown(socket.SHUT_WR)
    messages = []
    try:
        while True:
            messages.append(client.recv())
    except Closed as closed:
        check_equal(closed.code, None, "close code where no Close came")
    accepted = {message[1] for message in messages if message[0] == "OK" and message[2]}
    check_equal(accepted, {event["id"] for event in events}, "accepted")
    check(any(message[0] == "EOSE" for message in messages), "no EOSE")


@suite.case("T-11 a reset behind part of a request frees its slot at once")
def reset_within_a_request(t):
    relay = t.own_relay({"limits.connections": 4, "net.handshake_timeout_s": 300})
    for _ in range(4):
        client = socket.create_connection(relay.address)
        client.sendall(b"GET / HTTP/1.1\r\nHost: relay.example\r\n")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    deadline = time.monotonic() + 10
    while True:
        try:
            return t.connect(relay).fence()
        except Refused as refused:
            check(time.monotonic() < deadline, f"still refused after 10 s: {refused}")
            time.sleep(0.05)


if __name__ == "__main__":
    suite.main()
