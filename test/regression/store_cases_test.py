#!/usr/bin/env python3
"""What goes wrong over time in the stores of relays that people run: files that only ever grow.

Each case is a fault reported in public of some relay, cut down to a small input.
"""

import os
import sys

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


if __name__ == "__main__":
    suite.main()
