#!/usr/bin/env python3
"""The commands for keys, events and encryption, from outside: what they print, take and refuse."""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bip340

CASES = []


def case(name):
    def add(function):
        CASES.append((name, function))
        return function

    return add


class Commands:
    def __init__(self, gyre, folder):
        self.gyre = gyre
        self.folder = folder

    def run(self, *arguments, text="", expect=0, env=None):
        result = subprocess.run(
            [self.gyre, *arguments],
            input=text.encode(),
            capture_output=True,
            timeout=120,
            env={**os.environ, **(env or {})},
        )
        assert result.returncode == expect, (arguments, result)
        return result.stdout.decode(), result.stderr.decode()

    def key(self, name):
        """A new key: (file, its lines as a dictionary)."""
        lines = dict(line.split() for line in self.run("keygen")[0].splitlines())
        path = self.folder / name
        path.touch(0o600)
        path.write_text(f"secret      {lines['secret']}\nnsec        {lines['nsec']}\n")
        return str(path), lines


@case("keygen makes a key whose public form is right, and another one each time")
def keygen(c):
    first, second = c.key("a")[1], c.key("b")[1]
    assert first["secret"] != second["secret"]
    assert bip340.Key(bytes.fromhex(first["secret"])).pubkey == first["public"]
    shown = c.run("convert", first["npub"])[0]
    assert first["public"] in shown, shown


@case("keygen finds what is asked for at the place that is asked for")
def vanity(c):
    for option, pattern in (
        ("--begin", "^npub1zz"),
        ("--end", "zz$"),
        ("--contain", "^npub1.*zz"),
    ):
        out, _ = c.run("keygen", option, "zz")
        lines = dict(line.split() for line in out.splitlines())
        assert re.search(pattern, lines["npub"]), (option, lines)
        assert bip340.Key(bytes.fromhex(lines["secret"])).pubkey == lines["public"]
    out, _ = c.run("keygen", "--hex", "--begin", "0ff")
    assert "\npublic      0ff" in out, out


@case("keygen says why a text cannot be found, and ends at once on an interrupt")
def vanity_ends(c):
    assert "'b'" in c.run("keygen", "--begin", "bob", expect=1)[1]
    process = subprocess.Popen(
        [c.gyre, "keygen", "--begin", "q" * 16], stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    # The search begins once interrupts are caught; its threads show that.
    while len(os.listdir(f"/proc/{process.pid}/task")) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 130 and out == b"" and b"none fits" in err, (out, err)


@case("convert shows every form, and takes no secret from the command line")
def convert(c):
    path, key = c.key("a")
    shown, _ = c.run("convert", "--secret", "--secret-file", path)
    assert key["secret"] in shown and key["npub"] in shown
    assert "command line" in c.run("convert", "--secret", key["nsec"], expect=1)[1]
    _, error = c.run("convert", key["nsec"], expect=1)
    assert key["nsec"] not in error, error
    c.run("convert", expect=2)
    c.run("convert", "npub1nonsense", expect=1)


@case("event make signs what verify takes, and a change is seen")
def event(c):
    path, key = c.key("a")
    out, _ = c.run(
        "event", "make", "--secret-file", path, "--kind", "30023", "--content", 'é "x"\n',
        "--tag", "d=a=b", "--tag", '["t","x","y"]', "--created-at", "2026-01-01T00:00:01Z",
    )
    made = json.loads(out)
    assert made["pubkey"] == key["public"] and made["created_at"] == 1767225601
    assert made["tags"] == [["d", "a=b"], ["t", "x", "y"]] and made["content"] == 'é "x"\n'
    assert c.run("event", "verify", text=out)[0] == "1 valid, 0 invalid\n"
    made["content"] += "!"
    out, err = c.run("event", "verify", text=out + json.dumps(made) + "\nrubbish\n", expect=1)
    assert out == "1 valid, 2 invalid\n" and "line 2" in err and "line 3" in err, (out, err)
    c.run("event", "make", "--secret-file", path, "--tag", "nothing", expect=1)


@case("event sign completes drafts and names the lines that are none")
def sign(c):
    path, key = c.key("a")
    drafts = '{"kind":1,"content":"a"}\n\n{"kind":1}\n{"kind":7,"content":"+","created_at":5}\n'
    out, err = c.run("event", "sign", "--secret-file", path, text=drafts, expect=1)
    assert "line 3" in err, err
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["content"] for event in events] == ["a", "+"] and events[1]["created_at"] == 5
    assert c.run("event", "verify", text=out)[0] == "2 valid, 0 invalid\n"


@case("encrypt and decrypt understand each other, with keys from file, environment or input")
def encryption(c):
    (path_a, a), (path_b, b) = c.key("a"), c.key("b")
    for flags in ((), ("--nip04",)):
        own = ("--secret-file", path_a)
        payload, _ = c.run("encrypt", *flags, *own, "--to", b["npub"], text="é\n")
        out, _ = c.run("decrypt", "--secret-file", path_b, "--from", a["public"], text=payload)
        assert out == "é\n", out
        out, _ = c.run("decrypt", "--from", a["npub"], payload, env={"GYRE_SECRET_KEY": b["nsec"]})
        assert out == "é\n", out
        out, _ = c.run(
            "decrypt", "--secret-file", "-", "--from", a["npub"], payload.strip(), text=b["secret"]
        )
        assert out == "é\n", out
        wrong = c.key("c")[1]["npub"]
        own = ("--secret-file", path_b)
        out, err = c.run("decrypt", *own, "--from", wrong, text=payload, expect=1)
        assert out == "" and "cannot be decrypted" in err, err
    _, err = c.run("encrypt", "--secret-file", path_a, "--to", b["npub"], text="", expect=1)
    assert "too short" in err, err


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gyre", type=Path, required=True)
    gyre = parser.parse_args().gyre.resolve()
    failed = 0
    for name, function in CASES:
        with tempfile.TemporaryDirectory(prefix="gyre-keys-") as folder:
            try:
                function(Commands(gyre, Path(folder)))
                print(f"ok {name}", flush=True)
            except (AssertionError, KeyError, ValueError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"not ok {name} - {error!r}", flush=True)
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
