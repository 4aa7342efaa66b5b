#!/usr/bin/env python3
"""Looking after a store: backup and stats under a running relay, check, delete, reshard."""

import json
import os
import shutil
import subprocess
import threading

from harness import BASE_TIME, Client, Suite, check, check_equal, make_event, newest_first

suite = Suite(shards=(1, 3))


def run(t, *arguments):
    """Runs a command of gyre to its end; (exit code, stdout, stderr)."""
    done = subprocess.run(
        [t.gyre, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def succeed(t, *arguments):
    code, out, err = run(t, *arguments)
    check_equal(code, 0, f"exit code of gyre {' '.join(arguments)} ({out[-500:]} {err[-500:]})")
    return out


def exported_ids(t, store):
    return {json.loads(line)["id"] for line in succeed(t, "export", "--store", store).splitlines()}


class Publisher:
    """Publishes notes, versions and deletions from a thread of its own until it is stopped."""

    def __init__(self, relay, key):
        self.accepted = []  # Ids of notes, in order; read by others.
        self._client = Client(relay)
        self._key = key
        self._is_stopped = threading.Event()
        self._failure = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        number = 0
        try:
            while not self._is_stopped.is_set():
                time = BASE_TIME + number
                notes = [
                    make_event(self._key, content=f"{number} {i}" + "x" * 400, created_at=time)
                    for i in range(5)
                ]
                profile = make_event(self._key, 0, [], str(number), time)
                self._client.accept(*notes, profile)
                self.accepted += [note["id"] for note in notes]
                number += 1
        except Exception as error:  # Told when it is stopped.
            self._failure = error

    def wait_for(self, count, tick=threading.Event()):
        while len(self.accepted) < count and self._thread.is_alive():
            tick.wait(0.01)

    def stop(self):
        self._is_stopped.set()
        self._thread.join(30)
        self._client.close()
        check(self._failure is None, f"publishing failed: {self._failure!r}")


@suite.case("backup of a running relay has what was acknowledged before, and is a sound store")
def backup_while_running(t):
    relay = t.own_relay()
    publisher = Publisher(relay, t.key())
    copy = os.path.join(relay.folder, "copy")
    publisher.wait_for(100)
    for _ in range(3):
        before = set(publisher.accepted)
        succeed(t, "backup", "--store", relay.store, "--to", copy)
        check("nothing is wrong" in succeed(t, "check", "--store", copy, "--deep"), "check's word")
        restored = os.path.join(relay.folder, "restored")
        shutil.copytree(copy, restored)
        missing = before - exported_ids(t, restored)
        shutil.rmtree(restored)
        check(not missing, f"{len(missing)} of {len(before)} events are not in the copy")
        publisher.wait_for(len(publisher.accepted) + 50)
    publisher.stop()
    other = t.own_relay(store=copy)
    found = set(t.connect(other).query_ids({"kinds": [1], "ids": sorted(before)[:500]}))
    check_equal(len(found), min(500, len(before)), "events served by a relay on the copy")
    code, _, err = run(t, "backup", "--store", relay.store, "--to", copy)
    check(code == 1 and "locked" in err, f"a backup into a store in use: {code} {err!r}")


@suite.case("a backup of a relay that was killed is sound, and the next goes on from it")
def backup_after_kill(t):
    relay = t.own_relay()
    copy = os.path.join(relay.folder, "copy")
    key = t.key()
    events = [make_event(key, content=str(n), created_at=BASE_TIME + n) for n in range(60)]
    t.connect(relay).accept(*events[:30])
    relay.kill()
    succeed(t, "backup", "--store", relay.store, "--to", copy)
    check_equal(exported_ids(t, copy), {e["id"] for e in events[:30]}, "first copy")
    shutil.rmtree(copy)
    succeed(t, "backup", "--store", relay.store, "--to", copy)
    t.restart(relay, graceful=False)
    t.connect(relay).accept(*events[30:])
    succeed(t, "backup", "--store", relay.store, "--to", copy)
    succeed(t, "check", "--store", copy)
    check_equal(exported_ids(t, copy), {e["id"] for e in events}, "second copy")


@suite.case("nothing is printed into a store when standard streams are closed")
def closed_streams(t):
    relay = t.own_relay()
    key = t.key()
    t.connect(relay).accept(*[make_event(key, content=str(n)) for n in range(30)])
    relay.terminate()
    for closed in ("<&- >&- 2>&-", ">&-", "<&- >&-"):
        for command in ("scan", "export", "count"):
            line = f"{t.gyre} {command} --store {relay.store} {closed}"
            done = subprocess.run(["sh", "-c", line], timeout=60, check=False)
            check(done.returncode != 0, f"{line} ended with 0")
    succeed(t, "check", "--store", relay.store)


@suite.case("stats says what a running relay holds; check wants it stopped")
def stats_beside(t):
    relay = t.own_relay()
    key = t.key()
    notes = [make_event(key, content=str(n)) for n in range(20)]
    profiles = [make_event(key, 0, [], str(n), BASE_TIME + n) for n in range(3)]
    t.connect(relay).accept(*notes, *profiles)
    total = json.loads(succeed(t, "stats", "--store", relay.store, "--json"))["total"]
    check_equal(total["kinds"]["1"], {"alive": 20, "dead": 0}, "notes")
    check_equal(total["kinds"]["0"], {"alive": 1, "dead": 2}, "profiles")
    code, _, err = run(t, "check", "--store", relay.store)
    check(code == 1 and "stop it" in err, f"check beside a relay: {code} {err!r}")


@suite.case("delete, count, scan and reshard agree about what is there")
def delete_and_reshard(t):
    relay = t.own_relay()
    key = t.key()
    notes = [make_event(key, content=str(n), created_at=BASE_TIME + n) for n in range(20)]
    likes = [make_event(key, 7, [], str(n), BASE_TIME + n) for n in range(10)]
    t.connect(relay).accept(*notes, *likes)
    relay.terminate()
    store = relay.store
    likes_filter = '{"kinds":[7]}'
    check_equal(succeed(t, "count", "--store", store, "--filter", likes_filter), "10\n", "likes")
    code, out, err = run(t, "delete", "--store", store, "--filter", likes_filter)
    check(code == 1 and "--yes" in err and "more" in out, f"asked nobody: {code} {err!r}")
    succeed(t, "delete", "--store", store, "--filter", likes_filter, "--dry-run")
    check_equal(succeed(t, "count", "--store", store), "30\n", "before")
    succeed(t, "delete", "--store", store, "--filter", likes_filter, "--yes")
    check_equal(succeed(t, "count", "--store", store), "20\n", "after")
    dead = succeed(t, "scan", "--store", store, "--dead", "--count", "--filter", likes_filter)
    check_equal(dead, "10\n", "dead ones")
    succeed(t, "check", "--store", store, "--deep")

    other = os.path.join(relay.folder, "other")
    succeed(t, "reshard", "--store", store, "--shards", "4", "--to", other)
    succeed(t, "check", "--store", other, "--deep")
    second = t.own_relay(store=other)
    found = t.connect(second).query({"authors": [key.pubkey]})
    check_equal(found, newest_first(notes), "what the new store serves")


def flip(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)
        file.seek(offset)
        file.write(bytes([byte[0] ^ 0x40]))


@suite.case("a relay refuses a damaged log and names the cure, after which it serves the rest")
def damage_and_repair(t):
    relay = t.own_relay()
    key = t.key()
    notes = [make_event(key, content=str(n), created_at=BASE_TIME + n) for n in range(30)]
    client = t.connect(relay)
    # One after the other, so that each is known to be durable when the next is written.
    for note in notes:
        client.accept(note)
    relay.terminate()
    for shard in range(t.shards):
        log = os.path.join(relay.store, f"shard-{shard:03}", "log-00000001.seg")
        if os.path.getsize(log) > 2000:
            flip(log, 1000)
    try:
        relay.start()
        failure = "it started"
    except RuntimeError as error:
        failure = str(error)
    check("gyre check --repair" in failure, f"start on a damaged log: {failure}")
    code, out, err = run(t, "check", "--store", relay.store)
    check(code == 1 and "1 records are lost" in out, f"check of a damaged log: {code} {out} {err}")
    out = succeed(t, "check", "--store", relay.store, "--repair")
    check("lost: 1 records" in out and "nothing is wrong" in out, f"words of the repair: {out}")
    succeed(t, "check", "--store", relay.store, "--deep")
    relay.start()
    found = t.connect(relay).query({"authors": [key.pubkey]})
    check_equal(len(found), len(notes) - 1, "events that are left")
    t.connect(relay).accept(make_event(key, content="goes on"))


if __name__ == "__main__":
    suite.main()
