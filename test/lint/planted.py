"""Shows a lint a small tree with a planted fault, and checks that it is caught where it stands.

A lint that finds nothing any more would otherwise look like clean code.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

LINTS = Path(__file__).resolve().parents[2] / "tools" / "lint"


class LintTest:
    def __init__(self, script):
        self.script = LINTS / script
        self.passed = self.failed = 0

    def run(self, tree, executable=()):
        """Exit code and output of the lint on `tree`, a dict of path -> text."""
        with tempfile.TemporaryDirectory(prefix="gyre-lint-") as root:
            for name, text in tree.items():
                path = Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                path.chmod(0o755 if name in executable else 0o644)
            result = subprocess.run(
                [sys.executable, self.script, "--root", root], capture_output=True, text=True
            )
            return result.returncode, result.stdout + result.stderr

    def report(self, name, is_right, output):
        if is_right:
            self.passed += 1
            print(f"ok {name}")
        else:
            self.failed += 1
            print(f"not ok {name} - the lint said:")
            print("\n".join(f"  {line}" for line in output.splitlines()))

    def catches(self, name, tree, expected, executable=()):
        """The lint fails on `tree` and says `expected`; nothing else is wrong with it."""
        exit_code, output = self.run(tree, executable)
        found = [line for line in output.splitlines() if line.startswith("  ")]
        is_right = exit_code == 1 and len(found) == 1 and expected in found[0]
        self.report(f"catches {name}", is_right, output)

    def accepts(self, name, tree, executable=()):
        exit_code, output = self.run(tree, executable)
        self.report(f"accepts {name}", exit_code == 0, output)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)
