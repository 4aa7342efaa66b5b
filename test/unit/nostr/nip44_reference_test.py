#!/usr/bin/env python3
"""The NIP-44 vectors, checked by an implementation that shares nothing with ours."""

import hashlib
import json
import sys
from pathlib import Path

import nip44_reference as reference

VECTORS = Path(__file__).resolve().parents[2] / "vectors" / "nip44.json"


def conversation_keys(vectors):
    for part in ("valid", "derived"):
        for vector in vectors[part]["get_conversation_key"]:
            made = reference.conversation_key(vector["sec1"], vector["pub2"]).hex()
            assert made == vector["conversation_key"], vector
    for vector in vectors["invalid"]["get_conversation_key"]:
        try:
            reference.conversation_key(vector["sec1"], vector["pub2"])
        except ValueError:
            continue
        raise AssertionError(vector["note"])


def message_keys(vectors):
    for vector in vectors["derived"]["get_message_keys"]:
        made = reference.message_keys(
            bytes.fromhex(vector["conversation_key"]), bytes.fromhex(vector["nonce"])
        )
        names = ("chacha_key", "chacha_nonce", "hmac_key")
        assert [part.hex() for part in made] == [vector[name] for name in names], vector


def padded_lengths(vectors):
    for length, padded in vectors["valid"]["calc_padded_len"]:
        assert reference.padded_length(length) == padded, length


def payloads(vectors):
    for vector in vectors["valid"]["encrypt_decrypt"]:
        public = reference.public_key(vector["sec2"])
        key = reference.conversation_key(vector["sec1"], public)
        assert key.hex() == vector["conversation_key"], vector
        text = vector["plaintext"].encode()
        assert reference.decrypt(key, vector["payload"]) == text, vector
        assert reference.encrypt(key, bytes.fromhex(vector["nonce"]), text) == vector["payload"]


def bad_payloads(vectors):
    for vector in vectors["invalid"]["decrypt"]:
        try:
            reference.decrypt(bytes.fromhex(vector["conversation_key"]), vector["payload"])
        except ValueError as error:
            assert str(error) == vector["note"], (vector, error)
            continue
        raise AssertionError(vector["note"])


def long_payloads(vectors):
    for vector in vectors["derived"]["encrypt_long"]:
        text = (vector["pattern"] * vector["repeat"]).encode()
        assert hashlib.sha256(text).hexdigest() == vector["plaintext_sha256"], vector
        key, nonce = bytes.fromhex(vector["conversation_key"]), bytes.fromhex(vector["nonce"])
        payload = reference.encrypt(key, nonce, text)
        assert hashlib.sha256(payload.encode()).hexdigest() == vector["payload_sha256"], vector


def main():
    vectors = json.loads(VECTORS.read_text())
    failed = 0
    checks = (
        conversation_keys, message_keys, padded_lengths, payloads, bad_payloads, long_payloads
    )
    for check in checks:
        name = f"nip44 {check.__name__}"
        try:
            check(vectors)
            print(f"ok {name}")
        except (AssertionError, KeyError, ValueError) as error:
            failed += 1
            print(f"not ok {name} - {error!r}")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
