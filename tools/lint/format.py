#!/usr/bin/env python3
"""Every C++ file is as clang-format-19 leaves it. To mend: clang-format-19 -i FILE..."""

import re
import subprocess

from findings import Finding, files, parse_root, tell


def main():
    root = parse_root(__doc__)
    sources = files(root, ".h", ".cc")
    findings = []
    if sources:
        result = subprocess.run(
            ["clang-format-19", "--dry-run", "--ferror-limit=1", *sources],
            cwd=root,
            capture_output=True,
            text=True,
        )
        for line in result.stderr.splitlines():
            if found := re.match(r"(.+?):(\d+):\d+: (?:warning|error): ", line):
                findings.append(Finding(found[1], int(found[2]), "is not formatted"))
        if result.returncode != 0 and not findings:
            findings.append(Finding("clang-format-19", 0, result.stderr.strip()[:300]))
    tell({"format": findings})


if __name__ == "__main__":
    main()
