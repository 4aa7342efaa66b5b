#!/usr/bin/env python3
"""tools/testing counts what programs say, and notices when they say too little."""

import json
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tools" / "testing"))

import cases  # noqa: E402
import programs  # noqa: E402

passed = failed = 0


def expect(name, found, right):
    """`found` is a list of Cases, `right` a list of (name, part of the problem)."""
    global passed, failed
    fits = len(found) == len(right) and all(
        case.name == name and (part in case.problem if part else not case.problem)
        for case, (name, part) in zip(found, right)
    )
    passed += fits
    failed += not fits
    print(f"ok {name}" if fits else f"not ok {name} - got {found}")


def gtest(*tests):
    return json.dumps({"testsuites": [{"name": "S", "testsuite": list(tests)}]})


PASSED = {"name": "A", "status": "RUN", "result": "COMPLETED"}
FAILED = {
    "name": "B",
    "status": "RUN",
    "result": "COMPLETED",
    "failures": [{"failure": "1 is not 2"}],
}
SKIPPED = {"name": "C", "status": "RUN", "result": "SKIPPED"}
DISABLED = {"name": "DISABLED_D", "status": "NOTRUN", "result": "SUPPRESSED"}
WHOLE = "(whole program)"

expect(
    "gtest: counts each case",
    cases.read_gtest(gtest(PASSED, FAILED), "", 1),
    [("S.A", ""), ("S.B", "1 is not 2")],
)
expect(
    "gtest: a skipped case has failed",
    cases.read_gtest(gtest(SKIPPED), "", 0),
    [("S.C", "skipped")],
)
expect(
    "gtest: a disabled case has failed",
    cases.read_gtest(gtest(DISABLED), "", 0),
    [("S.DISABLED_D", "disabled")],
)
expect(
    "gtest: a bad exit code alone is a failure",
    cases.read_gtest(gtest(PASSED), "", 23),
    [("S.A", ""), (WHOLE, "exit code 23")],
)
CRASH = "[ RUN      ] S.A\n[       OK ] S.A (0 ms)\n[ RUN      ] S.B\nGYRE_ASSERT failed\n"
expect(
    "gtest: a crash is a failure of the running case",
    cases.read_gtest("", CRASH, -6),
    [("S.A", ""), ("S.B", "signal 6")],
)
expect(
    "gtest: a program that never starts is a failure",
    cases.read_gtest("", "", 127),
    [(WHOLE, "exit code 127")],
)

GOOD = "noise\nok one\nnot ok two - why - so\n  more\n1 passed, 1 failed\n"
expect(
    "script: counts each case", cases.read_script(GOOD, 1), [("one", ""), ("two", "why - so\nmore")]
)
expect(
    "script: no closing line is a failure",
    cases.read_script("ok one\n", 0),
    [("one", ""), (WHOLE, "closing line")],
)
expect(
    "script: a wrong closing line is a failure",
    cases.read_script("ok one\n2 passed, 0 failed\n", 0),
    [("one", ""), (WHOLE, "closing line")],
)
expect(
    "script: a wrong exit code is a failure",
    cases.read_script("ok one\n1 passed, 0 failed\n", 2),
    [("one", ""), (WHOLE, "exit code 2")],
)
expect(
    "script: exit code 0 with a failed case is a failure",
    cases.read_script("not ok one - why\n0 passed, 1 failed\n", 0),
    [("one", "why"), (WHOLE, "code 0")],
)
expect(
    "script: no case is a failure",
    cases.read_script("0 passed, 0 failed\n", 0),
    [(WHOLE, "no test")],
)
expect(
    "script: a time-out is a failure",
    cases.read_script("ok one\n", None),
    [("one", ""), (WHOLE, "did not end in time")],
)

(TOP / "build").mkdir(exist_ok=True)
with tempfile.TemporaryDirectory(prefix="gyre-testing-", dir=TOP / "build") as folder:
    programs.LOGS = Path(folder)

    def run(name, *command, **more):
        return programs.run("s", programs.Program(name, ["sh", "-c", *command], **more)).cases

    expect(
        "run: output and exit code are read",
        run("a", "echo ok x; echo 1 passed, 0 failed"),
        [("x", "")],
    )
    expect(
        "run: a program over its time is ended",
        run("b", "sleep 60", seconds_max=0.2),
        [(WHOLE, "did not end in time")],
    )
    expect(
        "run: a program that speaks as a script does is read as one",
        run("g", "echo ok x; echo 1 passed, 0 failed", kind="exit code"),
        [("x", "")],
    )
    expect("run: by exit code", run("c", "exit 3", kind="exit code"), [(WHOLE, "exit code 3")])
    expect(
        "run: a canary that fails is right",
        run("d", "exit 3", kind="exit code", must_fail=True),
        [("d", "")],
    )
    expect(
        "run: a canary that passes is a failure",
        run("e", "exit 0", kind="exit code", must_fail=True),
        [("e", "did not fail")],
    )
    missing = programs.run("s", programs.Program("f", ["/nonexistent/program"], "gtest"))
    expect("run: a missing program is a failure", missing.cases, [(WHOLE, "exit code 127")])

print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
