#!/usr/bin/env python3
"""T-14: a subscriber that stops reading is dropped at a bound and harms nobody."""

import threading
import time

from harness import Suite, check, check_equal, make_event
from websocket import Closed

suite = Suite(shards=(2,), workers=1)

MIB = 1 << 20


def counting_reader(client, subscription, wanted, counts):
    """Reads until `wanted` events have come; their number goes to counts[client]."""
    seen = 0
    try:
        while seen < wanted:
            message = client.recv(20)
            seen += message[0] == "EVENT" and message[1] == subscription
    except (TimeoutError, Closed):
        pass
    counts[client] = seen


@suite.case("T-14 dropped at the bound, memory bounded, others see every event", alone=True)
def slow_reader(t):
    relay = t.own_relay({"limits.send_queue_bytes": 2 * MIB})
    keys = t.keys(4)
    wanted = {"authors": [key.pubkey for key in keys]}
    slow = t.connect(relay, receive_buffer=4096)
    slow.stored("pond", wanted)
    fast = [t.connect(relay) for _ in range(3)]
    for client in fast:
        client.stored("pond", wanted)
    writer = t.connect(relay)
    writer.fence()
    count = 12_000
    events = [make_event(keys[n % 4], 20001, content=f"{n:06}" + "x" * 2000) for n in range(count)]
    rss_before, counts = relay.rss_bytes(), {}
    readers = [
        threading.Thread(target=counting_reader, args=(client, "pond", count, counts))
        for client in fast
    ]
    for reader in readers:
        reader.start()
    rss_peak, longest_s = 0, 0
    for first in range(0, count, 50):
        started = time.monotonic()
        writer.accept(*events[first : first + 50])
        longest_s = max(longest_s, time.monotonic() - started)
        if first % 1000 == 0:
            rss_peak = max(rss_peak, relay.rss_bytes())
    for reader in readers:
        reader.join()
    check_equal([counts[client] for client in fast], [count] * 3, "events at the others")
    check(longest_s < 3, f"a batch of 50 waited {longest_s:.1f} s for its answers")
    # About 26 MB were addressed to the slow one; its queue may hold 2 MiB and one message.
    check(rss_peak - rss_before < 24 * MIB, f"RSS rose by {(rss_peak - rss_before) >> 20} MiB")
    received = 0
    try:
        while True:
            received += slow.recv(5)[0] == "EVENT"
    except Closed as closed:
        check(closed.code in (1008, None), f"dropped with {closed.code}, right is 1008 or RST")
    except TimeoutError:
        check(False, "the slow reader is still connected")
    check(received < count, "the slow reader got everything")


@suite.case("T-14 a reader that stops within stored results costs no memory and no time")
def slow_scan(t):
    relay = t.own_relay({"limits.send_queue_bytes": MIB, "limits.filter_limit_max": 10000})
    key = t.key()
    writer = t.connect(relay)
    events = [
        make_event(key, content="y" * 8000, created_at=1767225600 + n) for n in range(3000)
    ]
    for first in range(0, len(events), 100):
        writer.accept(*events[first : first + 100])
    before = relay.rss_bytes()
    stopped = [t.connect(relay, receive_buffer=4096) for _ in range(20)]
    for client in stopped:
        client.send("REQ", "s", {"authors": [key.pubkey], "limit": 10000})
    time.sleep(1.0)
    started = time.monotonic()
    check_equal(len(writer.query({"authors": [key.pubkey], "limit": 50})), 50, "another's query")
    check(time.monotonic() - started < 1, "another's query waited")
    rise = relay.rss_bytes() - before
    # 20 readers times 24 MB are asked for.
    check(rise < 100 * MIB, f"RSS rose by {rise >> 20} MiB")
    # The first of them wakes up: its results go on where they stopped, complete.
    found, _ = stopped[0].await_stored("s", 30)
    check_equal(len(found), 3000, "events of a reader that paused")




if __name__ == "__main__":
    suite.main()
