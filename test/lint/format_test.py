#!/usr/bin/env python3
"""format.py catches what clang-format would change."""

from pathlib import Path

from planted import LintTest

STYLE = (Path(__file__).resolve().parents[2] / ".clang-format").read_text()

test = LintTest("format.py")
test.accepts("formatted code", {".clang-format": STYLE, "src/a.cc": "int a() { return 1; }\n"})
test.catches(
    "unformatted code",
    {".clang-format": STYLE, "src/a.cc": "\nint  a(){return 1;}\n"},
    "src/a.cc:2: is not formatted",
)
test.finish()
