#!/usr/bin/env python3
"""kill -9 under load, twenty times: what was acknowledged is there afterwards, nothing else is.

Each shard count has a store of its own that lives through all its rounds. In a round several
connections publish notes, versions of addresses and deletions as fast as they are answered, until
the relay is killed at a random moment.
"""

import os
import random
import shutil
import tempfile
import threading
import time

from bip340 import Key
from harness import BASE_TIME, Client, Failure, Suite, brief, check, check_equal, make_event
from relay import Relay
from websocket import Closed

# Small, so that segments, tables and checkpoints change within a round.
SETTINGS = {
    "limits.message_bytes": 1 << 20,
    "store.segment_bytes": 4 << 20,
    "store.table_postings_max": 4000,
    "limits.filter_limit_max": 10000,
}
PUBLISHERS = 8
EVENTS_EACH = 500
WINDOW = 64


class Publisher:
    """One author on one connection: what it sent, in order, and what came back."""

    def __init__(self, key, chance):
        self.key = key
        self.events = self._make_events(chance)
        self.sent = 0
        self.acknowledged = set()
        self.refused = {}

    def _make_events(self, chance):
        events, notes = [], []
        for n in range(EVENTS_EACH):
            created_at = BASE_TIME + n
            draw = chance.random()
            if draw < 0.08:
                event = make_event(self.key, 10002, [["r", f"wss://{n}"]], "", created_at)
            elif draw < 0.2:
                d = str(chance.randrange(3))
                event = make_event(self.key, 30023, [["d", d]], f"version {n}", created_at)
            elif draw < 0.26 and notes:
                # Of an earlier event on the same connection, so it is stored by then.
                tags = [["e", notes.pop(chance.randrange(len(notes)))["id"]]]
                event = make_event(self.key, 5, tags, "", created_at)
            else:
                text = f"note {n} " + "é\n" * chance.randrange(400)
                event = make_event(self.key, 1, [["t", "kill"]], text, created_at)
                notes.append(event)
            events.append(event)
        return events

    def run(self, relay):
        try:
            client = Client(relay)
            while len(self.acknowledged) + len(self.refused) < len(self.events):
                answered = len(self.acknowledged) + len(self.refused)
                until = min(answered + WINDOW, len(self.events))
                first, self.sent = self.sent, until
                client.send_all([["EVENT", event] for event in self.events[first:until]])
                while len(self.acknowledged) + len(self.refused) < until - WINDOW // 2:
                    self._take(client.recv(20))
                if until == len(self.events):
                    self._take(client.recv(20))
        except (Closed, OSError):
            pass

    def _take(self, message):
        if message[0] == "OK" and message[2]:
            self.acknowledged.add(message[1])
        elif message[0] == "OK":
            self.refused[message[1]] = message[3]

    def verify(self, client):
        """Compares what the relay holds after recovery with what was promised."""
        check_equal(self.refused, {}, "events refused before the kill")
        found = {}
        for event in self._everything(client):
            check(event["id"] not in found, f"served twice: {event['id']}")
            found[event["id"]] = event
        sent = {event["id"]: event for event in self.events[: self.sent]}
        for identifier, event in found.items():
            check(identifier in sent, f"invented: {brief(event)}")
            check_equal(event, sent[identifier], "event after recovery")
        self._verify_notes(found)
        self._verify_addresses(found)
        self._verify_refusals(client)
        return found

    def _everything(self, client):
        return client.query({"authors": [self.key.pubkey], "limit": 10000}, timeout=30)

    def _deletions(self):
        for event in self.events[: self.sent]:
            if event["kind"] == 5:
                yield event, event["tags"][0][1]

    def _verify_notes(self, found):
        maybe_deleted = {target for _, target in self._deletions()}
        for event in self.events[: self.sent]:
            if event["kind"] in (1, 5) and event["id"] in self.acknowledged:
                if event["id"] not in maybe_deleted:
                    check(event["id"] in found, f"acknowledged and lost: {brief(event)}")
        for deletion, target in self._deletions():
            if deletion["id"] in self.acknowledged or deletion["id"] in found:
                check(target not in found, f"deleted and served: {target}")

    def _verify_addresses(self, found):
        newest, present = {}, {}
        for event in self.events[: self.sent]:
            if event["kind"] in (10002, 30023):
                address = (event["kind"], event["tags"][0][1] if event["kind"] == 30023 else "")
                if event["id"] in self.acknowledged:
                    newest[address] = event["created_at"]
                if event["id"] in found:
                    check(address not in present, f"two versions of {address}")
                    present[address] = event["created_at"]
        for address, created_at in newest.items():
            check(address in present, f"every version of {address} is lost")
            check(present[address] >= created_at, f"{address} is older than acknowledged")

    def _verify_refusals(self, client):
        maybe_deleted = {target for _, target in self._deletions()}
        deleted = {
            target for event, target in self._deletions() if event["id"] in self.acknowledged
        }
        for event in self.events:
            if event["id"] in deleted:
                client.refuse(event, "blocked")
        for event in self.events[: self.sent : 40]:
            if event["id"] in self.acknowledged and event["kind"] == 1:
                accepted, text = client.publish(event)
                is_duplicate = accepted and text.startswith("duplicate: ")
                maybe = event["id"] in maybe_deleted
                check(maybe or is_duplicate, f"sent again: {accepted} {text!r}")


class History:
    """The rounds on one store: what each author held after its round must stay as it was."""

    def __init__(self, shards, folder):
        self.shards = shards
        self.store = os.path.join(folder, f"store-{shards}")
        self.held = {}

    def round(self, gyre, number, chance):
        keys = [Key.numbered(f"kill {number} {n}") for n in range(PUBLISHERS)]
        publishers = [Publisher(key, chance) for key in keys]
        relay = Relay(gyre, self.shards, SETTINGS, store=self.store)
        try:
            threads = [threading.Thread(target=one.run, args=(relay,)) for one in publishers]
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0.05, 0.4))
            relay.kill()
            for thread in threads:
                thread.join()
            relay.start()
            client = Client(relay)
            for publisher in publishers:
                found = publisher.verify(client)
                self.held[publisher.key.pubkey] = len(found)
            self._verify_earlier(client)
            client.close()
            # Half of the rounds end without a clean checkpoint as well.
            if chance.random() < 0.5:
                relay.kill()
        finally:
            relay.close()
        return sum(len(publisher.acknowledged) for publisher in publishers)

    def _verify_earlier(self, client):
        for pubkey, count in self.held.items():
            check_equal(client.count({"authors": [pubkey]}), count, f"events of {pubkey}")


def main():
    suite = Suite()

    def extend(parser):
        parser.add_argument("--rounds", type=int, default=20)
        parser.add_argument("--seed", type=int, default=1)

    options = suite.parse(extend=extend)
    chance = random.Random(options.seed)
    folder = tempfile.mkdtemp(prefix="gyre-kill-")
    histories = [History(shards, folder) for shards in (1, 2, 4)]
    try:
        for number in range(options.rounds):
            history = histories[number % len(histories)]
            name = f"kill -9 round {number + 1} with seed {options.seed} [{history.shards} shards]"
            try:
                count = history.round(options.gyre, number, chance)
                suite.report(f"{name}: {count} acknowledged events")
            except Failure as failure:
                suite.report(name, str(failure))
            except Exception as error:
                suite.report(name, f"{type(error).__name__}: {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    suite.finish()


if __name__ == "__main__":
    main()
