"""What every black-box test shares: events, a Nostr client, expectations and the runner.

A test file makes a Suite, registers cases and calls `main`. Each case gets a Context; relays that
a case shares with others are made by `context.relay(settings)`, one for each set of settings and
shard count, so a case filters on keys of its own. Output: `ok NAME` or `not ok NAME - why` for
each case, then `N passed, M failed`.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import itertools
import json
import re
import sys
import threading
import time
import traceback

from bip340 import Key
from relay import DEFAULT_GYRE, RELAY_URL, Relay, raise_file_limit
from websocket import Closed, WebSocket

UNKNOWN_ID = "00" * 32
MEMBERS = ("id", "pubkey", "created_at", "kind", "tags", "content", "sig")
REASON = re.compile(r"[a-z-]+: .")  # NIP-01: OK false and CLOSED carry a word and a text.
BASE_TIME = 1767225600  # 2026-01-01, as in the vectors.


class Failure(AssertionError):
    """A case went wrong; the text says what was sent, what came and what is right."""


def check(condition, text):
    if not condition:
        raise Failure(text)


def check_equal(actual, expected, what):
    if actual != expected:
        raise Failure(f"{what}: got {brief(actual)}, right is {brief(expected)}")


def brief(value, length_max=400):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= length_max else text[:length_max] + "…"


# Events.


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def event_id(event):
    """The id that the event's other members give (NIP-01)."""
    listed = [0] + [event[name] for name in MEMBERS[1:6]]
    return hashlib.sha256(compact(listed).encode()).hexdigest()


def make_event(key, kind=1, tags=(), content="", created_at=BASE_TIME):
    event = {
        "pubkey": key.pubkey,
        "created_at": created_at,
        "kind": kind,
        "tags": [list(tag) for tag in tags],
        "content": content,
    }
    identifier = event_id(event)
    return {"id": identifier, **event, "sig": key.sign(bytes.fromhex(identifier))}


def raw_event(key, created_at="1767225600", kind="1", tags="[]", content='""', preimage=None):
    """JSON text of an event whose values are spelled as given, with the id made over just that.

    Returns (id, text). `preimage` overrides the text that is hashed.
    """
    hashed = preimage or f'[0,"{key.pubkey}",{created_at},{kind},{tags},{content}]'
    identifier = hashlib.sha256(hashed.encode()).hexdigest()
    sig = key.sign(bytes.fromhex(identifier))
    text = (
        f'{{"id":"{identifier}","pubkey":"{key.pubkey}","created_at":{created_at},"kind":{kind},'
        f'"tags":{tags},"content":{content},"sig":"{sig}"}}'
    )
    return identifier, text


def newest_first(events):
    """The order of NIP-01: created_at descending, then id ascending."""
    return sorted(events, key=lambda event: (-event["created_at"], event["id"]))


# Expectations (test/vectors/README.md).


def matches(expected, actual):
    """Whether `actual` meets `expected`, in which "*" and "word:*" are wild and objects open."""
    if isinstance(expected, str) and expected == "*":
        return True
    if isinstance(expected, str) and expected.endswith(":*"):
        return isinstance(actual, str) and actual.startswith(expected[:-1])
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            name in actual and matches(value, actual[name]) for name, value in expected.items()
        )
    if isinstance(expected, list):
        if not isinstance(actual, list):
            return False
        if expected[:1] == ["EOSE"] and len(expected) == 2 and len(actual) == 3:
            actual = actual[:2]
        return len(expected) == len(actual) and all(map(matches, expected, actual))
    return type(expected) is type(actual) and expected == actual


class Client(WebSocket):
    """A WebSocket that speaks NIP-01. Messages that a call does not wait for stay queued."""

    def __init__(self, relay, **options):
        super().__init__(relay.address, **options)
        self.relay = relay
        self._numbers = itertools.count()

    def await_message(self, wanted, timeout=10):
        """The first message for which `wanted` holds; others are kept for later, in order."""
        deadline = time.monotonic() + timeout
        kept = []
        try:
            while True:
                message = self.recv(max(0.0, deadline - time.monotonic()))
                if wanted(message):
                    return message
                kept.append(message)
        except TimeoutError as error:
            raise Failure(f"no answer in {timeout} s; came instead: {brief(kept)}") from error
        finally:
            self._backlog = collections.deque(kept + list(self._backlog))

    def publish(self, event, timeout=10):
        """Sends an EVENT; its (accepted, text)."""
        self.send("EVENT", event)
        return self.await_ok(event["id"], timeout)

    def await_ok(self, identifier, timeout=10):
        message = self.await_message(lambda m: m[0] == "OK" and m[1] == identifier, timeout)
        check(len(message) == 4, f"OK without four elements: {brief(message)}")
        check(isinstance(message[2], bool) and isinstance(message[3], str), brief(message))
        check(message[2] or REASON.match(message[3]), f"OK false without a word: {brief(message)}")
        return message[2], message[3]

    def accept(self, *events):
        """Publishes events that must be accepted."""
        self.send_all([["EVENT", event] for event in events])
        for event in events:
            accepted, text = self.await_ok(event["id"], 30)
            check(accepted, f"refused, right is OK true: {text!r} for {brief(event)}")

    def refuse(self, event, prefix):
        """Publishes an event that must be refused with this word; the text."""
        accepted, text = self.publish(event)
        check(not accepted, f"accepted, right is OK false {prefix}: {brief(event)}")
        check(text.startswith(prefix + ": "), f"refused with {text!r}, right is {prefix}:")
        return text

    def stored(self, subscription, *filters, timeout=15):
        """Opens a subscription; (events up to EOSE, EOSE). CLOSED is a failure."""
        self.send("REQ", subscription, *filters)
        return self.await_stored(subscription, timeout)

    def await_stored(self, subscription, timeout=15):
        events = []
        while True:
            message = self.await_message(
                lambda m: m[0] in ("EVENT", "EOSE", "CLOSED") and m[1] == subscription, timeout
            )
            if message[0] == "EOSE":
                return events, message
            check(message[0] == "EVENT", f"instead of EVENT or EOSE: {brief(message)}")
            check_equal(len(message), 3, "elements of EVENT")
            events.append(message[2])

    def query(self, *filters, timeout=15):
        """Stored events of a subscription that is closed again."""
        subscription = f"query {next(self._numbers)}"
        events, _ = self.stored(subscription, *filters, timeout=timeout)
        self.send("CLOSE", subscription)
        return events

    def query_ids(self, *filters):
        return [event["id"] for event in self.query(*filters)]

    def count(self, *filters):
        query = f"count {next(self._numbers)}"
        self.send("COUNT", query, *filters)
        message = self.await_message(lambda m: m[0] in ("COUNT", "CLOSED") and m[1] == query)
        check(message[0] == "COUNT", f"instead of COUNT: {brief(message)}")
        return message[2]["count"]

    def closed(self, command, subscription, *filters):
        """Sends a REQ or COUNT that must be answered by CLOSED; its text."""
        self.send(command, subscription, *filters)
        message = self.await_message(lambda m: m[0] != "OK" and m[1] == subscription)
        check(
            message[0] == "CLOSED" and len(message) == 3 and REASON.match(message[2]),
            f"{command} {brief(filters)} answered by {brief(message)}, right is CLOSED word: text",
        )
        return message[2]

    def refuse_filter(self, prefix, *filters, command="REQ"):
        """A REQ or COUNT with these filters must be answered by CLOSED with this word."""
        text = self.closed(command, f"bad {next(self._numbers)}", *filters)
        check(text.startswith(prefix + ": "), f"{brief(filters)}: {text!r}, right is {prefix}:")

    def notice(self, text):
        """Sends this text, which must be answered by a NOTICE and nothing else."""
        self.send_text(text)
        self.expect(["NOTICE", "*"])
        self.send("REQ", "after notice", {"ids": [UNKNOWN_ID]})
        self.expect(["EOSE", "after notice"])
        self.send("CLOSE", "after notice")

    def live(self, subscription, timeout=5):
        """The next EVENT of a subscription that is past EOSE."""
        message = self.await_message(lambda m: m[1] == subscription, timeout)
        check(message[0] == "EVENT", f"instead of a live EVENT: {brief(message)}")
        return message[2]

    def expect(self, *expected, timeout=5):
        """Exactly these messages arrive next, in this order."""
        for wanted in expected:
            try:
                message = self.recv(timeout)
            except (TimeoutError, Closed) as error:
                raise Failure(f"{error!r} while waiting for {brief(wanted)}") from error
            check(matches(wanted, message), f"got {brief(message)}, right is {brief(wanted)}")

    def silent(self, seconds=0.25):
        """Nothing arrives."""
        try:
            message = self.recv(seconds)
        except TimeoutError:
            return
        raise Failure(f"got {brief(message)}, right is silence")

    def fence(self):
        """Waits until everything sent before has been handled; keeps what arrives."""
        subscription = f"fence {next(self._numbers)}"
        self.stored(subscription, {"ids": [UNKNOWN_ID]})
        self.send("CLOSE", subscription)

    # NIP-42.

    def await_challenge(self, timeout=5):
        deadline = time.monotonic() + timeout
        kept = []
        while self.challenge is None:
            message = self.recv_any(max(0.0, deadline - time.monotonic()))
            if message[0] != "AUTH":
                kept.append(message)
        self._backlog.extendleft(reversed(kept))
        return self.challenge

    def auth_event(self, key, relay=RELAY_URL, challenge=None, kind=22242, age_s=0, tags=None):
        if tags is None:
            tags = [["relay", relay], ["challenge", challenge or self.await_challenge()]]
        return make_event(key, kind, tags, "", int(time.time()) - age_s)

    def try_login(self, key, **options):
        event = self.auth_event(key, **options)
        self.send("AUTH", event)
        return self.await_ok(event["id"])

    def login(self, key, **options):
        accepted, text = self.try_login(key, **options)
        check(accepted, f"login refused: {text!r}")


# Running.


class Context:
    """What a case works with. Clients and own relays end with the case."""

    def __init__(self, suite, shards):
        self._suite = suite
        self.shards = shards
        self.gyre = suite.gyre
        self._open = []

    def relay(self, settings=None):
        """A relay shared by all cases of the suite that want these settings."""
        return self._suite.shared_relay(self.shards, settings or {})

    def own_relay(self, settings=None, **options):
        relay = Relay(self.gyre, self.shards, settings, **options)
        self._open.append(relay)
        return relay

    def connect(self, relay, **options):
        client = Client(relay, **options)
        self._open.append(client)
        return client

    def restart(self, relay, graceful=True):
        """Restarts a relay of one's own. Its clients are closed first: a drain waits for them."""
        for thing in self._open:
            if isinstance(thing, Client) and thing.relay is relay:
                thing.close()
        relay.restart(graceful)

    def key(self):
        """A key that no other case uses."""
        return Key.numbered(next(self._suite.key_numbers))

    def keys(self, count):
        return [self.key() for _ in range(count)]

    def close(self):
        for thing in reversed(self._open):
            thing.close()


class Suite:
    def __init__(self, shards=(2,), workers=4):
        self._cases = []
        self._shards_default = shards
        self._workers_default = workers
        self._shared = {}
        self._lock = threading.Lock()
        self._print_lock = threading.Lock()
        self.key_numbers = itertools.count(1)
        self.passed = 0
        self.failed = 0

    def case(self, name, alone=False):
        """Registers a case. `alone`: no other case runs beside it, for what measures."""

        def register(function):
            self._cases.append((name, function, alone))
            return function

        return register

    def shared_relay(self, shards, settings):
        key = (shards, json.dumps(settings, sort_keys=True))
        with self._lock:
            relay = self._shared.get(key)
            if relay is None or not relay.is_running():
                if relay is not None:
                    relay.close()
                relay = self._shared[key] = Relay(self.gyre, shards, settings)
            return relay

    def report(self, name, why=None):
        with self._print_lock:
            if why is None:
                self.passed += 1
                print(f"ok {name}", flush=True)
            else:
                self.failed += 1
                why = why.replace("\n", " ")
                print(f"not ok {name} - {why}", flush=True)

    def _run(self, name, function, shards):
        full_name = f"{name} [{shards} shard{'s' if shards > 1 else ''}]"
        context = Context(self, shards)
        started = time.monotonic()
        try:
            function(context)
            why = None
        except Failure as failure:
            why = str(failure)
        except Exception as error:  # A relay that died or hung shows as any kind of error.
            place = traceback.extract_tb(error.__traceback__)[-1]
            why = f"{type(error).__name__}: {error} at {place.name}:{place.lineno}"
        finally:
            context.close()
        if self.show_times:
            full_name += f" ({time.monotonic() - started:.1f} s)"
        self.report(full_name, why)

    def parse(self, arguments=None, extend=None):
        parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
        parser.add_argument("--gyre", default=DEFAULT_GYRE, help="the relay's binary")
        parser.add_argument(
            "--shards", default=",".join(map(str, self._shards_default)), help="such as 1,2,4"
        )
        parser.add_argument("--only", default="", help="cases whose name has this text")
        parser.add_argument("--jobs", type=int, default=self._workers_default)
        parser.add_argument("--times", action="store_true", help="show how long each case took")
        if extend:
            extend(parser)
        options = parser.parse_args(arguments)
        self.gyre = options.gyre
        self.show_times = options.times
        raise_file_limit()
        return options

    def main(self):
        options = self.parse()
        for shards in map(int, options.shards.split(",")):
            chosen = [case for case in self._cases if options.only in case[0]]
            try:
                with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                    for name, function, alone in chosen:
                        if not alone:
                            pool.submit(self._run, name, function, shards)
                for name, function, alone in chosen:
                    if alone:
                        self._run(name, function, shards)
            finally:
                self._close_shared()
        self.finish()

    def _close_shared(self):
        for relay in self._shared.values():
            if not relay.is_running():
                self.report("relay stays up", f"a shared relay ended: {relay.log_tail()}")
            relay.close()
        self._shared.clear()

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        sys.exit(1 if self.failed else 0)
