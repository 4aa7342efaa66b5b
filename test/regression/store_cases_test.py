#!/usr/bin/env python3
"""What goes wrong over time in the stores of relays that people run: files that only ever grow.

Each case is a fault reported in public of some relay, cut down to a small input.
"""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "protocol"))

from harness import BASE_TIME, Suite, check, check_equal, make_event

suite = Suite(shards=(1,), workers=2)

MIB = 1 << 20
# The smallest files that the relay allows, and checkpoints every hundred events or so.
SMALL = {
    "store.segment_bytes": 4 * MIB,
    "store.table_postings_max": 1000,
}


def publish_all(client, events, batch=50):
    for first in range(0, len(events), batch):
        client.accept(*events[first : first + batch])


def settled_bytes(relay, below, seconds=20):
    """The store's size once it has come below this, or after the time."""
    deadline = time.monotonic() + seconds
    while True:
        size = relay.store_bytes()
        if size < below or time.monotonic() > deadline:
            return size
        time.sleep(0.1)


@suite.case("CL-039 endless replacement of one address levels off", alone=True)
def endless_replacement(t):
    relay = t.own_relay(SMALL)
    key = t.key()
    query = {"kinds": [30078], "authors": [key.pubkey]}
    reader, writer = t.connect(relay), t.connect(relay)
    reader.stored("live", query)
    rounds, versions = 12, 500
    sizes, memory = [], []
    for number in range(rounds):
        events = [
            make_event(
                key,
                kind=30078,
                tags=[["d", "n"], ["t", "tick"]],
                content=f"{number}-{n} " + "x" * 8000,
                created_at=BASE_TIME + number * versions + n,
            )
            for n in range(versions)
        ]
        publish_all(writer, events)
        for event in events:
            check_equal(reader.live("live", 20)["id"], event["id"], "event at the live reader")
        sizes.append(relay.store_bytes())
        memory.append(relay.anonymous_bytes())
    written = rounds * versions * 8500
    plateau = max(sizes[rounds // 3 :])
    check(plateau < written / 2, f"{plateau >> 20} MiB on disk of {written >> 20} MiB written")
    half = max(sizes[rounds // 3 : 2 * rounds // 3])
    later = max(sizes[2 * rounds // 3 :])
    check(later < half + 9 * MIB, f"it goes on growing: {[size >> 20 for size in sizes]} MiB")
    check(memory[-1] < memory[rounds // 3] + 32 * MIB, f"memory: {[m >> 20 for m in memory]} MiB")
    for attempt in range(2):
        check_equal(writer.query_ids(query), [events[-1]["id"]], "what is stored")
        check_equal(writer.count(query), 1, "COUNT")
        if attempt == 0:
            t.restart(relay, graceful=False)
            writer = t.connect(relay)


@suite.case("CL-039 what retention takes away comes back as space", alone=True)
def retention_gives_space_back(t):
    settings = dict(SMALL)
    relay = t.own_relay(settings)
    keys = t.keys(4)
    now = int(time.time())
    day = 24 * 3600

    def notes(count, created_at):
        return [
            make_event(keys[n % 4], content=f"{n} " + "x" * 8000, created_at=created_at + n)
            for n in range(count)
        ]

    old, young = notes(2700, now - 40 * day), notes(300, now - 10 * day)
    deletion = make_event(keys[0], kind=5, tags=[["e", "0" * 64]], created_at=now - 50 * day)
    client = t.connect(relay)
    publish_all(client, old + young + [deletion])
    peak = relay.store_bytes()
    check(peak > 24 * MIB, "a store worth to be emptied")

    relay.settings["store.retention.max_age"] = "30d"
    relay.settings["store.expiry_sweep_s"] = 1
    t.restart(relay)
    client = t.connect(relay)
    size = settled_bytes(relay, peak / 2)
    check(size < peak / 2, f"{size >> 20} MiB of {peak >> 20} MiB are still taken")
    check_equal(client.count({"kinds": [1]}), len(young), "notes that are young enough")
    check_equal(client.query_ids({"kinds": [5]}), [deletion["id"]], "the deletion stays")
    client.refuse(old[0], "blocked")
    limitation = relay.information()["limitation"]
    check_equal(limitation["created_at_lower_limit"], 30 * day, "created_at_lower_limit")

    publish_all(client, notes(2000, now - 5 * day))
    size = settled_bytes(relay, peak)
    check(size < peak, f"refilled, it takes {size >> 20} MiB, more than the {peak >> 20} before")


@suite.case("CL-039 an offline store gives everything back", alone=True)
def offline_compaction(t):
    relay = t.own_relay({**SMALL, "store.compact_dead_percent": 100})
    key = t.key()
    events = [
        make_event(key, kind=10002, content=f"{n} " + "x" * 8000, created_at=BASE_TIME + n)
        for n in range(1000)
    ]
    client = t.connect(relay)
    publish_all(client, events)
    client.close()
    before = relay.store_bytes()
    relay.terminate()
    command = [relay.gyre, "compact", "--store", relay.store]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    check_equal(done.returncode, 0, f"exit code ({done.stderr})")
    check("MiB after" in done.stdout, f"it says what it gave back: {done.stdout}")
    after = relay.store_bytes()
    check(after < before / 2, f"{after >> 10} KiB of {before >> 10} KiB are still taken")
    relay.start()
    client = t.connect(relay)
    check_equal(client.query_ids({"kinds": [10002]}), [events[-1]["id"]], "what is stored")
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60)
    check_equal(refused.returncode, 1, "exit code while a relay has the store")
    check("lock" in refused.stderr, f"it says why: {refused.stderr}")


if __name__ == "__main__":
    suite.main()
