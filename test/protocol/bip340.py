"""BIP-340 signatures in plain Python, fast enough to sign a few thousand events a second.

The suite must not lean on the library that the relay verifies with, so signing is done here.
Multiples of the generator come from a table with one row for each byte of the scalar: a product
costs 31 additions and one inversion.
"""

import hashlib

FIELD = 2**256 - 2**32 - 977
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
GENERATOR = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)


def _double(point):
    x, y, z = point
    y2 = y * y % FIELD
    s = 4 * x * y2 % FIELD
    m = 3 * x * x % FIELD
    x3 = (m * m - 2 * s) % FIELD
    return x3, (m * (s - x3) - 8 * y2 * y2) % FIELD, 2 * y * z % FIELD


def _add_affine(point, affine):
    """Jacobian + affine. Neither operand equals the other or its negative: scalars differ."""
    if point is None:
        return affine[0], affine[1], 1
    x1, y1, z1 = point
    z2 = z1 * z1 % FIELD
    h = (affine[0] * z2 - x1) % FIELD
    r = (affine[1] * z2 * z1 - y1) % FIELD
    h2 = h * h % FIELD
    h3 = h * h2 % FIELD
    v = x1 * h2 % FIELD
    x3 = (r * r - h3 - 2 * v) % FIELD
    return x3, (r * (v - x3) - y1 * h3) % FIELD, z1 * h % FIELD


def _to_affine(points):
    """Jacobian points to affine ones with a single inversion (Montgomery's trick)."""
    products, running = [], 1
    for _, _, z in points:
        products.append(running)
        running = running * z % FIELD
    inverse = pow(running, -1, FIELD)
    affine = [None] * len(points)
    for index in range(len(points) - 1, -1, -1):
        x, y, z = points[index]
        z_inverse = inverse * products[index] % FIELD
        inverse = inverse * z % FIELD
        z2 = z_inverse * z_inverse % FIELD
        affine[index] = (x * z2 % FIELD, y * z2 * z_inverse % FIELD)
    return affine


def _build_table():
    rows, base = [], GENERATOR
    for _ in range(32):
        row = [(base[0], base[1], 1), _double((base[0], base[1], 1))]
        for _ in range(253):
            row.append(_add_affine(row[-1], base))
        # The next row's base is 256 times this one's.
        base_next = _add_affine(row[-1], base)
        affine = _to_affine(row + [base_next])
        rows.append(affine[:255])
        base = affine[255]
    return rows


_TABLE = _build_table()


def multiply_generator(scalar):
    """The affine point scalar * G. Requires: 0 < scalar < ORDER."""
    point = None
    for row in _TABLE:
        byte = scalar & 255
        scalar >>= 8
        if byte:
            point = _add_affine(point, row[byte - 1])
    return _to_affine([point])[0]


def tagged_hash(tag, message):
    prefix = hashlib.sha256(tag.encode()).digest()
    return hashlib.sha256(prefix + prefix + message).digest()


class Key:
    """A secret key; `pubkey` is the x-only public key in hex."""

    def __init__(self, secret):
        scalar = int.from_bytes(secret, "big") % ORDER
        x, y = multiply_generator(scalar)
        self._scalar = scalar if y % 2 == 0 else ORDER - scalar
        self._x = x.to_bytes(32, "big")
        self.pubkey = self._x.hex()

    @classmethod
    def numbered(cls, number):
        return cls(hashlib.sha256(f"gyre test key {number}".encode()).digest())

    def sign(self, message):
        """The 64-byte signature of a 32-byte message in hex; no auxiliary randomness."""
        mask = tagged_hash("BIP0340/aux", bytes(32))
        masked = (self._scalar ^ int.from_bytes(mask, "big")).to_bytes(32, "big")
        nonce = int.from_bytes(tagged_hash("BIP0340/nonce", masked + self._x + message), "big")
        nonce %= ORDER
        x, y = multiply_generator(nonce)
        if y % 2:
            nonce = ORDER - nonce
        r = x.to_bytes(32, "big")
        challenge = tagged_hash("BIP0340/challenge", r + self._x + message)
        s = (nonce + int.from_bytes(challenge, "big") * self._scalar) % ORDER
        return (r + s.to_bytes(32, "big")).hex()
