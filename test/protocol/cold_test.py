#!/usr/bin/env python3
"""Events that are not in memory: right answers, and no page fault that stops a shard's loop.

The relay keeps as little of its log in memory as it can be told to, and the page cache forgets the
store before it starts, so nearly every event that is asked for has to come from the disk.
"""

import os
import signal
import threading
import time

from harness import BASE_TIME, Suite, check, check_equal, make_event, newest_first

suite = Suite(shards=(1, 2), workers=1)

# Small tables, so that little of the log is read again at start, and what is older is not mapped.
SETTINGS = {
    "limits.message_bytes": 1 << 20,
    "limits.filter_limit_max": 5000,
    "store.segment_bytes": 4 << 20,
    "store.table_postings_max": 1000,
    "store.resident_bytes": 1,
}
AUTHORS = 12
NOTES_EACH = 150


def publish_all(client, events, batch=100):
    for first in range(0, len(events), batch):
        client.accept(*events[first : first + batch])


def make_notes(t):
    """By author, newest first; most short, some of many pages."""
    notes = {}
    for key in t.keys(AUTHORS):
        notes[key.pubkey] = newest_first(
            make_event(
                key,
                1,
                [["t", f"tag{n % 10}"]],
                f"note {n} " + "x" * (60_000 if n % 50 == 7 else 800 + 13 * n),
                BASE_TIME + n,
            )
            for n in range(NOTES_EACH)
        )
    return notes


def log_files(store):
    return sorted(
        os.path.join(folder, name)
        for folder, _, names in os.walk(store)
        for name in names
        if name.endswith(".seg")
    )


def forget(store):
    """Lets the page cache forget the store's files. Requires: no process maps them."""
    for folder, _, names in os.walk(store):
        for name in names:
            file = os.open(os.path.join(folder, name), os.O_RDONLY)
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def fill(t, relay, events):
    """Publishes the events and leaves, for a relay that stops waits for its clients."""
    client = t.connect(relay)
    publish_all(client, events)
    client.close()


def restart_cold(relay):
    check_equal(relay.terminate(), 0, "exit code")
    forget(relay.store)
    relay.start()


def shard_faults(relay):
    """Major page faults of each shard's thread so far, by thread."""
    faults = {}
    for thread in os.listdir(f"/proc/{relay.pid}/task"):
        with open(f"/proc/{relay.pid}/task/{thread}/stat", encoding="ascii") as stat:
            name, fields = stat.read().rsplit(")", 1)
        name = name.split("(", 1)[1]
        if name.startswith("gyre-") and name[5:].isdigit():
            faults[thread] = int(fields.split()[9])
    check_equal(len(faults), relay.shards, "threads of shards")
    return faults


def report(relay):
    """Records read from the disk and reads failed, of all shards, as the log says on SIGUSR1."""

    def lines():
        with open(os.path.join(relay.folder, "stderr"), encoding="utf-8") as err:
            return [line for line in err if "records read from the disk" in line]

    before = len(lines())
    relay.process.send_signal(signal.SIGUSR1)
    deadline = time.monotonic() + 5
    while len(lines()) < before + relay.shards and time.monotonic() < deadline:
        time.sleep(0.02)
    new = lines()[before:]
    check_equal(len(new), relay.shards, "lines of the report")
    read = sum(int(line.split("; ")[1].split()[0]) for line in new)
    damaged = sum(int(line.split(" records damaged")[0].rsplit(" ", 1)[1]) for line in new)
    return read, damaged


@suite.case("many scans of what is on the disk, while others publish and ask", alone=True)
def cold_scans(t):
    relay = t.own_relay(SETTINGS)
    notes = make_notes(t)
    fill(t, relay, [event for events in notes.values() for event in events])
    restart_cold(relay)

    clients = [t.connect(relay) for _ in range(8)]
    publisher = t.connect(relay)
    for client in clients + [publisher]:
        client.fence()
    # So that code that is used for the first time is not what faults.
    first_author = next(iter(notes))
    check_equal(publisher.query({"authors": [first_author]}), notes[first_author], "the first")
    faults = shard_faults(relay)
    failures = []

    def scan(client, number):
        try:
            for author in list(notes)[number::2]:
                right = notes[author]
                check_equal(client.query({"authors": [author]}), right, "all of an author")
                check_equal(client.query({"authors": [author], "limit": 3}), right[:3], "three")
                tagged = [e for e in right if ["t", "tag4"] in e["tags"]]
                found = client.query({"authors": [author], "#t": ["tag4"]})
                check_equal(found, tagged, "by tag")
                check_equal(client.query({"ids": [right[-1]["id"]]}), right[-1:], "by id")
        except Exception as error:
            failures.append(str(error))

    threads = [
        threading.Thread(target=scan, args=(client, number % 2))
        for number, client in enumerate(clients)
    ]
    for thread in threads:
        thread.start()
    key = t.key()
    fresh = []
    while any(thread.is_alive() for thread in threads) and len(fresh) < 2000:
        fresh.append(make_event(key, 1, [], f"fresh {len(fresh)}", BASE_TIME + len(fresh)))
        publisher.accept(fresh[-1])
    for thread in threads:
        thread.join(60)
    check(not failures, failures[0] if failures else "")
    check_equal(publisher.query({"authors": [key.pubkey], "limit": 5000}), newest_first(fresh), "f")
    check_equal(shard_faults(relay), faults, "major page faults of the shards")
    read, damaged = report(relay)
    check(read > AUTHORS * NOTES_EACH, f"only {read} records came from the disk")
    check_equal(damaged, 0, "damaged records")


@suite.case("what is cold is replaced, deleted and known as any other", alone=True)
def cold_rules(t):
    relay = t.own_relay(SETTINGS)
    key, other = t.keys(2)
    filler = [make_event(other, content=f"{n} " + "y" * 500) for n in range(400)]
    profile = make_event(key, 0, [], "old", BASE_TIME)
    article = make_event(key, 30023, [["d", "a"]], "old", BASE_TIME)
    twin = make_event(key, 30023, [["d", "b"]], "twin", BASE_TIME)
    note = make_event(key, 1, [], "note", BASE_TIME)
    fill(t, relay, [profile, article, twin, note] + filler)
    restart_cold(relay)
    client = t.connect(relay)
    client.fence()
    faults = shard_faults(relay)
    accepted, text = client.publish(note)
    check(accepted and text.startswith("duplicate: "), f"duplicate: {accepted} {text!r}")
    accepted, text = client.publish(make_event(key, 0, [], "older", BASE_TIME - 1))
    check(not accepted, "an older profile came in")
    new_profile = make_event(key, 0, [], "new", BASE_TIME + 1)
    new_article = make_event(key, 30023, [["d", "a"]], "new", BASE_TIME + 1)
    theft = make_event(other, 5, [["e", twin["id"]]], "", BASE_TIME + 2)
    deletion = make_event(key, 5, [["e", note["id"]]], "", BASE_TIME + 2)
    client.accept(new_profile, new_article, theft, deletion)
    right = newest_first([new_profile, new_article, twin, deletion])
    check_equal(client.query({"authors": [key.pubkey]}), right, "what is left")
    client.accept(make_event(key, 62, [["relay", "ALL_RELAYS"]], "", BASE_TIME + 9))
    kinds = {event["kind"] for event in client.query({"authors": [key.pubkey]})}
    check_equal(kinds, {62}, "kinds after the request to vanish")
    check_equal(shard_faults(relay), faults, "major page faults of the shards")


@suite.case("an event whose bytes the disk has changed is left out and named", alone=True)
def damaged_event(t):
    for resident_bytes in (1, 0):
        relay = t.own_relay(SETTINGS | {"store.resident_bytes": resident_bytes})
        key = t.key()
        notes = [make_event(key, content=f"note number {n:04}.") for n in range(400)]
        fill(t, relay, notes)
        check_equal(relay.terminate(), 0, "exit code")
        victim = notes[20]
        mark = b"note number 0020."
        holders = []
        for path in log_files(relay.store):
            with open(path, "r+b") as file:
                at = file.read().find(mark)
                if at < 0:
                    continue
                file.seek(at + 5)
                file.write(b"N")
                holders.append(os.path.basename(path))
        check_equal(len(holders), 1, "files with the event")
        forget(relay.store)
        relay.start()
        client = t.connect(relay)
        right = newest_first([event for event in notes if event is not victim])
        for _ in range(2):
            check_equal(client.query({"authors": [key.pubkey]}), right, "all others")
        check_equal(client.query({"ids": [victim["id"]]}), [], "the damaged one")
        check_equal(report(relay)[1], 1, "damaged records")
        with open(os.path.join(relay.folder, "stderr"), encoding="utf-8") as err:
            named = [line for line in err if "fails its checksum" in line]
        check_equal(len(named), 1, "lines about it")
        check(holders[0] in named[0] and "offset" in named[0] and "backup" in named[0], named[0])


if __name__ == "__main__":
    suite.main()
