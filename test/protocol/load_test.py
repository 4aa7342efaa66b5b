#!/usr/bin/env python3
"""The load generator as a second witness: every event answered once, every delivery made once."""

import json
import os
import subprocess

from harness import Suite, check, check_equal
from relay import REPOSITORY

suite = Suite(shards=(1, 2, 4), workers=1)

# Another one can be named, as the relay's binary can by --gyre.
LOAD = os.environ.get(
    "GYRE_LOAD", os.path.join(REPOSITORY, "build", "release", "perf", "load", "gyre-load")
)


def load(command, relay, **arguments):
    """Runs gyre-load, which fails by itself if an answer is wrong; the figures it prints."""
    line = [LOAD, command]
    if command != "corpus":
        line += ["--url", f"ws://{relay.address[0]}:{relay.address[1]}", "--json"]
    for name, value in arguments.items():
        line += ["--" + name.replace("_", "-"), str(value)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    check_equal(done.returncode, 0, f"exit code of {command} ({done.stderr}{done.stdout[:300]})")
    return json.loads(done.stdout) if command != "corpus" else None


def corpus(relay, name, **arguments):
    path = os.path.join(relay.folder, name)
    load("corpus", relay, out=path, **arguments)
    return path


@suite.case("16 connections with 64 events in flight, twice: all answered, stored and known")
def ingest(t):
    relay = t.own_relay()
    events = corpus(relay, "mixed", events=4000)
    acked = os.path.join(relay.folder, "acked")
    result = load("ingest", relay, corpus=events, acked=acked)
    check_equal(result["answered"], 4000, "answered")
    refused = result.get("ok_false_duplicate", 0)
    check_equal(result["ok_true"] + refused, 4000, f"outcomes of {result}")
    check(refused < 100, f"{refused} refused as overtaken by a newer version")
    again = load("ingest", relay, corpus=events)
    known = again.get("ok_true_duplicate", 0) + again.get("ok_false_duplicate", 0)
    check_equal(known, 4000, f"outcomes of {again}")
    with open(events, encoding="utf-8") as file:
        by_id = {event["id"]: event for event in map(json.loads, file)}
    with open(acked, encoding="ascii") as file:
        ids = file.read().split()
    check_equal(len(ids), result["ok_true"], "acknowledged ids")
    # Versions that were replaced and wraps, which are for their recipients, are not served.
    plain = [i for i in ids if by_id[i]["kind"] in (1, 6, 7, 9735)]
    client, found = t.connect(relay), {}
    for first in range(0, len(plain), 400):
        for event in client.query({"ids": plain[first : first + 400], "limit": 400}):
            found[event["id"]] = event
    check_equal(len(found), len(plain), "events served")
    for identifier, event in found.items():
        check_equal(event, by_id[identifier], "event served")


@suite.case("60 subscribers get every event exactly once, in a closed and an open loop")
def fan_out(t):
    relay = t.own_relay()
    for seed, rate in ((1, 0), (2, 1000)):
        events = corpus(relay, f"live-{seed}", events=1500, kind=20001, seed=seed)
        result = load("fanout", relay, corpus=events, subscribers=60, rate=rate)
        check_equal(result["delivered"], 1500 * 60, "deliveries")


@suite.case("a slow reader is dropped, the other gets every event")
def slow_reader(t):
    relay = t.own_relay({"limits.send_queue_bytes": 1 << 20})
    events = corpus(relay, "live", events=20000, kind=20001)
    result = load("slow-reader", relay, corpus=events, pid=relay.pid)
    check_equal(result["delivered_to_reader"], 20000, "events at the reader")
    check(result["rss_rise_mib"] < 12, f"memory rose by {result['rss_rise_mib']} MiB")


@suite.case("1,000 idle connections cost less than 2 KiB each")
def idle(t):
    relay = t.own_relay()
    result = load("idle", relay, connections=1000, settle_s=1, pid=relay.pid)
    check(result["bytes_per_subscribed_connection"] < 2048, f"figures: {result}")


if __name__ == "__main__":
    suite.main()
