#!/usr/bin/env python3
"""Start, stop, reload and crash: what is acknowledged stays, what is deleted stays deleted."""

import json
import os
import subprocess
import time

from harness import BASE_TIME, Suite, check, check_equal, compact, make_event, newest_first
from relay import setting_text, toml_text

suite = Suite(shards=(1, 2, 4))


def run(t, *arguments, text=None):
    """Runs a command of gyre to its end; (exit code, stdout, stderr)."""
    done = subprocess.run(
        [t.gyre, *arguments], input=text, capture_output=True, text=True, timeout=20, check=False
    )
    return done.returncode, done.stdout, done.stderr


def exported(t, store, *arguments):
    code, out, err = run(t, "export", "--store", store, *arguments)
    check_equal(code, 0, f"exit code of export ({err.strip()})")
    return [json.loads(line) for line in out.splitlines()]


def mixed_events(t):
    """Events of several keys with replacements and deletions; those that must be left."""
    client_events, left = [], []
    for key in t.keys(5):
        notes = [make_event(key, content=f"note {n}", created_at=BASE_TIME + n) for n in range(20)]
        versions = [make_event(key, 30023, [["d", "x"]], str(n), BASE_TIME + n) for n in range(5)]
        profiles = [make_event(key, 0, [], str(n), BASE_TIME + n) for n in range(3)]
        deletion = make_event(key, 5, [["e", note["id"]] for note in notes[:5]], "", BASE_TIME + 50)
        client_events += notes + versions + profiles + [deletion]
        left += notes[5:] + [versions[-1], profiles[-1], deletion]
    return client_events, newest_first(left)


@suite.case("01-M07 kill -9 right after the OK loses nothing")
def kill_after_ok(t):
    relay = t.own_relay()
    key = t.key()
    events = []
    for n in range(5):
        client = t.connect(relay)
        batch = [make_event(key, content=f"{n} {m}") for m in range(20)]
        client.accept(*batch)
        events += batch
        t.restart(relay, graceful=False)
    found = t.connect(relay).query({"authors": [key.pubkey]})
    check_equal(found, newest_first(events), "events after five kills")


@suite.case("restart keeps events, replacements and deletions, by SIGTERM and by SIGKILL")
def restart_keeps(t):
    relay = t.own_relay()
    events, left = mixed_events(t)
    t.connect(relay).accept(*events)
    gone = [event for event in events if event not in left]
    authors = {"authors": sorted({event["pubkey"] for event in events}), "limit": 5000}
    for graceful in (True, False, True):
        t.restart(relay, graceful)
        client = t.connect(relay)
        check_equal(client.query(authors), left, "events")
        check_equal(client.count(authors), len(left), "COUNT")
        check_equal(client.query({"ids": [event["id"] for event in gone]}), [], "gone by id")
        for event in gone[:: len(gone) // 7]:
            check(not client.publish(event)[0], f"came back: kind {event['kind']}")
        accepted, text = client.publish(left[0])
        check(accepted and text.startswith("duplicate: "), f"duplicate: {accepted} {text!r}")


@suite.case("SIGTERM closes with 1001 and leaves with 0, without waiting for idle clients")
def drain(t):
    relay = t.own_relay()
    clients = [t.connect(relay) for _ in range(20)]
    for client in clients:
        client.stored("s", {"authors": [t.key().pubkey]})
    started = time.monotonic()
    check_equal(relay.terminate(), 0, "exit code")
    check(time.monotonic() - started < 8, "took too long")
    for client in clients:
        check_equal(client.wait_closed(), 1001, "close code")


@suite.case("SIGTERM with events in flight: what was acknowledged is there afterwards")
def drain_under_load(t):
    relay = t.own_relay()
    keys = t.keys(4)
    events = [make_event(keys[n % 4], content=str(n)) for n in range(600)]
    client = t.connect(relay)
    client.send_all([["EVENT", event] for event in events])
    client.await_ok(events[10]["id"])
    check_equal(relay.terminate(), 0, "exit code")
    acknowledged = {events[10]["id"]}
    try:
        while True:
            message = client.recv(2)
            if message[0] == "OK" and message[2]:
                acknowledged.add(message[1])
    except Exception:
        pass
    relay.start()
    found = t.connect(relay).query_ids({"authors": [key.pubkey for key in keys], "limit": 5000})
    check(acknowledged <= set(found), f"{len(acknowledged - set(found))} acknowledged are lost")
    check(set(found) <= {event["id"] for event in events}, "events nobody sent")


@suite.case("SIGTERM again while draining, or right at start, ends well")
def signals(t):
    relay = t.own_relay()
    client = t.connect(relay)
    client.fence()
    relay.process.terminate()
    relay.process.terminate()
    check_equal(relay.process.wait(20), 0, "exit code")
    relay.start()
    check_equal(relay.terminate(), 0, "exit code right after start")


@suite.case("a second relay on the same store is refused with the reason")
def locked(t):
    relay = t.own_relay()
    code, _, err = run(t, "relay", "--set", "net.listen=127.0.0.1:0", "--set",
                       f"store.path={relay.store}", "--set", f"relay.shards={t.shards}")
    check(code not in (0, None), f"exit code {code}")
    check(relay.store in err or "lock" in err.lower() or "use" in err.lower(), f"says {err!r}")
    t.connect(relay).fence()


@suite.case("a store keeps its number of shards whatever is asked for")
def shard_count_is_kept(t):
    relay = t.own_relay()
    keys = t.keys(8)
    events = [make_event(key) for key in keys]
    t.connect(relay).accept(*events)
    for other in (1, 2, 4, 3):
        relay.settings["relay.shards"] = other
        t.restart(relay)
        client = t.connect(relay)
        found = client.query({"authors": [key.pubkey for key in keys]})
        check_equal(found, newest_first(events), f"events when {other} shards are asked for")
        accepted, text = client.publish(events[0])
        check(accepted and text.startswith("duplicate: "), f"duplicate: {accepted} {text!r}")


@suite.case("SIGHUP reloads the name and the limits and keeps the connections")
def reload(t):
    folder = t.own_relay().folder  # Any folder that is removed afterwards.
    config = os.path.join(folder, "gyre.toml")

    def write(settings):
        with open(config, "w", encoding="utf-8") as file:
            file.write(toml_text(settings))

    write({"relay.name": "before", "limits.subscriptions": 2})
    relay = t.own_relay(config=config)
    check_equal(relay.information()["name"], "before", "name")
    client = t.connect(relay)
    key = t.key()
    client.stored("s0", {"authors": [key.pubkey]})
    client.stored("s1", {"authors": [key.pubkey]})
    client.refuse_filter("rate-limited", {"authors": [key.pubkey]})
    write({"relay.name": "after", "limits.subscriptions": 3})
    relay.reload()
    deadline = time.monotonic() + 5
    while relay.information()["name"] != "after":
        check(time.monotonic() < deadline, "the name is not reloaded in 5 s")
        time.sleep(0.05)
    check_equal(relay.information()["limitation"]["max_subscriptions"], 3, "limit shown")
    client.stored("s2", {"authors": [key.pubkey]})
    client.refuse_filter("rate-limited", {"authors": [key.pubkey]})
    event = make_event(key)
    client.accept(event)
    check_equal([client.live(name) for name in ("s0", "s1", "s2")], [event] * 3, "live events")
    # A broken file changes nothing.
    write({"relay.nam": "broken"})
    relay.reload()
    time.sleep(0.5)
    check_equal(relay.information()["name"], "after", "name after a broken file")
    check_equal(client.count({"ids": [event["id"]]}), 1, "COUNT on the old connection")


@suite.case("bad settings are refused with the key's name")
def bad_settings(t):
    folder = t.own_relay().folder  # Any folder that is removed afterwards.
    for setting in ("net.lisn=x", "limits.subscriptions=-1", "store.durability=maybe",
                    "limits.subscriptions=many", "auth.gated_kinds=[70000]"):
        store = f"store.path={folder}/unused"
        code, _, err = run(t, "relay", "--set", setting, "--set", "net.listen=127.0.0.1:0",
                           "--set", store)
        check(code not in (0, None), f"{setting}: exit code {code}")
        check(setting.split("=")[0].split(".")[1] in err, f"{setting}: says {err!r}")


@suite.case("the commands say what they are")
def commands(t):
    code, out, _ = run(t, "--version")
    check(code == 0 and "gyre" in out, f"--version: {code} {out!r}")
    code, out, _ = run(t, "config", "--defaults")
    check(code == 0 and "[limits]" in out and "subscriptions" in out, f"config: {code} {out[:80]}")


@suite.case("01-V04 09-12 export and import keep the set, deletions hold, nothing bad gets in")
def export_and_import(t):
    relay = t.own_relay()
    events, left = mixed_events(t)
    t.connect(relay).accept(*events)
    check_equal(relay.terminate(), 0, "exit code")
    first = exported(t, relay.store)
    check_equal(newest_first(first), left, "exported events")
    author = left[0]["pubkey"]
    found = exported(t, relay.store, "--filter", compact({"authors": [author], "kinds": [1]}))
    right = [event for event in left if event["pubkey"] == author and event["kind"] == 1]
    check_equal(newest_first(found), right, "exported by filter")
    # Into an empty store, with what must not get in: a wrong id, a wrong signature, deleted ones.
    gone = [event for event in events if event not in left]
    bad = [{**make_event(t.key()), "content": "changed"},
           {**make_event(t.key(), content="x"), "sig": left[0]["sig"]}]
    lines = [compact(event) for event in first + bad + gone]
    store = relay.store + "-copy"
    code, out, err = run(t, "import", "--store", store, text="\n".join(lines) + "\n")
    check(code in (0, 1), f"exit code of import {code}: {err.strip()}")
    check_equal(newest_first(exported(t, store)), left, f"events after import ({out} {err})")
    copy = t.own_relay(store=store)
    client = t.connect(copy)
    for event in gone:
        if event["kind"] == 1:
            client.refuse(event, "blocked")
    check_equal(client.count({"authors": [event["pubkey"] for event in left]}), len(left), "COUNT")


@suite.case("a relay that was never written to starts, stops and starts")
def empty_store(t):
    relay = t.own_relay()
    for graceful in (True, False):
        check_equal(t.connect(relay).query({}), [], "events")
        t.restart(relay, graceful)
    check_equal(t.connect(relay).query({}), [], "events after restarts")


@suite.case("a size for the store that is too little for its shards is refused")
def retention_size_for_shards(t):
    if t.shards == 1:
        return
    too_little = {"store.segment_bytes": 4 << 20, "limits.message_bytes": 1 << 20}
    relay = t.own_relay(too_little)
    relay.terminate()
    relay.settings["store.retention.max_bytes"] = 16 << 20
    arguments = [f"--set={key}={setting_text(value)}" for key, value in relay.settings.items()]
    code, _, err = run(t, "relay", *arguments)
    check_equal(code, 1, "exit code")
    wanted = f"must be 0 or at least {16 * t.shards} MiB"
    check(wanted in err and "store.retention.max_bytes = 16 MiB" in err, err)


def unfinished_compactions(relay):
    """Files that a compaction is writing; the next segment of each log is prepared under such a
    name, too."""
    found = []
    for folder, _, names in os.walk(relay.store):
        segments = [name for name in names if name.endswith(".seg")]
        found += [
            os.path.join(folder, name)
            for name in names
            if name.endswith(".seg.tmp") and name[: -len(".tmp")] in segments
        ]
    return found


def sealed_bytes(relay):
    """What compaction can make smaller: all of the log but the last segment of each shard."""
    total = 0
    for folder, _, names in os.walk(relay.store):
        segments = sorted(name for name in names if name.endswith(".seg"))
        total += sum(os.path.getsize(os.path.join(folder, name)) for name in segments[:-1])
    return total


def kill_while_compacting(relay, seconds):
    """Kills the relay as soon as it writes a segment anew; False if it had nothing to compact."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if unfinished_compactions(relay):
            relay.kill()
            return True
    relay.kill()
    return False


@suite.case("kill -9 while it compacts loses nothing and leaves nothing lying around", alone=True)
def kill_compacting(t):
    relay = t.own_relay(
        {
            "limits.message_bytes": 1 << 20,
            "store.segment_bytes": 4 << 20,
            "store.table_postings_max": 1000,
            "store.compact_dead_percent": 100,
        }
    )
    keys = t.keys(8)
    client = t.connect(relay)
    dead, left = [], []
    for n in range(150):
        batch = []
        for key in keys:
            text = f"{n} " + "x" * 12000
            batch.append(make_event(key, 30023, [["d", "x"]], text, BASE_TIME + n))
            batch.append(make_event(key, 1, [], text, BASE_TIME + n))
        client.accept(*batch)
        dead += batch[0::2] if n < 149 else []
        left += batch[1::2] if n < 149 else batch
    # The last checkpoint makes the deaths known to compaction.
    t.restart(relay)
    before = sealed_bytes(relay)
    relay.settings["store.compact_dead_percent"] = 5
    relay.terminate()
    kills = 0
    for _ in range(8):
        relay.start()
        kills += kill_while_compacting(relay, 0.5)
    check(kills > 0, "no compaction was caught at its work")
    relay.start()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        after = sealed_bytes(relay)
        if after < before * 0.7 and not unfinished_compactions(relay):
            break
        time.sleep(0.05)
    check_equal(unfinished_compactions(relay), [], "files of compactions that were killed")
    check(after < before * 0.7, f"{after >> 10} KiB of {before >> 10} KiB are still taken")
    for graceful in (False, True):
        client = t.connect(relay)
        for key in keys:
            mine = newest_first([event for event in left if event["pubkey"] == key.pubkey])
            check_equal(client.query({"authors": [key.pubkey]}), mine, "events left")
            check_equal(client.count({"authors": [key.pubkey]}), len(mine), "COUNT")
        client.refuse(dead[0], "duplicate")
        t.restart(relay, graceful)


if __name__ == "__main__":
    suite.main()
