#!/usr/bin/env python3
"""Small rules that need no compiler: sizes, words, names, dead files.

Exceptions stand in allowed.txt beside this script, a line each: RULE PATH. That list may only
shrink: an entry that is not needed any more is a finding, and so is one that the last commit did
not have.
"""

import re
import subprocess
from pathlib import Path

from cpp_scan import blanked, functions
from findings import Finding, files, parse_root, tell

LINE_CHARS_MAX = 100
FILE_LINES_MAX = 700
FUNCTION_LINES_MAX = 70

CPP = (".h", ".cc")
SCRIPTS = (".py", ".mjs", ".js", ".sh")
TEXT = (*CPP, *SCRIPTS, ".md", ".build", ".txt", ".toml", ".wrap", ".yml", ".json", "")
# Data of tests, and other people's text.
EXEMPT = ("test/vectors/", "test/fuzz/corpus/", "LICENSE", "subprojects/packagefiles/")
ALLOWED = Path("tools/lint/allowed.txt")

# Written in halves, so that this file does not find itself.
BANNED_WORDS = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX|place" r"holder)\b")
MACHINE_PATHS = re.compile(
    r"(?<![\w.~$}-])/(?:wo" r"rk|ro" r"ot|home)/[\w.]|(?<![\w.~$}-])/t" r"mp/(?!gyre)[\w.]"
)
VAGUE_NAMES = {"util", "utils", "common", "misc"}


class Tree:
    """The files of a checkout, each read once."""

    def __init__(self, root):
        self.root = root
        self._texts = {}
        self.all = [
            path for path in files(root) if path.suffix in TEXT and not str(path).startswith(EXEMPT)
        ]
        self.cpp = [path for path in self.all if path.suffix in CPP]

    def text(self, path):
        if path not in self._texts:
            self._texts[path] = (self.root / path).read_text(errors="replace")
        return self._texts[path]

    def lines(self, path):
        return enumerate(self.text(path).splitlines(), 1)


def long_lines(tree):
    for path in tree.all:
        if path.suffix not in (*CPP, *SCRIPTS):
            continue
        for number, line in tree.lines(path):
            if len(line) > LINE_CHARS_MAX:
                yield Finding(path, number, f"{len(line)} characters, {LINE_CHARS_MAX} at most")


def long_files(tree):
    for path in tree.all:
        count = tree.text(path).count("\n")
        if count > FILE_LINES_MAX and path.suffix in (*CPP, *SCRIPTS):
            yield Finding(path, 0, f"{count} lines, {FILE_LINES_MAX} at most")


def long_functions(tree):
    for path in tree.cpp:
        for function in functions(tree.text(path)):
            if function.line_count > FUNCTION_LINES_MAX:
                size = f"{function.line_count} lines, {FUNCTION_LINES_MAX} at most"
                yield Finding(path, function.line, f"{function.name} has {size}")


def _matching(tree, pattern):
    for path in tree.all:
        for number, line in tree.lines(path):
            if found := pattern.search(line):
                yield Finding(path, number, f"{found[0]!r}")


def banned_words(tree):
    return _matching(tree, BANNED_WORDS)


def machine_paths(tree):
    return _matching(tree, MACHINE_PATHS)


def vague_names(tree):
    for path in tree.all:
        for part in path.parts:
            if vague := VAGUE_NAMES & set(re.split(r"[_.-]", part)):
                yield Finding(path, 0, f"{vague.pop()!r} says nothing; name the noun it holds")


def whitespace(tree):
    for path in tree.all:
        text = tree.text(path)
        if text and not text.endswith("\n"):
            yield Finding(path, 0, "does not end with a line break")
        for number, line in tree.lines(path):
            if line != line.rstrip():
                yield Finding(path, number, "blanks at the end")
            if "\t" in line or "\r" in line:
                yield Finding(path, number, "a tab or carriage return")


def headers_open_well(tree):
    """A header begins by saying what it is, then `#pragma once`."""
    for path in tree.cpp:
        if path.suffix != ".h":
            continue
        if not tree.text(path).startswith("// "):
            yield Finding(path, 1, "does not begin with a comment on what it is")
        if not re.search(r"(?m)^#pragma once$", tree.text(path)):
            yield Finding(path, 1, "has no #pragma once")


def dead_files(tree):
    """A source that no meson.build names, a header that nobody includes."""
    builds = {path: tree.text(path) for path in tree.all if path.name == "meson.build"}
    included = set()
    for path in tree.cpp:
        included.update(re.findall(r'#include "([^"]+)"', tree.text(path)))
    for path in tree.cpp:
        if path.suffix == ".cc":
            # Named in a meson.build beside it or above it.
            named = any(
                f"'{path.relative_to(build.parent)}'" in text
                or (path.stem.endswith("_fuzz") and f"'{path.stem.removesuffix('_fuzz')}'" in text)
                for build, text in builds.items()
                if path.is_relative_to(build.parent)
            )
            if not named:
                yield Finding(path, 0, "no meson.build names it")
        elif not any(str(path).endswith("/" + name) for name in included):
            yield Finding(path, 0, "nobody includes it")


def run_bits(tree):
    """A file that begins with #! can be run, and only such a file."""
    for path in tree.all:
        has_bit = bool((tree.root / path).stat().st_mode & 0o100)
        if has_bit != tree.text(path).startswith("#!"):
            text = "has a run bit and no #! line" if has_bit else "has a #! line and no run bit"
            yield Finding(path, 0, text)


def asserts_without_side_effects(tree):
    """Asserts are always on, but reading code is easier when they change nothing."""
    changing = re.compile(r"GYRE_ASSERT(?:_CMP)?\(.*(\+\+|--|[^=!<>]=[^=])")
    for path in tree.cpp:
        for number, line in enumerate(blanked(tree.text(path)).splitlines(), 1):
            if not line.lstrip().startswith("#") and changing.search(line):
                yield Finding(path, number, "an assert that changes something")


RULES = {
    "line length": long_lines,
    "file length": long_files,
    "function length": long_functions,
    "banned words": banned_words,
    "machine paths": machine_paths,
    "vague names": vague_names,
    "whitespace": whitespace,
    "headers open well": headers_open_well,
    "dead files": dead_files,
    "run bits": run_bits,
    "asserts change nothing": asserts_without_side_effects,
}


def read_allowed(text):
    entries = set()
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            rule, _, path = line.rpartition(" ")
            entries.add((rule, path))
    return entries


def allowed_before(root):
    """The entries at the commit before what is checked; None if there is no such commit."""
    changed = subprocess.run(
        ["git", "-C", root, "diff", "--quiet", "HEAD", "--", ALLOWED], capture_output=True
    )
    if changed.returncode not in (0, 1):
        return None
    commit = "HEAD" if changed.returncode == 1 else "HEAD^"
    shown = subprocess.run(
        ["git", "-C", root, "show", f"{commit}:{ALLOWED}"], capture_output=True, text=True
    )
    return read_allowed(shown.stdout) if shown.returncode == 0 else None


def main():
    root = parse_root(__doc__)
    tree = Tree(root)
    list_file = root / ALLOWED
    allowed = read_allowed(list_file.read_text()) if list_file.exists() else set()
    used = set()
    findings = {}
    for rule, find in RULES.items():
        findings[rule] = []
        for finding in find(tree):
            entry = (rule, str(finding.path))
            used.add(entry)
            if entry not in allowed:
                findings[rule].append(finding)
    before = allowed_before(root)
    findings["allow-list shrinks"] = [
        Finding(ALLOWED, 0, f"{' '.join(entry)}: {why}")
        for why, entries in (
            ("not needed any more; take it out", allowed - used),
            ("new; mend the fault instead", allowed - before if before is not None else set()),
        )
        for entry in sorted(entries)
    ]
    tell(findings)


if __name__ == "__main__":
    main()
