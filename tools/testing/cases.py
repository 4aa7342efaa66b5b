"""Cases: what one test said, and how to read it from a GoogleTest report or a script's lines."""

import json
import re
from dataclasses import dataclass, field


@dataclass
class Case:
    name: str
    problem: str = ""  # Empty: passed.

    @property
    def passed(self):
        return not self.problem


@dataclass
class Report:
    """All cases of one program, or of one step such as a build."""

    name: str
    cases: list = field(default_factory=list)
    seconds: float = 0.0
    log: str = ""  # File with the whole output.

    @property
    def passed(self):
        return sum(case.passed for case in self.cases)

    @property
    def failed(self):
        return len(self.cases) - self.passed


def how_it_ended(exit_code):
    if exit_code is None:
        return "did not end in time"
    if exit_code < 0:
        return f"was killed by signal {-exit_code}"
    return f"ended with exit code {exit_code}"


def read_gtest(report_text, output, exit_code):
    """Cases of a GoogleTest program, from its JSON report, or from its output if it died before."""
    cases = _read_gtest_json(report_text) if report_text else _read_gtest_output(output, exit_code)
    if exit_code != 0 and all(case.passed for case in cases):
        cases.append(Case("(whole program)", how_it_ended(exit_code)))
    return cases


def _read_gtest_json(text):
    cases = []
    for suite in json.loads(text).get("testsuites", []):
        for test in suite.get("testsuite", []):
            name = f"{suite['name']}.{test['name']}"
            if test.get("value_param"):
                name += f" ({test['value_param'][:60]})"
            problem = "\n".join(failure["failure"] for failure in test.get("failures", []))
            # Nothing is skipped here: a test that cannot run on this machine has failed on it.
            if not problem and test.get("result") != "COMPLETED":
                problem = "was skipped" if test.get("result") == "SKIPPED" else "is disabled"
            cases.append(Case(name, problem))
    return cases


def _read_gtest_output(output, exit_code):
    cases = []
    running = None
    for line in output.splitlines():
        found = re.match(r"\[ +(RUN|OK|FAILED) +\] (\S+\.\S+)", line)
        if not found:
            continue
        word, name = found.groups()
        if word == "RUN":
            running = name
        elif running is not None:
            cases.append(Case(name.rstrip(","), "" if word == "OK" else "failed; see the log"))
            running = None
    if running is not None:
        reasons = re.findall(r"(?m)^.*(?:ERROR: |SUMMARY: |runtime error: |assert).*$", output)
        problem = [how_it_ended(exit_code) + " in this test", *reasons[-5:]]
        cases.append(Case(running, "\n".join(problem)))
    return cases


def speaks_as_script(output):
    """True for what ends with a script's closing line."""
    return re.search(r"(?m)^\d+ passed, \d+ failed\s*\Z", output) is not None


def read_script(output, exit_code):
    """Cases of a script: lines `ok NAME` and `not ok NAME - why`, and `N passed, M failed` last.

    Indented lines that follow a `not ok` belong to it.
    """
    cases = []
    closing = None
    for line in output.splitlines():
        if line.startswith("  ") and cases and not cases[-1].passed:
            cases[-1].problem += "\n" + line.strip()
        elif line.startswith("ok "):
            cases.append(Case(line[3:].strip()))
        elif line.startswith("not ok "):
            name, _, why = line[7:].partition(" - ")
            cases.append(Case(name.strip(), why.strip() or "failed; see the log"))
        elif found := re.fullmatch(r"(\d+) passed, (\d+) failed", line.strip()):
            closing = (int(found[1]), int(found[2]))
    told = (sum(case.passed for case in cases), sum(not case.passed for case in cases))
    if exit_code is None or exit_code < 0:
        cases.append(Case("(whole program)", how_it_ended(exit_code)))
    elif closing != told:
        cases.append(Case("(whole program)", f"its closing line says {closing}, its cases {told}"))
    elif exit_code != (1 if told[1] else 0):
        cases.append(Case("(whole program)", how_it_ended(exit_code)))
    elif not cases:
        cases.append(Case("(whole program)", "ran no test"))
    return cases


def read_exit_code(exit_code):
    """The one case of a program that tells by its exit code alone."""
    return [Case("(whole program)", "" if exit_code == 0 else how_it_ended(exit_code))]
