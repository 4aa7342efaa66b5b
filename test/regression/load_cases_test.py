#!/usr/bin/env python3
"""What goes wrong under load in relays that people run: floods, slow and dead clients, full disks.

Each case is a fault reported in public of some relay or client, cut down to a small input.
"""

import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "protocol"))

from harness import BASE_TIME, Suite, check, check_equal, make_event, newest_first
from websocket import PING, PONG, Closed, encode_frame

suite = Suite(shards=(2,), workers=3)

MIB = 1 << 20


def publish_all(client, events, batch=100):
    for first in range(0, len(events), batch):
        client.accept(*events[first : first + batch])


def wait_until(condition, seconds):
    """Whether the condition came true in this time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@suite.case("CL-001 a subscriber that stops reading is dropped at the cap", alone=True)
def stops_reading(t):
    relay = t.own_relay({"limits.send_queue_bytes": 2 * MIB})
    keys = t.keys(4)
    count = 6000
    events = [
        make_event(keys[n % 4], content=f"{n:05}" + "x" * 3995, created_at=BASE_TIME + n)
        for n in range(count)
    ]
    slow = t.connect(relay, receive_buffer=4096)
    slow.stored("pond", {"kinds": [1]})
    reader, writer = t.connect(relay), t.connect(relay)
    reader.stored("pond", {"kinds": [1]})
    writer.fence()
    before, descriptors = relay.anonymous_bytes(), relay.fd_count()
    peak = before
    seen = []

    def read():
        while len(seen) < count:
            seen.append(reader.live("pond", 20)["id"])

    thread = threading.Thread(target=read)
    thread.start()
    for first in range(0, count, 50):
        writer.accept(*events[first : first + 50])
        peak = max(peak, relay.anonymous_bytes())
    thread.join(30)
    check_equal(len(seen), count, "events at the reader")
    check_equal(sorted(seen), sorted(event["id"] for event in events), "ids at the reader")
    check(peak - before < 20 * MIB, f"memory rose by {(peak - before) >> 20} MiB of 26 queued")
    check(wait_until(lambda: relay.fd_count() < descriptors, 10), "the slow one is not dropped")
    try:
        while True:
            slow.recv(2)
    except Closed as closed:
        check(closed.code in (1008, None), f"closed with {closed.code}")
    except TimeoutError:
        check(False, "the slow one sees no end of the connection")
    rise = relay.anonymous_bytes() - before
    check(rise < 16 * MIB, f"memory stays {rise >> 20} MiB higher")


@suite.case("CL-003 peers that vanished without FIN are dropped, who answers pings is kept")
def dead_peers(t):
    relay = t.own_relay({"net.ping_s": 1, "net.pong_timeout_s": 2})
    alive, writer = t.connect(relay), t.connect(relay)
    key = t.key()
    wanted = {"authors": [key.pubkey]}
    alive.stored("s", wanted)
    before = relay.fd_count()
    dead = [t.connect(relay) for _ in range(200)]
    for client in dead:
        client.stored("g", wanted)
    # Nobody reads or answers these any more: to the relay they look like peers without a network.
    deadline = time.monotonic() + 1 + 2 + 5
    while relay.fd_count() > before and time.monotonic() < deadline:
        event = make_event(key, 20001, content=str(time.monotonic()))
        writer.accept(event)
        check_equal(alive.live("s", 1), event, "live event within a second")
        time.sleep(0.2)
    check(relay.fd_count() <= before, f"{relay.fd_count() - before} dead connections are left")
    writer.fence()
    alive.fence()


@suite.case("CL-005 silent and dripping connections do not keep others out", alone=True)
def silent_connections(t):
    relay = t.own_relay({"net.handshake_timeout_s": 3, "limits.connections": 2000})
    t.connect(relay).fence()
    before = relay.fd_count()
    started = time.monotonic()
    held = [socket.create_connection(relay.address, timeout=5) for _ in range(600)]
    dripping = held[:300]
    for connection in dripping:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: relay.test\r\nX-Kelp: ")
    while time.monotonic() - started < 6:
        begun = time.monotonic()
        client = t.connect(relay)
        client.stored("a", {"limit": 1})
        client.close()
        check(time.monotonic() - begun < 1, "a good client waited for more than a second")
        for connection in dripping:
            try:
                connection.sendall(b"x")
            except OSError:
                pass
        time.sleep(0.5)
    # Those that were answered with 408 may be held a while longer, until they have read it.
    is_free = wait_until(lambda: relay.fd_count() <= before, 10)
    for connection in held:
        connection.close()
    check(is_free, f"{relay.fd_count() - before} connections are left")


@suite.case("CL-007 many filters in one REQ do not multiply the limit")
def many_filters(t):
    relay = t.own_relay({"limits.filter_limit_max": 3000})
    keys = t.keys(100)
    client = t.connect(relay)
    events = [
        make_event(key, content=str(n), created_at=BASE_TIME + n) for key in keys for n in range(50)
    ]
    publish_all(client, events, 250)
    newest = newest_first(events)
    found = client.query(*[{"limit": 500} for _ in range(100)])
    check_equal(found, newest[:500], "events by 100 equal filters")
    found = client.query(*[{"authors": [key.pubkey], "limit": 500} for key in keys])
    check(len(found) == len({event["id"] for event in found}), "an event came twice")
    check(len(found) <= 3000, f"{len(found)} events, the advertised cap is 3000")
    check_equal(found, newest[: len(found)], "events by 100 authors, newest first")


@suite.case("CL-009 a flood of publishers does not starve others", alone=True)
def flood(t):
    relay = t.own_relay()
    keys = t.keys(4)
    flooders = [t.connect(relay, timeout=60) for _ in keys]
    count = 4000
    floods = [
        [make_event(key, 29077, [["x", "room"]], str(n)) for n in range(count)] for key in keys
    ]
    answers = [None] * len(keys)

    def publish(number):
        # Written at full speed, read at the same time: the relay may stop reading, we may not.
        client = flooders[number]
        sender = threading.Thread(
            target=client.send_all, args=([["EVENT", event] for event in floods[number]],)
        )
        sender.start()
        answers[number] = [client.recv(30) for _ in range(count)]
        sender.join()

    listener, quiet = t.connect(relay), t.connect(relay)
    key = t.key()
    listener.stored("s", {"kinds": [1], "authors": [key.pubkey]})
    threads = [threading.Thread(target=publish, args=(n,)) for n in range(len(keys))]
    for thread in threads:
        thread.start()
    waits = []
    while any(thread.is_alive() for thread in threads):
        event = make_event(key, content=str(len(waits)))
        started = time.monotonic()
        quiet.accept(event)
        waits.append(time.monotonic() - started)
        check_equal(listener.live("s"), event, "live event")
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    for number, answered in enumerate(answers):
        ids = [message[1] for message in answered if message[0] == "OK"]
        right = sorted(event["id"] for event in floods[number])
        check_equal(sorted(ids), right, "ids answered, each once")
        for message in answered:
            check(message[2] or message[3].startswith("rate-limited: "), f"answer {message}")
    check(max(waits) < 1.5, f"a lone event waited {max(waits):.2f} s beside the flood")
    check_equal(quiet.query({"kinds": [29077]}), [], "ephemeral events stored")


@suite.case("CL-011 refused subscriptions are told by id; queries of who left end", alone=True)
def abandoned_queries(t):
    relay = t.own_relay({"limits.subscriptions": 300})
    key = t.key()
    writer = t.connect(relay)
    events = [make_event(key, content="z" * 200, created_at=BASE_TIME + n) for n in range(5000)]
    publish_all(writer, events, 250)
    wanted = {"kinds": [1], "#t": ["no-such-otter"]}
    client = t.connect(relay)
    client.send_all([["REQ", f"q{n:03}", wanted] for n in range(500)])
    answers = {}
    for _ in range(500):
        message = client.recv(20)
        answers[message[1]] = message[0]
        check(message[0] == "EOSE" or message[2].startswith("rate-limited: "), f"got {message}")
    check_equal(len(answers), 500, "ids answered")
    check_equal(list(answers.values()).count("EOSE"), 300, "subscriptions open")
    client.send("CLOSE", "q000")
    client.stored("q500", wanted)
    before = relay.fd_count()
    for _ in range(20):
        leaver = t.connect(relay)
        leaver.send_all(
            [["REQ", f"q{n:03}", {"authors": [key.pubkey], "limit": 5000}] for n in range(300)]
        )
        time.sleep(0.05)
        leaver.reset()
    check(wait_until(lambda: relay.fd_count() <= before, 5), "descriptors are left")
    time.sleep(1.0)
    cpu = relay.cpu_s()
    time.sleep(1.0)
    check(relay.cpu_s() - cpu < 0.2, "queries go on though their clients have left")
    started = time.monotonic()
    check_equal(writer.count({"authors": [key.pubkey]}), 5000, "COUNT")
    check(time.monotonic() - started < 1, "COUNT waited")


@suite.case("CL-013 by default a silent connection is pinged clearly within a minute")
def default_ping(t):
    code = subprocess.run(
        [t.gyre, "config", "--defaults"], capture_output=True, text=True, timeout=20, check=True
    )
    line = next(line for line in code.stdout.splitlines() if line.startswith("ping_s"))
    check(int(line.split("=")[1]) <= 45, f"default is {line}")


@suite.case("CL-013 a quiet connection lives on pings, the relay's or its own")
def quiet_connections(t):
    relay = t.own_relay({"net.ping_s": 1, "net.pong_timeout_s": 2})
    answering, pinging = t.connect(relay), t.connect(relay)
    answering.stored("hush", {"kinds": [30999]})
    pinging.stored("hush", {"kinds": [30999]})
    pinging.auto_pong = False
    for _ in range(5):
        pinging.send_bytes(encode_frame(PING, b"otter"))
        payload = None
        while payload is None:
            opcode, data, _ = pinging.next_frame()
            payload = data if opcode == PONG else None
        check_equal(payload, b"otter", "pong")
        answering.silent(1)
    check(answering.pings >= 3, f"{answering.pings} pings in five seconds of silence")
    # Any bytes show that a client lives; it need not answer pings besides.
    pinging.fence()
    answering.fence()


class FullDisk:
    """A store on a disk of 64 MiB that can be made larger.

    With the right to mount it is a small file system. Otherwise a limit on the size of files stands
    in for it: the kernel then refuses to write beyond it.
    """

    def __init__(self, t):
        self.folder = t.own_relay().folder + "-disk"
        self.is_mounted = os.geteuid() == 0
        os.mkdir(self.folder)
        if self.is_mounted:
            self._mount("size=64m")

    def _mount(self, options):
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", self.folder]
        subprocess.run(command, check=True, capture_output=True)

    def before_exec(self):
        if not self.is_mounted:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (6 * MIB, resource.RLIM_INFINITY))

    def make_room(self, relay):
        if self.is_mounted:
            self._mount("remount,size=160m")
        else:
            unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            resource.prlimit(relay.pid, resource.RLIMIT_FSIZE, unlimited)

    def remove(self):
        if self.is_mounted:
            subprocess.run(["umount", self.folder], check=False, capture_output=True)
        subprocess.run(["rm", "-rf", self.folder], check=False)


@suite.case("CL-037 a full disk refuses, reads go on, space brings writing back", alone=True)
def full_disk(t):
    disk = FullDisk(t)
    try:
        fill_disk(t, disk)
    finally:
        t.close()
        disk.remove()


def fill_disk(t, disk):
    settings = {"store.segment_bytes": 8 * MIB}
    store = os.path.join(disk.folder, "store")
    relay = t.own_relay(settings, store=store, preexec=disk.before_exec)
    client = t.connect(relay)
    keys = t.keys(4)
    accepted, refused = [], []

    def publish(number):
        event = make_event(keys[number % 4], content=f"{number}" + "f" * 4000)
        is_accepted, text = client.publish(event, 20)
        check(is_accepted or text.startswith("error: "), f"refused with {text!r}, right is error:")
        (accepted if is_accepted else refused).append(event)

    number = 0
    while not refused and number < 40000:
        publish(number)
        number += 1
    check(refused, "the disk was never full")
    for number in range(number, number + 100):
        publish(number)
    check(relay.is_running(), "the relay ended when the disk was full")
    check(len(refused) >= 50, f"{len(refused)} of the last 101 events were refused")
    for n in range(10):
        wanted = {"ids": [accepted[n * len(accepted) // 10]["id"]]}
        check_equal(len(client.query(wanted)), 1, "events read while the disk is full")
    disk.make_room(relay)

    def writes_again():
        # Of every key, since each shard must notice for itself.
        before = len(refused)
        for key in keys:
            event = make_event(key, content=f"again {time.monotonic()}" + "f" * 4000)
            is_accepted, _ = client.publish(event, 20)
            (accepted if is_accepted else refused).append(event)
        return len(refused) == before

    check(wait_until(writes_again, 30), "writing does not come back when there is space")
    before = len(refused)
    for number in range(number + 1, number + 101):
        publish(number)
    check_equal(len(refused), before, "events refused after there was space")
    t.restart(relay)
    client = t.connect(relay)
    for events, right in ((accepted, True), (refused, False)):
        ids = [event["id"] for event in events]
        found = set()
        for first in range(0, len(ids), 400):
            found |= set(client.query_ids({"ids": ids[first : first + 400], "limit": 1000}))
        check_equal(len(found), len(ids) if right else 0, f"accepted={right} after a restart")


def replace_endlessly(t, relay, key, count, step, after_step):
    """Publishes versions of one address; the last one."""
    client = t.connect(relay)
    version = None
    for first in range(0, count, step):
        for at in range(first, first + step, 100):
            versions = [
                make_event(key, 30078, [["d", "n"], ["t", "tick"]], "v" * 500, BASE_TIME + n)
                for n in range(at, at + 100)
            ]
            client.accept(*versions)
            version = versions[-1]
        after_step()
    return version


@suite.case("CL-039 endless replacement leaves one event in every index", alone=True)
def endless_replacement(t):
    relay = t.own_relay()
    key = t.key()
    wanted = {"kinds": [30078], "authors": [key.pubkey]}
    client, listener = t.connect(relay), t.connect(relay)
    listener.stored("s", wanted)
    seen, memory = [], []
    count = 20000

    def listen():
        while len(seen) < count:
            seen.append(listener.live("s", 30)["id"])

    thread = threading.Thread(target=listen)
    thread.start()
    version = replace_endlessly(
        t, relay, key, count, 4000, lambda: memory.append(relay.anonymous_bytes())
    )
    thread.join(60)
    check_equal(len(seen), count, "versions at the live subscriber")
    check_equal(client.query(wanted), [version], "versions left")
    check_equal(client.count(wanted), 1, "COUNT")
    check_equal(client.query({"authors": [key.pubkey], "#t": ["tick"]}), [version], "by tag")
    check(memory[-1] - memory[0] < 24 * MIB, f"memory at each step: {memory}")
    t.restart(relay, graceful=False)
    check_equal(t.connect(relay).query(wanted), [version], "versions after a restart")


if __name__ == "__main__":
    suite.main()
