"""NIP-44 version 2 step by step in plain Python, for checking the vectors: slow and simple.

Shares nothing with what it checks: no code, and no library but Python's own.
"""

import base64
import hashlib
import hmac
import struct

FIELD = 2**256 - 2**32 - 977
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
GENERATOR = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def add(p, q):
    """Sum of two affine points; None is the point at infinity."""
    if p is None:
        return q
    if q is None:
        return p
    if p[0] == q[0]:
        if (p[1] + q[1]) % FIELD == 0:
            return None
        slope = 3 * p[0] * p[0] * pow(2 * p[1], -1, FIELD) % FIELD
    else:
        slope = (q[1] - p[1]) * pow(q[0] - p[0], -1, FIELD) % FIELD
    x = (slope * slope - p[0] - q[0]) % FIELD
    return x, (slope * (p[0] - x) - p[1]) % FIELD


def multiply(scalar, point):
    result = None
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def lift_x(x):
    """The point with this x and an even y. ValueError if there is none."""
    if not 0 < x < FIELD:
        raise ValueError("not a field element")
    square = (pow(x, 3, FIELD) + 7) % FIELD
    y = pow(square, (FIELD + 1) // 4, FIELD)
    if y * y % FIELD != square:
        raise ValueError("not on the curve")
    return x, y if y % 2 == 0 else FIELD - y


def public_key(secret):
    return multiply(int(secret, 16), GENERATOR)[0].to_bytes(32, "big").hex()


def shared_x(secret, public):
    scalar = int(secret, 16)
    if not 0 < scalar < ORDER:
        raise ValueError("not a secret key")
    return multiply(scalar, lift_x(int(public, 16)))[0].to_bytes(32, "big")


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def conversation_key(secret, public):
    return mac(b"nip44-v2", shared_x(secret, public))


def message_keys(key, nonce):
    """HKDF-expand to 76 bytes: ChaCha20 key, ChaCha20 nonce, HMAC key."""
    out, block = b"", b""
    for counter in range(1, 4):
        block = mac(key, block + nonce + bytes([counter]))
        out += block
    return out[:32], out[32:44], out[44:76]


def _rotate(value, bits):
    return (value << bits | value >> 32 - bits) & 0xFFFFFFFF


def _quarter_round(s, a, b, c, d):
    for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = (s[x] + s[y]) & 0xFFFFFFFF
        s[z] = _rotate(s[z] ^ s[x], bits)


def chacha20(key, nonce, data):
    """RFC 8439, counter from 0."""
    out = bytearray()
    for counter in range((len(data) + 63) // 64):
        start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *struct.unpack("<8L", key)]
        start += [counter, *struct.unpack("<3L", nonce)]
        state = list(start)
        for _ in range(10):
            for column in range(4):
                _quarter_round(state, column, column + 4, column + 8, column + 12)
            for column in range(4):
                _quarter_round(
                    state,
                    column,
                    (column + 1) % 4 + 4,
                    (column + 2) % 4 + 8,
                    (column + 3) % 4 + 12,
                )
        stream = struct.pack("<16L", *((a + b) & 0xFFFFFFFF for a, b in zip(start, state)))
        piece = data[64 * counter : 64 * counter + 64]
        out += bytes(a ^ b for a, b in zip(piece, stream))
    return bytes(out)


def padded_length(length):
    if length <= 32:
        return 32
    power = 1
    while power < length:
        power *= 2
    chunk = max(32, power // 8)
    return chunk * ((length - 1) // chunk + 1)


def encrypt(key, nonce, text):
    if not 1 <= len(text) <= 65535:
        raise ValueError("length")
    chacha_key, chacha_nonce, hmac_key = message_keys(key, nonce)
    padded = struct.pack(">H", len(text)) + text
    padded += bytes(padded_length(len(text)) - len(text))
    ciphertext = chacha20(chacha_key, chacha_nonce, padded)
    whole = b"\x02" + nonce + ciphertext + mac(hmac_key, nonce + ciphertext)
    return base64.b64encode(whole).decode()


def decrypt(key, payload):
    """The text. ValueError that names what is wrong."""
    if not payload or payload[0] == "#":
        raise ValueError("unknown encryption version")
    if not 132 <= len(payload) <= 87472:
        raise ValueError("length")
    try:
        whole = base64.b64decode(payload.encode("ascii"), validate=True)
    except (ValueError, UnicodeError):
        raise ValueError("invalid base64") from None
    if not 99 <= len(whole) <= 65603:
        raise ValueError("length")
    if whole[0] != 2:
        raise ValueError("unknown encryption version 0")
    nonce, ciphertext, sent = whole[1:33], whole[33:-32], whole[-32:]
    chacha_key, chacha_nonce, hmac_key = message_keys(key, nonce)
    if mac(hmac_key, nonce + ciphertext) != sent:
        raise ValueError("invalid MAC")
    padded = chacha20(chacha_key, chacha_nonce, ciphertext)
    length = struct.unpack(">H", padded[:2])[0]
    if length == 0 or len(padded) != 2 + padded_length(length):
        raise ValueError("invalid padding")
    return padded[2 : 2 + length]
