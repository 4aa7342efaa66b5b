#!/usr/bin/env python3
"""permessage-deflate (RFC 7692): negotiation, both directions, and what it must not allow."""

from harness import UNKNOWN_ID, Suite, check, check_equal, compact, make_event
from websocket import CONTINUATION, PING, PONG, TEXT, deflate, encode_frame

suite = Suite(shards=(2,), workers=4)

MESSAGE_BYTES = 64 * 1024
REQUEST = compact(["REQ", "p", {"ids": [UNKNOWN_ID]}]).encode()
ANSWER = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"


def relay(t):
    return t.relay({"net.deflate": True, "limits.message_bytes": MESSAGE_BYTES})


def connect(t, offer="permessage-deflate; client_max_window_bits"):
    return t.connect(relay(t), headers=[("Sec-WebSocket-Extensions", offer)])


def padded(size):
    """The request with blanks behind it, which JSON allows, of this size."""
    return REQUEST + b" " * (size - len(REQUEST))


def close_code(t, *frames):
    client = connect(t)
    try:
        client.send_bytes(b"".join(frames))
    except ConnectionError:
        pass
    return client.wait_closed()


@suite.case("T-09 deflate is agreed on if the relay has it on and the client asks")
def negotiation(t):
    check_equal(connect(t).extensions, ANSWER, "answer")
    check_equal(connect(t, "x-other, permessage-deflate; what").extensions, "", "bad offers")
    check_equal(
        connect(t, "permessage-deflate; server_max_window_bits=10").extensions,
        ANSWER + "; server_max_window_bits=10",
        "answer to a small window",
    )
    check_equal(t.connect(relay(t)).extensions, "", "no offer")
    off = t.connect(t.relay(), headers=[("Sec-WebSocket-Extensions", "permessage-deflate")])
    check_equal(off.extensions, "", "relay without it")


@suite.case("T-09 compressed requests are understood, fragmented and mixed with plain ones")
def requests(t):
    client = connect(t)
    for level in range(10):
        client.send_bytes(encode_frame(TEXT, deflate(REQUEST, level), rsv1=True))
        client.expect(["EOSE", "p"])
    client.send_text(REQUEST)
    client.expect(["EOSE", "p"])
    message = deflate(REQUEST)
    client.send_bytes(
        encode_frame(TEXT, message[:5], fin=False, rsv1=True)
        + encode_frame(PING, b"between")
        + encode_frame(CONTINUATION, message[5:9], fin=False)
        + encode_frame(CONTINUATION, message[9:])
    )
    opcode, payload, _ = client.next_frame()
    check_equal((opcode, payload), (PONG, b"between"), "between the fragments")
    client.expect(["EOSE", "p"])


@suite.case("T-09 stored and live events are the same for every client, whatever it agreed on")
def deliveries(t):
    author = t.key()
    clients = {offer: connect(t, offer) for offer in (
        "none",
        "permessage-deflate",
        "permessage-deflate; server_max_window_bits=15; client_max_window_bits=9",
        "permessage-deflate; server_max_window_bits=9",
        "permessage-deflate; server_max_window_bits=8",
    )}
    contents = ["", "short", "é😀 " * 100, "long enough to be referenced " * 200, "x" * 30_000]
    events = [make_event(author, content=text, created_at=1767225600 + n)
              for n, text in enumerate(contents)]
    for number, client in enumerate(clients.values()):
        client.stored(f"live {number}", {"authors": [author.pubkey]})
    publisher = connect(t)
    for event in events:
        publisher.send_bytes(
            encode_frame(TEXT, deflate(compact(["EVENT", event]).encode()), rsv1=True))
        publisher.await_ok(event["id"])
    for number, client in enumerate(clients.values()):
        for event in events:
            check_equal(client.live(f"live {number}"), event, "live")
        stored = client.query({"authors": [author.pubkey]})
        check_equal(stored, list(reversed(events)), "stored")
    deflated = [client.deflated_messages for client in clients.values()]
    check_equal(deflated[0], 0, "compressed for who did not ask")
    check(deflated[1] == deflated[2] >= 8, f"{deflated[1:3]} of 10 messages compressed")
    check(0 < deflated[3] < deflated[2], f"{deflated[3]} with a window of 512 bytes")
    check_equal(deflated[4], 0, "compressed for a window of 256 bytes")


@suite.case("CL-041 the size limit is checked while inflating, to the byte")
def limits(t):
    client = connect(t)
    client.send_bytes(encode_frame(TEXT, deflate(padded(MESSAGE_BYTES)), rsv1=True))
    client.expect(["EOSE", "p"])
    client.send_bytes(encode_frame(TEXT, deflate(padded(MESSAGE_BYTES), 0), rsv1=True))
    client.expect(["EOSE", "p"])
    too_big = deflate(padded(MESSAGE_BYTES + 1))
    check_equal(close_code(t, encode_frame(TEXT, too_big, rsv1=True)), 1009, "code")


@suite.case("CL-041 64 MiB of blanks end the connection and cost no memory")
def bombs(t):
    bomb = deflate(b" " * (64 << 20))
    check(len(bomb) < 80_000, "the bomb is not small")
    own = t.own_relay({"net.deflate": True, "limits.message_bytes": 512 * 1024})
    headers = [("Sec-WebSocket-Extensions", "permessage-deflate")]
    step = len(bomb) // 1000 + 1
    pieces = [bomb[at : at + step] for at in range(0, len(bomb), step)]
    fragments = b"".join(
        encode_frame(CONTINUATION if n else TEXT, piece, fin=n == len(pieces) - 1, rsv1=n == 0)
        for n, piece in enumerate(pieces)
    )
    for data in (encode_frame(TEXT, bomb, rsv1=True), fragments):
        before = own.rss_bytes()
        clients = [t.connect(own, headers=headers) for _ in range(8)]
        for client in clients:
            client.send_bytes(data)
        for client in clients:
            check_equal(client.wait_closed(), 1009, "code")
        grown = own.rss_bytes() - before
        # Inflated whole they would be 512 MiB; sanitizers keep what was freed for a while.
        check(grown < 128 << 20, f"8 bombs took {grown >> 20} MiB")


@suite.case("T-09 the compression bit in the wrong place closes with 1002")
def misuse(t):
    message = deflate(REQUEST)
    check_equal(close_code(t, encode_frame(PING, b"", rsv1=True)), 1002, "on a ping")
    check_equal(
        close_code(
            t,
            encode_frame(TEXT, message[:3], fin=False, rsv1=True),
            encode_frame(CONTINUATION, message[3:], rsv1=True),
        ),
        1002,
        "on a continuation",
    )
    plain = t.connect(relay(t))
    plain.send_bytes(encode_frame(TEXT, message, rsv1=True))
    check_equal(plain.wait_closed(), 1002, "not agreed on")


@suite.case("T-09 what does not inflate, or not to UTF-8, closes with 1007")
def broken(t):
    check_equal(close_code(t, encode_frame(TEXT, b"\xff\xff\xff", rsv1=True)), 1007, "noise")
    check_equal(close_code(t, encode_frame(TEXT, deflate(b"\xc3("), rsv1=True)), 1007, "not UTF-8")


if __name__ == "__main__":
    suite.main()
