#!/usr/bin/env python3
"""Limits of connections and of time: how many, from where, how long a silence lasts."""

import select
import socket
import time

from harness import Suite, check, check_equal, make_event
from websocket import Closed, Refused

suite = Suite(shards=(2,), workers=8)


def open_until_refused(t, relay, most, **options):
    """Clients that got in, and how the first refused one was told: a status, code or None."""
    clients = []
    for _ in range(most):
        try:
            client = t.connect(relay, **options)
            client.fence()
        except Refused as refused:
            return clients, refused.status
        except (Closed, ConnectionError) as closed:
            return clients, getattr(closed, "code", None)
        clients.append(client)
    return clients, "none was refused"


def eventually(t, relay, **options):
    """Connects as soon as the relay has noticed that another client left."""
    deadline = time.monotonic() + 5
    while True:
        clients, _ = open_until_refused(t, relay, 1, **options)
        if clients:
            return clients[0]
        check(time.monotonic() < deadline, "no connection in 5 s after another had left")
        time.sleep(0.05)


@suite.case("T-11 limits.connections: n get in, the next is refused, a place that is left is free")
def connections(t):
    relay = t.own_relay({"limits.connections": 8})
    clients, answer = open_until_refused(t, relay, 12)
    check_equal(len(clients), 8, "connections")
    check(answer in (429, 503, 1013, 1008), f"the next one was answered by {answer}")
    for client in clients:
        client.fence()
    clients[3].close()
    clients[5].reset()
    eventually(t, relay)
    eventually(t, relay)
    check_equal(len(open_until_refused(t, relay, 3)[0]), 0, "connections beyond the limit")


@suite.case("T-11 limits.connections_per_ip counts each address apart")
def connections_per_ip(t):
    relay = t.own_relay({"limits.connections_per_ip": 3, "net.trusted_proxies": ["127.0.0.1"]})
    first, second = (("X-Forwarded-For", address) for address in ("192.0.2.1", "192.0.2.2"))
    clients, answer = open_until_refused(t, relay, 5, headers=[first])
    check_equal(len(clients), 3, "connections of one address")
    check(answer in (429, 503, 1013, 1008), f"the next one was answered by {answer}")
    check_equal(len(open_until_refused(t, relay, 5, headers=[second])[0]), 3, "of another")
    clients[0].close()
    eventually(t, relay, headers=[first])
    # Only the proxy's own entry, the last one, is believed.
    forged = ("X-Forwarded-For", "192.0.2.99, 192.0.2.1")
    check_equal(len(open_until_refused(t, relay, 1, headers=[forged])[0]), 0, "a forged entry")
    six = ("X-Forwarded-For", "2001:db8::1")
    check_equal(len(open_until_refused(t, relay, 5, headers=[six])[0]), 3, "of an IPv6 address")


@suite.case("T-11 headers of proxies that are not trusted are ignored")
def untrusted_proxy(t):
    relay = t.own_relay({"limits.connections_per_ip": 3})
    clients = []
    for n in range(5):
        headers = [("X-Forwarded-For", f"192.0.2.{n}"), ("Forwarded", f"for=192.0.2.{n}")]
        clients += open_until_refused(t, relay, 1, headers=headers)[0]
    check_equal(len(clients), 3, "connections of one address behind forged headers")


@suite.case("T-11 plain HTTP requests give their place back")
def http_gives_back(t):
    relay = t.own_relay({"limits.connections_per_ip": 4})
    for _ in range(30):
        relay.information()
        relay.http(path="/nothing")
    eventually(t, relay)


@suite.case("T-11 the handshake has a deadline counted from accept, not from the last byte")
def handshake_deadline(t):
    relay = t.own_relay({"net.handshake_timeout_s": 2})
    silent = socket.create_connection(relay.address, timeout=10)
    dripping = socket.create_connection(relay.address, timeout=10)
    started = time.monotonic()
    dripping.sendall(b"GET / HTTP/1.1\r\nHost: relay.test\r\nX-Kelp: ")
    ended = {}
    while len(ended) < 2 and time.monotonic() - started < 8:
        for name, connection in (("silent", silent), ("dripping", dripping)):
            if name not in ended and select.select([connection], [], [], 0)[0]:
                try:
                    answer = connection.recv(1000)
                except ConnectionError:
                    answer = b""
                check(not answer or answer.startswith(b"HTTP/1.1 408 "), f"answer: {answer!r}")
                ended[name] = time.monotonic() - started
        try:
            dripping.sendall(b"x")
        except OSError:
            pass
        time.sleep(0.2)
    silent.close()
    dripping.close()
    check_equal(sorted(ended), ["dripping", "silent"], "connections ended by the relay")
    for name, after_s in ended.items():
        check(1.5 < after_s < 5, f"{name} ended after {after_s:.1f} s, the deadline is 2 s")


@suite.case("T-07 a silent subscriber is pinged in time and kept while it answers")
def pinged(t):
    relay = t.own_relay({"net.ping_s": 1, "net.pong_timeout_s": 1})
    client = t.connect(relay)
    key = t.key()
    client.stored("hush", {"authors": [key.pubkey]})
    started = time.monotonic()
    try:
        while True:
            client.recv(6 - (time.monotonic() - started))
    except TimeoutError:
        pass
    check(4 <= client.pings <= 8, f"{client.pings} pings in 6 s at an interval of 1 s")
    # NIP-46: who answers pings is not dropped because nothing matched.
    event = make_event(key, 24133)
    t.connect(relay).accept(event)
    check_equal(client.live("hush"), event, "live event after the silence")



@suite.case("T-11 a thousand connections at once, all served")
def thousand(t):
    relay = t.own_relay({"limits.connections": 1100})
    key = t.key()
    clients = [t.connect(relay) for _ in range(1000)]
    for client in clients:
        client.send("REQ", "s", {"authors": [key.pubkey]})
    for client in clients:
        client.expect(["EOSE", "s"], timeout=20)
    event = make_event(key)
    t.connect(relay).accept(event)
    for client in clients:
        check_equal(client.live("s", 10), event, "live event")


if __name__ == "__main__":
    suite.main()
