#!/usr/bin/env python3
"""clang-tidy-19 with the repository's .clang-tidy on every source, or on those named.

Takes minutes, so it is no part of the lint suite: `tools/test tidy`, or this script with files.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build" / "asan"  # Built by Clang, so its compile commands hold no flag of GCC's.


def known_sources():
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    sources = {(Path(command["directory"]) / command["file"]).resolve() for command in commands}
    return sorted(source for source in sources if source.is_relative_to(TOP / "src"))


def check(source):
    """The complaints on one source, without those that other sources repeat for a header."""
    result = subprocess.run(
        ["clang-tidy-19", "--quiet", "-p", BUILD, source], capture_output=True, text=True
    )
    return result.returncode, result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="*", type=Path)
    sources = [path.resolve() for path in parser.parse_args().sources]
    if not (BUILD / "compile_commands.json").exists():
        # Configures, and compiles nothing.
        command = [TOP / "tools" / "build", "asan", "-n"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    sources = sources or known_sources()
    told = set()
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, (exit_code, output) in zip(sources, pool.map(check, sources)):
            name = source.relative_to(TOP)
            lines = re.findall(r"^.*: (?:warning|error): .*$", output, re.MULTILINE)
            fresh = [line.replace("../../", "") for line in lines if line not in told]
            told.update(lines)
            if exit_code == 0 or (lines and not fresh):
                print(f"ok {name}", flush=True)
                continue
            failed += 1
            print(f"not ok {name} - clang-tidy complains")
            for line in fresh or [f"ended with exit code {exit_code}"]:
                print(f"  {line}", flush=True)
    print(f"{len(sources) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
