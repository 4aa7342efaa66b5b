"""What the lints share: which files there are, and how findings are told.

Each lint takes `--root FOLDER`, so that its test can show it a tree with planted faults.
"""

import argparse
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

Finding = namedtuple("Finding", "path line text")


def parse_root(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    return parser.parse_args().root.resolve()


def files(root, *suffixes):
    """Paths relative to `root` of files that git knows or would add, sorted.

    Outside of a git checkout (an unpacked archive, a test's tree) all files count.
    """
    listing = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
    )
    if listing.returncode == 0:
        names = [Path(name) for name in listing.stdout.split("\0") if name]
    else:
        names = [path.relative_to(root) for path in root.rglob("*")]
    skipped = {"build", ".git", "node_modules", "__pycache__"}
    return sorted(
        name
        for name in set(names)
        if (root / name).is_file()
        and not skipped & set(name.parts)
        and (not suffixes or name.suffix in suffixes)
    )


def tell(findings_by_rule):
    """Prints a case for each rule and ends the program."""
    failed = 0
    for rule, findings in findings_by_rule.items():
        if not findings:
            print(f"ok {rule}")
            continue
        failed += 1
        print(f"not ok {rule} - {len(findings)} found")
        for finding in findings:
            place = f"{finding.path}:{finding.line}" if finding.line else finding.path
            print(f"  {place}: {finding.text}")
    print(f"{len(findings_by_rule) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
