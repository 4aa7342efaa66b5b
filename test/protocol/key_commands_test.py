#!/usr/bin/env python3
"""The commands for keys, events and encryption, from outside: what they print, take and refuse."""

import argparse
import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile
import termios
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
    assert "has '\u00e9'," in c.run("keygen", "--end", "q\u00e9", expect=1)[1]
    for arguments in (("keygen", "--begin", "q\x1b[2J"), ("convert", "\x1b[2J")):
        err = c.run(*arguments, expect=1)[1]
        assert "\\u001b[2J" in err and "\x1b" not in err, err
    c.run("keygen", "--hex", expect=2)
    process = subprocess.Popen(
        [c.gyre, "keygen", "--begin", "q" * 16], stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    # The search begins once interrupts are caught; its threads show that.
    while len(os.listdir(f"/proc/{process.pid}/task")) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 130 and out == b"" and b"none fits" in err, (out, err)


@case("keygen says how many threads it could start")
def too_many_threads(c):
    def ask_for_large_stacks():
        # Those of threads are as large as that of the first may be: 64 TiB, of 128 that there are.
        stack_max = resource.getrlimit(resource.RLIMIT_STACK)[1]
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 46, stack_max))

    result = subprocess.run(
        [c.gyre, "keygen", "--begin", "q" * 16, "--threads", "4"],
        preexec_fn=ask_for_large_stacks,
        capture_output=True,
        timeout=60,
    )
    assert result.returncode == 1 and b"of 4 threads" in result.stderr, result


@case("convert shows every form, and takes no secret from the command line")
def convert(c):
    path, key = c.key("a")
    shown, _ = c.run("convert", "--secret", "--secret-file", path)
    assert key["secret"] in shown and key["npub"] in shown
    assert "command line" in c.run("convert", "--secret", key["secret"], expect=1)[1]
    c.run("convert", expect=2)
    c.run("convert", "--secret-file", path, key["npub"], expect=2)
    c.run("convert", "npub1nonsense", expect=1)


@case("a secret among the arguments is refused and repeated nowhere, even one with a slip in it")
def secret_arguments(c):
    path, key = c.key("a")
    slip = key["nsec"][:-1] + "q"
    for secret in (key["nsec"], slip, key["nsec"].upper(), key["nsec"][:-2]):
        for arguments in (
            ("convert", secret),
            ("convert", "--secret", secret),
            ("convert", "--secret", "--secret-file", secret),
            ("keygen", secret),
            ("keygen", f"--begin={secret}"),
            ("event", "make", "--secret-file", path, "--tag", secret),
            ("event", "make", "--secret-file", path, "--kind", secret),
            ("encrypt", "--secret-file", path, "--to", secret, "x"),
        ):
            out, err = c.run(*arguments, expect=2)
            assert out == "" and "command line" in err, (arguments, out, err)
            assert secret[5:20].lower() not in err.lower(), (arguments, err)


@case("somebody else's pointer has no power over the terminal")
def harmless_pointers(c):
    # An naddr and its identifier, an nprofile and its relay, both with line feed and escape.
    author = bytes.fromhex("f9" * 32)
    identifier = b"x\n\0\x1b[2J\xc2\x9b"
    address = [0, len(identifier), *identifier, 2, 32, *author, 3, 4, 0, 0, 117, 71]
    profile = [0, 32, *author, 1, 13, *b"wss://x\n\x1b[31m"]
    for prefix, parts, shown in (
        ("naddr", address, "identifier  x\\u000a\\u0000\\u001b[2J\\u009b\n"),
        ("nprofile", profile, "relay       wss://x\\u000a\\u001b[31m\n"),
    ):
        out, _ = c.run("convert", bech32(prefix, bytes(parts)))
        assert shown in out and "\x1b" not in out and "\0" not in out, out


def bech32(prefix, data):
    """BIP-173."""
    alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    number, bits, values = 0, 0, []
    for byte in data:
        number, bits = number << 8 | byte, bits + 8
        while bits >= 5:
            bits -= 5
            values.append(number >> bits & 31)
    if bits:
        values.append(number << (5 - bits) & 31)
    checksum = 1
    expanded = [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]
    for value in expanded + values + [0] * 6:
        top = checksum >> 25
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value
        for i, part in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            checksum ^= part if top >> i & 1 else 0
    checksum ^= 1
    values += [checksum >> 5 * (5 - i) & 31 for i in range(6)]
    return prefix + "1" + "".join(alphabet[value] for value in values)


@case("output that cannot be written is an error of every command")
def full_disk(c):
    path, key = c.key("a")
    own = ("--secret-file", path)
    payload, _ = c.run("encrypt", *own, "--to", key["npub"], "x")
    for arguments, text in (
        (("keygen",), ""),
        (("keygen", "--begin", "q"), ""),
        (("convert", key["npub"]), ""),
        (("convert", "--secret", *own), ""),
        (("event", "make", *own), ""),
        (("event", "sign", *own), '{"kind":1,"content":"a"}\n'),
        (("event", "verify"), ""),
        (("encrypt", *own, "--to", key["npub"], "x"), ""),
        (("decrypt", *own, "--from", key["npub"], payload.strip()), ""),
        (("config", "--defaults"), ""),
        (("--help",), ""),
    ):
        with open("/dev/full", "wb") as full:
            result = subprocess.run(
                [c.gyre, *arguments],
                input=text.encode(),
                stdout=full,
                stderr=subprocess.PIPE,
                timeout=60,
            )
        assert result.returncode == 1, (arguments, result)
        assert b"standard output: No space left" in result.stderr, (arguments, result)


@case("input that cannot be read is not taken for an empty one")
def unreadable_input(c):
    path, key = c.key("a")
    own = ("--secret-file", path)
    folder = os.open(c.folder, os.O_RDONLY)
    for arguments in (
        ("event", "verify"),
        ("event", "verify", "-"),
        ("event", "sign", *own),
        ("encrypt", *own, "--to", key["npub"]),
        ("encrypt", "--nip04", *own, "--to", key["npub"]),
        ("decrypt", *own, "--from", key["npub"]),
    ):
        result = subprocess.run([c.gyre, *arguments], stdin=folder, capture_output=True, timeout=60)
        assert result.returncode == 1 and result.stdout == b"", (arguments, result)
        assert b"cannot read to the end" in result.stderr, (arguments, result)
    os.close(folder)


@case("endless input ends the command, not the memory")
def endless_input(c):
    path, key = c.key("a")
    own = ("--secret-file", path)
    for arguments in (
        ("event", "verify", "/dev/zero"),
        ("event", "sign", *own, "/dev/zero"),
        ("encrypt", *own, "--to", key["npub"]),
        ("decrypt", *own, "--from", key["npub"]),
    ):
        with open("/dev/zero", "rb") as zeros:
            result = subprocess.run(
                [c.gyre, *arguments], stdin=zeros, capture_output=True, timeout=60
            )
        assert result.returncode == 1 and b"more than" in result.stderr, (arguments, result)
    text = "x" * 65536
    _, err = c.run("encrypt", *own, "--to", key["npub"], text=text, expect=1)
    assert "65536 bytes" in err and "1 to 65535" in err, err


@case("an empty value is a value, and numbers are decimal")
def empty_values(c):
    path, key = c.key("a")
    assert "empty" in c.run("keygen", "--begin", "", expect=1)[1]
    c.run("event", "make", "--secret-file", path, "--created-at", "", expect=1)
    c.run("encrypt", "--secret-file", path, "--to", key["npub"], "", expect=1)
    out, _ = c.run("event", "make", "--secret-file", path, "--kind", "010")
    assert json.loads(out)["kind"] == 10, out
    for kind in ("0x10", "65536", "-1", "", "1 "):
        c.run("event", "make", "--secret-file", path, "--kind", kind, expect=1)
    c.run("keygen", "--nonsense", expect=2)
    c.run(expect=2)


@case("a signal at the question for a key gives the terminal its echo back")
def interrupted_question(c):
    # Many times: one may come just before the terminal is read.
    for number, wanted in [(3, signal.SIGINT)] * 30 + [(28, signal.SIGQUIT)]:
        process, terminal = pty.fork()
        if process == 0:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.execv(c.gyre, [str(c.gyre), "convert", "--secret", "--secret-file", "-"])
        shown = b""
        while b"not shown" not in shown:
            shown += os.read(terminal, 1000)
        assert not termios.tcgetattr(terminal)[3] & termios.ECHO, "the key would be shown"
        os.write(terminal, bytes([number]))
        ended = wait_for(process)
        assert ended is not None, "it waits for a key"
        assert os.WIFSIGNALED(ended) and os.WTERMSIG(ended) == wanted, ended
        assert termios.tcgetattr(terminal)[3] & termios.ECHO, "no echo"
        os.close(terminal)


def wait_for(process):
    """Its status, or None if it had to be killed."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


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
    before = int(time.time())
    drafts = '{"kind":1,"content":"a"}\n\n{"kind":1}\n{"kind":7,"content":"+","created_at":5}\n'
    out, err = c.run("event", "sign", "--secret-file", path, text=drafts, expect=1)
    assert "line 3" in err, err
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["content"] for event in events] == ["a", "+"] and events[1]["created_at"] == 5
    assert before <= events[0]["created_at"] <= int(time.time()), events
    assert c.run("event", "verify", text=out)[0] == "2 valid, 0 invalid\n"
    for seconds in (0, 2**63 - 1):
        draft = json.dumps({"kind": 1, "content": "", "created_at": seconds})
        out, _ = c.run("event", "sign", "--secret-file", path, text=draft)
        assert json.loads(out)["created_at"] == seconds, out
        out, _ = c.run("event", "make", "--secret-file", path, "--created-at", str(seconds))
        assert json.loads(out)["created_at"] == seconds, out
    foreign = '{"kind":1,"content":"a","pubkey":"' + c.key("b")[1]["public"] + '"}\n'
    out, err = c.run("event", "sign", "--secret-file", path, text=foreign, expect=1)
    assert out == "" and "pubkey" in err, (out, err)
    own = foreign.replace(json.loads(foreign)["pubkey"], key["public"])
    c.run("event", "sign", "--secret-file", path, text=own)


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
        # As the help's example has it: all that keygen printed.
        whole = Path(path_b).read_text()
        out, _ = c.run("decrypt", "--from", a["npub"], payload, env={"GYRE_SECRET_KEY": whole})
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
