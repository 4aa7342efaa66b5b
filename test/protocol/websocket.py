"""A WebSocket client (RFC 6455) over a plain socket that can also break every rule on purpose.

It checks what a relay sends (unmasked, no reserved bit, whole control frames, text in UTF-8) and
answers pings by itself. One thread uses one client.
"""

import base64
import collections
import hashlib
import json
import os
import select
import socket
import struct
import time
import zlib

TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_MASK = b"\x37\xfa\x21\x3d"
_DEFLATE_TAIL = b"\x00\x00\xff\xff"  # Left out at the end of a message (RFC 7692 7.2.1).


class Closed(Exception):
    """The connection has ended; `code` is that of the relay's Close frame, None without one."""

    def __init__(self, code, reason=""):
        super().__init__(f"closed with {code} {reason!r}")
        self.code = code
        self.reason = reason


class Refused(Exception):
    """The upgrade was answered by something other than 101."""

    def __init__(self, status, headers, body):
        super().__init__(f"upgrade answered by {status}")
        self.status = status
        self.headers = headers
        self.body = body


class Violation(Exception):
    """The relay broke RFC 6455."""


def deflate(data, level=6):
    """A message as permessage-deflate (RFC 7692) compresses it."""
    stream = zlib.compressobj(level, zlib.DEFLATED, -15)
    return (stream.compress(data) + stream.flush(zlib.Z_SYNC_FLUSH))[: -len(_DEFLATE_TAIL)]


def encode_frame(opcode, payload, fin=True, mask=_MASK, rsv1=False):
    """A client frame. `mask` may be None, for the frame that must be refused."""
    head = bytearray([(0x80 if fin else 0) | (0x40 if rsv1 else 0) | opcode])
    mask_bit = 0x80 if mask is not None else 0
    if len(payload) < 126:
        head.append(mask_bit | len(payload))
    elif len(payload) < 65536:
        head.append(mask_bit | 126)
        head += struct.pack(">H", len(payload))
    else:
        head.append(mask_bit | 127)
        head += struct.pack(">Q", len(payload))
    if mask is None:
        return bytes(head) + payload
    # XOR as one large integer: bytes in a loop would dominate the cost of a test.
    size = len(payload)
    stream = (mask * (size // 4 + 1))[:size]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(stream, "big")
    return bytes(head) + mask + masked.to_bytes(size, "big")


def upgrade_request(host, path="/", key="dGhlIHNhbXBsZSBub25jZQ==", headers=()):
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: {host}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13",
    ]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def accept_of(key):
    return base64.b64encode(hashlib.sha1((key + _GUID).encode()).digest()).decode()


class WebSocket:
    def __init__(self, address, path="/", headers=(), receive_buffer=None, early=b"", timeout=10):
        """Connects and upgrades. `early` follows the request in the same write."""
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:
            # Before connect: the window is agreed in the handshake.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.challenge = None
        self.challenges = []
        self.auto_pong = True
        self.pings = 0
        self._poll = select.poll()
        self._poll.register(self.socket, select.POLLIN)
        self._buffer = bytearray()
        self._start = 0
        self._backlog = collections.deque()
        self._fragments = None
        self.socket.connect(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        host = f"{address[0]}:{address[1]}"
        try:
            self.socket.sendall(upgrade_request(host, path, key, headers) + early)
            self._read_upgrade(key, time.monotonic() + timeout)
        except BaseException:
            self.socket.close()
            raise

    def _read_upgrade(self, key, deadline):
        while b"\r\n\r\n" not in self._buffer:
            self._fill(deadline)
        head, rest = bytes(self._buffer).split(b"\r\n\r\n", 1)
        status_line, *lines = head.decode("latin-1").split("\r\n")
        self.headers = {}
        self.deflated_messages = 0
        for line in lines:
            name, value = line.split(":", 1)
            self.headers[name.strip().lower()] = value.strip()
        status = int(status_line.split()[1])
        if status != 101:
            wanted = int(self.headers.get("content-length", "0"))
            self._buffer = bytearray(rest)
            while len(self._buffer) < wanted:
                self._fill(deadline)
            raise Refused(status, self.headers, bytes(self._buffer))
        if self.headers.get("sec-websocket-accept") != accept_of(key):
            raise Violation(f"wrong Sec-WebSocket-Accept in {self.headers}")
        self._buffer = bytearray(rest)

    @property
    def extensions(self):
        return self.headers.get("sec-websocket-extensions", "")

    @property
    def has_deflate(self):
        return self.extensions.startswith("permessage-deflate")

    @property
    def window_bits(self):
        """Of the relay's side; zlib has none below 9."""
        for parameter in self.extensions.split(";"):
            name, _, value = parameter.strip().partition("=")
            if name == "server_max_window_bits":
                return max(9, int(value))
        return 15

    # Sending.

    def send_bytes(self, data):
        self.socket.sendall(data)

    def send_text(self, text):
        payload = text if isinstance(text, bytes) else text.encode()
        self.socket.sendall(encode_frame(TEXT, payload))

    def send(self, *message):
        self.send_text(json.dumps(message, ensure_ascii=False, separators=(",", ":")))

    def send_all(self, messages):
        """Many messages in as few writes as possible."""
        frames = bytearray()
        for message in messages:
            text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
            frames += encode_frame(TEXT, text.encode())
        self.socket.sendall(frames)

    # Receiving.

    def _fill(self, deadline):
        wait_s = deadline - time.monotonic()
        if wait_s <= 0:
            raise TimeoutError("nothing arrived in time")
        # Not by the socket's timeout, which is for sending; poll, since it takes any descriptor.
        if not self._poll.poll(wait_s * 1000):
            raise TimeoutError("nothing arrived in time")
        try:
            data = self.socket.recv(1 << 18)
        except ConnectionError as error:
            raise Closed(None, str(error)) from error
        if not data:
            raise Closed(None, "end of stream")
        self._buffer += data

    def _take(self, count, deadline):
        while len(self._buffer) - self._start < count:
            if self._start:
                del self._buffer[: self._start]
                self._start = 0
            self._fill(deadline)
        taken = bytes(self._buffer[self._start : self._start + count])
        self._start += count
        return taken

    def _peek(self, count, deadline):
        taken = self._take(count, deadline)
        self._start -= count
        return taken

    def next_frame(self, timeout=5):
        """The next frame as (opcode, payload, fin). A frame cut by the timeout is kept."""
        deadline = time.monotonic() + timeout
        first, second = self._peek(2, deadline)
        size, head_bytes = second & 0x7F, 2
        if size == 126:
            head_bytes = 4
            size = struct.unpack(">H", self._peek(4, deadline)[2:])[0]
        elif size == 127:
            head_bytes = 10
            size = struct.unpack(">Q", self._peek(10, deadline)[2:])[0]
        if second & 0x80:
            raise Violation("masked frame from the relay")
        opcode, fin = first & 0x0F, bool(first & 0x80)
        is_deflated = bool(first & 0x40)
        if first & 0x30 or (is_deflated and not (self.has_deflate and opcode == TEXT and fin)):
            raise Violation("reserved bit set without an extension")
        if opcode >= 8 and (not fin or size > 125):
            raise Violation("fragmented or oversized control frame from the relay")
        self._peek(head_bytes + size, deadline)
        self._take(head_bytes, deadline)
        payload = self._take(size, deadline)
        if is_deflated:
            self.deflated_messages += 1
            stream = zlib.decompressobj(-self.window_bits)
            payload = stream.decompress(payload + _DEFLATE_TAIL)
        return opcode, payload, fin

    def next_text(self, timeout=5):
        """The next whole text message; answers pings, raises Closed on a Close frame."""
        deadline = time.monotonic() + timeout
        while True:
            opcode, payload, fin = self.next_frame(max(0.0, deadline - time.monotonic()))
            if opcode == PING:
                self.pings += 1
                if self.auto_pong:
                    self._try_send(encode_frame(PONG, payload))
            elif opcode == CLOSE:
                self._on_close(payload)
            elif opcode in (TEXT, CONTINUATION):
                if (opcode == CONTINUATION) != (self._fragments is not None):
                    raise Violation("fragment out of order")
                self._fragments = (self._fragments or b"") + payload
                if fin:
                    text, self._fragments = self._fragments, None
                    return text.decode("utf-8")
            elif opcode != PONG:
                raise Violation(f"frame with opcode {opcode} from the relay")

    def _on_close(self, payload):
        code, reason = 1005, ""
        if len(payload) >= 2:
            code = struct.unpack(">H", payload[:2])[0]
            reason = payload[2:].decode("utf-8")
        elif payload:
            raise Violation("Close with a payload of one byte")
        self._try_send(encode_frame(CLOSE, payload[:2]))
        raise Closed(code, reason)

    def _try_send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass

    def recv_any(self, timeout=5):
        """The next message, AUTH included, as a list."""
        if self._backlog:
            return self._backlog.popleft()
        message = json.loads(self.next_text(timeout))
        if not isinstance(message, list) or not message:
            raise Violation(f"not an array: {message!r}")
        if message[0] == "AUTH":
            self.challenge = message[1]
            self.challenges.append(message[1])
        return message

    def recv(self, timeout=5):
        """The next message that is not AUTH, which a relay may send at any time."""
        deadline = time.monotonic() + timeout
        while True:
            message = self.recv_any(max(0.0, deadline - time.monotonic()))
            if message[0] != "AUTH":
                return message

    def unread(self, message):
        self._backlog.append(message)

    # Closing.

    def wait_closed(self, timeout=5):
        """Reads to the end of the TCP stream; the code of the Close frame, None without one."""
        deadline = time.monotonic() + timeout
        code = None
        while True:
            try:
                self.next_text(max(0.0, deadline - time.monotonic()))
            except Closed as closed:
                if closed.code is None:
                    return code
                code = closed.code

    def close(self):
        self.socket.close()

    def reset(self):
        """Ends the connection by RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()
