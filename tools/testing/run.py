#!/usr/bin/env python3
"""Runs gyre's test suites and sums up; see `tools/test --help`."""

import argparse
import sys
import time

from suites import SUITES


def parse_arguments():
    by_name = {suite.name: suite for suite in SUITES}
    listing = "\n".join(
        f"  {suite.name:<10} {suite.meaning}{'' if suite.is_default else ' (only when named)'}"
        for suite in SUITES
    )
    parser = argparse.ArgumentParser(
        prog="tools/test",
        usage="tools/test [SUITE...]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=(
            "Builds gyre and runs its tests: all suites, or those named.\n\nSuites:\n" + listing
        ),
        epilog=(
            "Every case is counted, those of GoogleTest and of scripts alike. The last line is\n"
            "`N passed, M failed`; the exit code is 1 if one failed. Whole outputs are kept in\n"
            "build/test-logs/SUITE/. One program alone: build/release/test/unit/nostr/nostr_test\n"
            "--gtest_filter='Filter.*'. How to add tests: the head of tools/testing/suites.py."
        ),
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    names = parser.parse_args().suites
    unknown = [name for name in names if name not in by_name]
    if unknown:
        parser.error(f"no such suite: {', '.join(unknown)}; there are {', '.join(by_name)}")
    # In the table's order: what is quick and tells most comes first.
    return [suite for suite in SUITES if (suite.name in names if names else suite.is_default)]


def print_report(report):
    counts = f"{report.passed} passed" + (f", {report.failed} FAILED" if report.failed else "")
    print(f"  {report.name:<24} {counts if report.cases else 'done':<24} {report.seconds:6.1f} s")
    for case in report.cases:
        if not case.passed:
            first, *more = case.problem.splitlines()
            print(f"    FAILED {case.name}: {first}")
            for line in more:
                print(f"      {line}")
    if report.failed and report.log:
        print(f"    whole output: {report.log}")
    sys.stdout.flush()


def main():
    passed = failed = 0
    started = time.monotonic()
    for suite in parse_arguments():
        print(f"== {suite.name}: {suite.meaning}", flush=True)
        for report in suite.run():
            print_report(report)
            passed += report.passed
            failed += report.failed
    print(f"== all suites took {time.monotonic() - started:.0f} s")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
