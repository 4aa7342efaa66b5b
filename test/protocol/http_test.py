#!/usr/bin/env python3
"""HTTP on the relay's port: the upgrade, paths, and requests that are none of these."""

import socket
import time

from harness import Client, Suite, check, check_equal
from websocket import Refused, accept_of

suite = Suite(shards=(2,))

KEY = "dGhlIHNhbXBsZSBub25jZQ=="


def request(lines):
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def upgrade_lines(path="/", **changes):
    """A good upgrade; a change of None leaves that header out."""
    headers = {
        "Host": "relay",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": KEY,
        "Sec-WebSocket-Version": "13",
    }
    headers.update({name.replace("_", "-"): value for name, value in changes.items()})
    lines = [f"{name}: {value}" for name, value in headers.items() if value is not None]
    return [f"GET {path} HTTP/1.1"] + lines


@suite.case("T-01 good upgrades in all their spellings")
def good_upgrades(t):
    relay = t.relay()
    for lines in (
        upgrade_lines(),
        upgrade_lines(Upgrade="WebSocket"),
        upgrade_lines(Connection="keep-alive, Upgrade"),
        upgrade_lines(Connection="UPGRADE"),
        upgrade_lines(Connection="keep-alive,upgrade"),
        [line.lower() if n else line for n, line in enumerate(upgrade_lines())][:4]
        + upgrade_lines()[4:],
        upgrade_lines(Origin="https://app.test", User_Agent="x" * 1000),
        upgrade_lines(Sec_WebSocket_Extensions="permessage-deflate; client_max_window_bits"),
        upgrade_lines(Sec_WebSocket_Protocol="nostr, x"),
    ):
        status, headers, _ = relay.raw_http(request(lines))
        check_equal(status, 101, f"status for {lines}")
        check_equal(headers.get("sec-websocket-accept"), accept_of(KEY), f"accept for {lines}")
        check_equal(headers.get("upgrade", "").lower(), "websocket", "Upgrade")
        check_equal(headers.get("connection", "").lower(), "upgrade", "Connection")
        check("sec-websocket-protocol" not in headers, f"T-10: subprotocol taken: {headers}")
        check("sec-websocket-extensions" not in headers, f"extension taken: {headers}")


@suite.case("T-01 a request split anywhere upgrades")
def split_request(t):
    relay = t.relay()
    data = request(upgrade_lines())
    for step in (1, 7, 50):
        with socket.create_connection(relay.address, timeout=5) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(0, len(data), step):
                connection.sendall(data[at : at + step])
            check(connection.recv(1000).startswith(b"HTTP/1.1 101 "), f"pieces of {step} bytes")


@suite.case("T-01 bad upgrades are refused with the right status")
def bad_upgrades(t):
    relay = t.relay()
    for lines, right in (
        (upgrade_lines(Sec_WebSocket_Version="8"), 426),
        (upgrade_lines(Sec_WebSocket_Version="14"), 426),
        (upgrade_lines(Sec_WebSocket_Key=None), 400),
        (upgrade_lines(Sec_WebSocket_Key="short"), 400),
        (upgrade_lines(Sec_WebSocket_Key="!" * 22 + "=="), 400),
        (upgrade_lines(Sec_WebSocket_Version=None), 400),
        (upgrade_lines(Connection="keep-alive"), 400),
    ):
        status, headers, _ = relay.raw_http(request(lines))
        check_equal(status, right, f"status for {lines}")
        if right == 426:
            check_equal(headers.get("sec-websocket-version"), "13", "version offered")


@suite.case("T-02 one path upgrades; the query is ignored")
def one_path(t):
    relay = t.relay()
    for path, right in (("/", 101), ("/?x=1", 101), ("/anything", 404), ("/a/b?x", 404),
                        ("//", 404), ("/.", 404)):
        check_equal(relay.raw_http(request(upgrade_lines(path)))[0], right, f"upgrade of {path}")


@suite.case("T-02 the operator's base path replaces /")
def base_path(t):
    relay = t.relay({"net.base_path": "/relay"})
    for path, right in (("/relay", 101), ("/relay?x", 101), ("/", 404), ("/relayx", 404)):
        check_equal(relay.raw_http(request(upgrade_lines(path)))[0], right, f"upgrade of {path}")
    wanted = {"Accept": "application/nostr+json"}
    check_equal(relay.http(path="/relay", headers=wanted)[0], 200, "document at the base path")
    try:
        Client(relay)
        check(False, "the client at / got in")
    except Refused as refused:
        check_equal(refused.status, 404, "status at /")


@suite.case("T-12 what is served at /, in order of precedence")
def precedence(t):
    relay = t.relay()
    nostr = "application/nostr+json"
    check_equal(relay.raw_http(request(upgrade_lines(Accept=nostr)))[0], 101, "upgrade first")
    check_equal(relay.http("OPTIONS", headers={"Accept": nostr})[0], 204, "OPTIONS")
    status, headers, body = relay.http(headers={"Accept": "text/html,*/*;q=0.8"})
    check(status in (200, 404), f"a browser's GET: {status}")
    check("nostr+json" not in headers.get("content-type", ""), "a browser got the document")
    check_equal(relay.http("HEAD")[2], b"", "body of HEAD")
    check(relay.http("DELETE")[0] in (400, 404, 405, 501), "DELETE")
    check_equal(relay.http(path="/nothing/here")[0], 404, "unknown path")
    check(relay.http(path="/healthz")[0] == 200, "health check")


@suite.case("T-12 garbage, oversized heads and wrong versions get an error and an end")
def garbage(t):
    relay = t.relay()
    for data in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200) + b"\r\n\r\n",  # TLS.
        b"GET /\r\n\r\n",
        b"GET / HTTP/2.0\r\nHost: x\r\n\r\n",
        b"NONSENSE\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon here\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
        b"\x00" * 100 + b"\r\n\r\n",
    ):
        started = time.monotonic()
        with socket.create_connection(relay.address, timeout=15) as connection:
            answer = b""
            try:
                connection.sendall(data)
                while True:
                    chunk = connection.recv(65536)
                    if not chunk:
                        break
                    answer += chunk
            except ConnectionError:
                pass
        check(time.monotonic() - started < 12, f"{data[:40]} kept the connection open")
        status = answer[9:12]
        check(not answer or status[:1] in b"45", f"{data[:40]} answered by {answer[:60]}")
    Client(relay).close()



if __name__ == "__main__":
    suite.main()
