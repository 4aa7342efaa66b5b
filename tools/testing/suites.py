"""The suites: what each builds and which programs it runs.

How tests plug in:

  GoogleTest and other programs   test(...) in a meson.build, with `suite : 'unit'` or the name of
                                  another suite of MESON_SUITES. They run in `asan` as well.
  test/protocol/*.py              executable files; they test the relay that `--gyre` names. They
                                  run in `asan` as well.
  test/regression/*.py            the same, for faults that must stay dead; release only
  test/clients/*.mjs              the same with Node.js, after `npm ci` in that folder
  test/fuzz/<name>_fuzz.cc        listed in test/fuzz/meson.build; seeds in test/fuzz/corpus/<name>
  tools/lint/*.py                 lints, each with a test of its own in test/lint

A script prints `ok NAME` or `not ok NAME - why` for each case and `N passed, M failed` at the end,
and exits with 1 if a case failed. Indented lines behind a `not ok` say more about it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from cases import Case, Report
from programs import LOGS, TOP, Program, run, run_all

# Suites of Meson's tests that run in the release build, with what they prove.
MESON_SUITES = {
    "unit": "each part by itself, release build",
    "sim": "whole relays on one thread, each run from one seed, with faults",
    "crash": "a store whose power fails at each step; `store_crash --points 10000` for more",
}

# In the ThreadSanitizer build only what has threads is built and run: program and its cases.
THREADED_TESTS = {
    "base": "SharedBytes*:SpscRing*",
    "net": "AdmissionTable*",
    "runtime": "Mesh*:Shard*:UringIo*:IoContract*",
    "storage": "BackgroundWorker*:EventLog*:LogWriter*:Store.*",
    "app_store": "*",
}

# Black-box scripts that run on the whole relay in that build: what starts, stops and kills it.
THREADED_PROTOCOL_TESTS = {
    "backup_test",
    "kill_test",
    "nip01_events_test",
    "nip01_subscriptions_test",
    "restart_test",
}
# These measure memory, of which sanitizers need many times as much.
MEMORY_TESTS = {"load_test", "slow_reader_test"}

FUZZ_SECONDS = 12
FUZZ_SEED = 1


@dataclass
class Suite:
    name: str
    meaning: str
    run: object  # () -> list of Reports
    is_default: bool = True


def build(kind, *targets):
    """Builds, quietly unless it fails."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"build-{kind}.log"
    started = time.monotonic()
    with open(log, "wb") as out:
        exit_code = subprocess.call(
            [TOP / "tools" / "build", kind, "-k", "0", *targets],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    seconds = time.monotonic() - started
    report = Report(f"build {kind}", seconds=seconds, log=str(log.relative_to(TOP)))
    if exit_code != 0:
        report.cases = [Case(report.name, "does not build:\n" + build_errors(log))]
    return report


def build_errors(log):
    """What compilers and Meson say, without ninja's progress and the commands; the first of it."""
    lines = [
        line
        for line in log.read_text(errors="replace").splitlines()
        if not re.match(r"\[\d+/\d+\] |FAILED: |(?:\S*/)?(?:g\+\+|clang\+\+-19|c\+\+) +-", line)
    ]
    errors = [number for number, line in enumerate(lines) if "error:" in line or "ERROR:" in line]
    first = max(0, errors[0] - 8) if errors else max(0, len(lines) - 40)
    return "\n".join(lines[first : first + 60])


def meson_programs(kind, suite=None):
    """Tests that the build folder knows, of one suite or of all but lint."""
    text = subprocess.run(
        ["meson", "introspect", "--tests", str(TOP / "build" / kind)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    programs = []
    for test in json.loads(text):
        # Meson writes "project:suite".
        suites = [name.rpartition(":")[2] for name in test["suite"]]
        if "lint" in suites or (suite is not None and suite not in suites):
            continue
        programs.append(
            Program(
                name=test["name"],
                command=test["cmd"],
                kind="gtest" if test["protocol"] == "gtest" else "exit code",
                environment=test["env"],
                folder=Path(test["workdir"] or TOP / "build" / kind),
                seconds_max=600,
            )
        )
    return programs


def none_found(what):
    return [Report(what, [Case(what, "there is no such test")])]


def built(kind, suite, find_programs, targets=()):
    """Builds `kind`, then runs what `find_programs` finds."""
    built_report = build(kind, *targets)
    if built_report.failed:
        return [built_report]
    programs = find_programs()
    return [built_report] + (run_all(suite, programs) if programs else none_found(suite))


def run_lint():
    programs = [
        Program(script.stem, [sys.executable, script])
        for script in sorted((TOP / "tools" / "lint").glob("*.py"))
        if os.access(script, os.X_OK) and script.stem != "clang_tidy"
    ]
    programs += [
        Program(script.stem, [sys.executable, script])
        for script in sorted((TOP / "test" / "lint").glob("*_test.py"))
    ]
    return run_all("lint", programs)


def run_tidy():
    script = TOP / "tools" / "lint" / "clang_tidy.py"
    return [run("tidy", Program("clang_tidy", [sys.executable, script], seconds_max=3600))]


def run_meson_suite(suite):
    return built("release", suite, lambda: meson_programs("release", suite))


def run_asan():
    environment = {
        "ASAN_OPTIONS": "abort_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    }

    def find():
        programs = meson_programs("asan")
        for program in programs:
            program.environment = {**environment, **program.environment}
        scripts = protocol_programs("asan", environment)
        return programs + [script for script in scripts if script.name not in MEMORY_TESTS]

    return built("asan", "asan", find)


def run_tsan():
    environment = {"TSAN_OPTIONS": "halt_on_error=1"}

    def find():
        known = {program.name: program for program in meson_programs("tsan")}
        programs = []
        for name, threaded in THREADED_TESTS.items():
            program = known[name]
            program.command.append(f"--gtest_filter={threaded}:-*DeathTest*")
            program.environment = {**environment, **program.environment}
            programs.append(program)
        scripts = protocol_programs("tsan", environment)
        return programs + [s for s in scripts if s.name in THREADED_PROTOCOL_TESTS]

    targets = [f"test/unit/{name.split('_')[0]}/{name}_test" for name in THREADED_TESTS]
    return built("tsan", "tsan", find, ["gyre", *targets])


def run_fuzz():
    report = build("fuzz")
    if report.failed:
        return [report]
    targets = sorted((TOP / "build" / "fuzz" / "test" / "fuzz").glob("*_fuzz"))
    with tempfile.TemporaryDirectory(prefix="gyre-fuzz-") as scratch:
        programs = [fuzz_program(target, Path(scratch)) for target in targets]
        return [report] + (run_all("fuzz", programs) if programs else none_found("fuzz"))


def fuzz_program(target, scratch):
    name = target.name.removesuffix("_fuzz")
    found = scratch / name
    found.mkdir()
    corpus = TOP / "test" / "fuzz" / "corpus" / name
    # New inputs go to the first folder; the seeds behind it are only read.
    folders = [found] + ([corpus] if corpus.is_dir() else [])
    return Program(
        name,
        [
            target,
            f"-seed={FUZZ_SEED}",
            f"-max_total_time={FUZZ_SECONDS}",
            "-timeout=10",
            "-rss_limit_mb=2048",
            f"-artifact_prefix={LOGS}/fuzz/{name}-",
            *folders,
        ],
        kind="exit code",
        environment={"UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"},
        seconds_max=FUZZ_SECONDS * 5,
        must_fail=name == "canary",
    )


def protocol_programs(kind, environment=None, folder="protocol"):
    """The black-box scripts, on the relay of that build."""
    gyre = TOP / "build" / kind / "gyre"
    return [
        Program(
            script.stem,
            [sys.executable, script, "--gyre", gyre],
            environment=environment or {},
            seconds_max=600,
        )
        for script in sorted((TOP / "test" / folder).glob("*.py"))
        if os.access(script, os.X_OK)
    ]


def run_protocol():
    def find():
        return protocol_programs("release") + protocol_programs("release", folder="regression")

    return built("release", "protocol", find)


def run_clients():
    folder = TOP / "test" / "clients"
    if not folder.is_dir():
        return none_found("clients")
    installed = install_node_modules(folder)
    if installed.failed:
        return [installed]
    return [installed] + built(
        "release",
        "clients",
        lambda: [
            Program(script.stem, ["node", script], folder=folder)
            for script in sorted(folder.glob("*.mjs"))
            if os.access(script, os.X_OK)
        ],
    )


def install_node_modules(folder):
    """`npm ci`, unless what the lock file names is there already."""
    lock = folder / "package-lock.json"
    noted = folder / "node_modules" / ".gyre-package-lock.json"
    if noted.exists() and noted.read_bytes() == lock.read_bytes():
        return Report("npm ci")
    command = ["npm", "ci", "--no-audit", "--no-fund"]
    report = run("clients", Program("npm ci", command, "exit code", folder=folder))
    if report.failed:
        return report
    shutil.copyfile(lock, noted)
    # Installing is a step, not a test.
    return Report("npm ci", seconds=report.seconds, log=report.log)


SUITES = [
    Suite("lint", "style, layers, headers, formatting; and that lints catch faults", run_lint),
    *(
        Suite(name, meaning, lambda name=name: run_meson_suite(name))
        for name, meaning in MESON_SUITES.items()
    ),
    Suite("asan", "the same with AddressSanitizer and UndefinedBehaviorSanitizer", run_asan),
    Suite("tsan", "what has threads, ThreadSanitizer", run_tsan),
    Suite("fuzz", f"each fuzz target for {FUZZ_SECONDS} seconds from a fixed seed", run_fuzz),
    Suite("protocol", "the relay from outside, NIP by NIP", run_protocol),
    Suite("clients", "the relay with real client libraries", run_clients),
    Suite("tidy", "clang-tidy on every source; takes long", run_tidy, is_default=False),
]
