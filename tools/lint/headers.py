#!/usr/bin/env python3
"""Each header compiles alone: whoever includes it needs to know of nothing else."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

from findings import Finding, files, parse_root, tell

# Those whose headers are not in the compiler's own folders everywhere.
MODULES = [
    "liburing",
    "libsecp256k1",
    "simdjson",
    "libcrypto",
    "zlib",
    "absl_flat_hash_map",
    "absl_statusor",
    "tomlplusplus",
]
TREES = ("include", "src", "test", "perf")


def package_flags():
    flags = []
    for module in MODULES:
        output = subprocess.run(["pkg-config", "--cflags", module], capture_output=True, text=True)
        flags += output.stdout.split()
    return list(dict.fromkeys(flags))


def compile_alone(root, header, flags):
    """Nothing, or the compiler's first complaint."""
    # An own source instead of the header itself: `#pragma once` in a main file is a warning. Twice,
    # since a header that cannot be included twice is none.
    source = f'#include "{root / header}"\n' * 2
    result = subprocess.run(
        [
            "g++",
            "-std=c++20",
            "-fsyntax-only",
            *flags,
            "-I",
            root / "include",
            "-I",
            root / "src",
            "-I",
            root / "test",
            "-I",
            root / "perf",
            "-x",
            "c++",
            "-",
        ],
        input=source,
        capture_output=True,
        text=True,
    )
    if result.returncode == 0:
        return None
    lines = [line for line in result.stderr.splitlines() if ": error:" in line or "fatal" in line]
    return (lines or result.stderr.splitlines() or ["the compiler failed"])[0]


def main():
    root = parse_root(__doc__)
    flags = package_flags()
    headers = [path for path in files(root, ".h") if path.parts[0] in TREES]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = pool.map(lambda header: compile_alone(root, header, flags), headers)
        findings = {
            f"compiles alone: {header}": [Finding(header, 0, complaint)] if complaint else []
            for header, complaint in zip(headers, complaints)
        }
    tell(findings)


if __name__ == "__main__":
    main()
