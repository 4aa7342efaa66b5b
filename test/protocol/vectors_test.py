#!/usr/bin/env python3
"""Runs test/vectors against the relay with one, two and four shards; one line for each vector."""

import base64
import collections
import concurrent.futures
import json
import os
import traceback

from filter_model import selected
from harness import MEMBERS, Client, Context, Failure, Suite, check, check_equal, event_id, matches
from relay import REPOSITORY
from websocket import CLOSE, PING, PONG, TEXT, Closed, encode_frame, upgrade_request

VECTORS = os.path.join(REPOSITORY, "test", "vectors")
SILENCE_S = 0.25


def load(name):
    with open(os.path.join(VECTORS, name), encoding="utf-8") as file:
        return json.load(file)


class Run:
    """All vectors at one shard count."""

    def __init__(self, suite, shards):
        self.suite = suite
        self.context = Context(suite, shards)
        self.shards = shards

    def vector(self, name, function, *arguments):
        full_name = f"{name} [{self.shards} shard{'s' if self.shards > 1 else ''}]"
        try:
            function(*arguments)
            self.suite.report(full_name)
        except Failure as failure:
            self.suite.report(full_name, str(failure))
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            why = f"{type(error).__name__}: {error} at {place.name}:{place.lineno}"
            self.suite.report(full_name, why)

    # events.jsonl

    def events(self):
        """EV-A on one relay; what must be refused on another that has not stored EV-A01."""
        accepting, refusing = self.context.own_relay(), self.context.own_relay()
        self.clients = {relay: Client(relay) for relay in (accepting, refusing)}
        with open(os.path.join(VECTORS, "events.jsonl"), encoding="utf-8") as file:
            vectors = [json.loads(line) for line in file]
        for vector in vectors:
            relay = accepting if vector["id"].startswith("EV-A") else refusing
            self.vector(vector["id"], self.event_vector, relay, vector)
        for relay in self.clients:
            self.clients[relay].close()
            relay.close()

    def event_vector(self, relay, vector):
        client = self.clients[relay]
        try:
            self.event_exchange(client, vector)
        except BaseException:
            # The next vector must not see what this one left behind.
            client.close()
            self.clients[relay] = Client(relay)
            raise

    def event_exchange(self, client, vector):
        text = base64.b64decode(vector["send_b64"]) if "send_b64" in vector else vector["send"]
        client.send_text(text)
        if vector["expect"][0] == "CLOSE":
            check_equal(client.wait_closed(), vector["expect"][1], "close code")
            client.close()
            self.clients[client.relay] = Client(client.relay)
            return
        if vector["id"] == "FR-01":
            # May stay unanswered; what follows must be the answer or that of the fence.
            client.send("REQ", "after", {"ids": ["00" * 32]})
            message = client.recv()
            if message[0] != "EOSE":
                check(matches(vector["expect"], message), f"got {message}")
                client.expect(["EOSE", "after"])
            return
        client.expect(vector["expect"])
        self.nothing_more(client)
        if vector["expect"][0] == "OK" and vector["expect"][2] is True:
            self.read_back(client, json.loads(text)[1])

    def nothing_more(self, client):
        client.send("REQ", "fence", {"ids": ["00" * 32]})
        client.expect(["EOSE", "fence"])
        client.send("CLOSE", "fence")

    def read_back(self, client, sent):
        events = client.query({"ids": [sent["id"]]})
        check_equal(len(events), 1, "events read back by id")
        check_equal(sorted(events[0]), sorted(MEMBERS), "members read back")
        check_equal(event_id(events[0]), sent["id"], "hash of the event read back")
        for member in MEMBERS:
            check_equal(events[0][member], sent[member], f"{member} read back")

    # filters.json

    def filters(self):
        data = load("filters.json")
        names = {event["id"]: name for name, event in data["events"].items()}
        relay = self.context.own_relay()
        listener, client = Client(relay), Client(relay)
        for query in data["queries"]:
            events, _ = listener.stored(query["id"], *query["filters"])
            check_equal(events, [], "stored events of an empty relay")
        client.accept(*data["events"].values())
        live = collections.defaultdict(list)
        self.drain_live(listener, live)
        for query in data["queries"]:
            self.vector(query["id"], self.filter_vector, client, data, names, live, query)
        for bad in data["bad"]:
            self.vector(bad["id"], self.bad_filter, client, bad)
        listener.close()
        client.close()
        relay.close()

    def drain_live(self, listener, live):
        while True:
            try:
                message = listener.recv(2 * SILENCE_S)
            except TimeoutError:
                return
            live[message[1]].append(message)

    def filter_vector(self, client, data, names, live, query):
        events = client.query(*query["filters"])
        check_equal([names[event["id"]] for event in events], query["expect"], "stored events")
        for event in events:
            check_equal(event, data["events"][names[event["id"]]], "stored event")
        everything = selected(query["filters"], data["events"].values())
        if not any("limit" in wanted for wanted in query["filters"]):
            # Guards the model that the live part relies on.
            check_equal(len(everything), len(query["expect"]), "events by the model")
        wanted = sorted(names[event["id"]] for event in everything)
        for message in live[query["id"]]:
            check_equal(message[0], "EVENT", "live message")
        delivered = sorted(names[message[2]["id"]] for message in live[query["id"]])
        check_equal(delivered, wanted, "live events")
        check_equal(client.count(*query["filters"]), len(wanted), "COUNT")

    def bad_filter(self, client, bad):
        text = f'["REQ","{bad["id"]}"' + ("," + bad["filter"] if bad["filter"] else "") + "]"
        client.send_text(text)
        client.expect(["CLOSED", bad["id"], bad["prefix"] + ":*"])
        self.nothing_more(client)

    # scenarios.json

    def scenarios(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for scenario in load("scenarios.json"):
                if "NIP-77" not in scenario["needs"]:
                    pool.submit(self.vector, scenario["id"], self.scenario, scenario)

    def scenario(self, scenario):
        settings = {"auth.gated_kinds": []} if "gating" in scenario["needs"] else {}
        context = Context(self.suite, self.shards)
        try:
            relay = context.own_relay(settings)
            clients = {}
            for number, step in enumerate(scenario["steps"], 1):
                name = step["conn"]
                if name not in clients:
                    clients[name] = context.connect(relay)
                try:
                    self.step(clients[name], step)
                except Failure as failure:
                    raise Failure(f"step {number} on {name}: {failure}") from failure
            for name, client in clients.items():
                try:
                    client.silent(SILENCE_S)
                except Failure as failure:
                    raise Failure(f"after the last step on {name}: {failure}") from failure
        finally:
            context.close()

    def step(self, client, step):
        if "send" in step:
            client.send(*step["send"])
        if step.get("silent") or step.get("expect") == []:
            client.silent(SILENCE_S)
        elif "expect_any_order" in step:
            self.any_order(client, step["expect_any_order"])
        else:
            client.expect(*step["expect"])

    def any_order(self, client, expected):
        missing = list(expected)
        while missing:
            message = client.recv()
            met = [wanted for wanted in missing if matches(wanted, message)]
            check(bool(met), f"got {message}, right is one of {missing}")
            missing.remove(met[0])

    # ws.json

    def frames(self):
        relay = self.context.own_relay()
        for vector in load("ws.json")["vectors"]:
            self.vector(vector["id"], self.frame_vector, relay, vector)
        self.vector("WS-upgrade", self.upgrade, relay, load("ws.json")["upgrade"])
        relay.close()

    def frame_vector(self, relay, vector):
        """The bytes in one write, then one by one."""
        data = bytes.fromhex(vector["hex"])
        for pieces in ([data], [data[at : at + 1] for at in range(len(data))]):
            client = Client(relay)
            try:
                try:
                    for piece in pieces:
                        client.send_bytes(piece)
                except ConnectionError:
                    check("close" in vector["expect"], "connection ended early")
                self.frame_answer(client, vector["expect"])
            finally:
                client.close()

    def frame_answer(self, client, expect):
        if "close" in expect:
            check_equal(client.wait_closed(), expect["close"], "close code")
            return
        if "pong" in expect:
            opcode, payload = self.next_frame(client)
            check_equal((opcode, payload.hex()), (PONG, expect["pong"]), "answer to ping")
        else:
            opcode, payload = self.next_frame(client)
            check_equal(opcode, TEXT, "opcode of the answer")
            message = json.loads(payload)
            check(matches(expect["text"], message), f"got {message}, right is {expect['text']}")
        if "then" in expect:
            self.frame_answer(client, expect["then"])
        else:
            self.nothing_more(client)

    def next_frame(self, client):
        """The next frame but pings and AUTH, which may come at any time."""
        while True:
            opcode, payload, fin = client.next_frame()
            check(fin, "fragmented frame")
            if opcode == PING:
                client.send_bytes(encode_frame(PONG, payload))
            elif opcode == CLOSE:
                raise Closed(int.from_bytes(payload[:2], "big"))
            elif opcode != TEXT or json.loads(payload)[0] != "AUTH":
                return opcode, payload

    def upgrade(self, relay, upgrade):
        status, headers, _ = relay.raw_http(upgrade_request("relay", key=upgrade["key"]))
        check_equal(status, 101, "status")
        check_equal(headers.get("sec-websocket-accept"), upgrade["accept"], "accept")


def main():
    suite = Suite(shards=(1, 2, 4))
    options = suite.parse()
    for shards in map(int, options.shards.split(",")):
        run = Run(suite, shards)
        try:
            for part in (run.events, run.filters, run.scenarios, run.frames):
                run.vector(f"vectors {part.__name__}", part)
        finally:
            run.context.close()
    suite.finish()


if __name__ == "__main__":
    main()
