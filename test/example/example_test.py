#!/usr/bin/env python3
"""The installed library: what is installed, and that a program outside the tree can use it.

    example_test.py PROGRAM_SOURCE BUILD_FOLDER COMPILER...
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

LAYERS = {"base", "nostr"}


def run(*command, env=None):
    result = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env={**os.environ, **(env or {})},
    )
    assert result.returncode == 0, f"{command[0]}: {result.stdout}{result.stderr}"
    return result.stdout


class Installation:
    def __init__(self, source, build, compiler, folder):
        self.source = source
        self.compiler = compiler
        self.folder = Path(folder)
        run("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", folder)
        [self.pc_file] = self.folder.rglob("gyre.pc")
        self.environment = {
            "PKG_CONFIG_PATH": str(self.pc_file.parent),
            "PKG_CONFIG_SYSROOT_DIR": str(folder),
        }

    def pkg_config(self, *arguments):
        return run("pkg-config", *arguments, "gyre", env=self.environment).split()


def holds_the_library_alone(installation):
    """Headers, symbols: nothing of the relay."""
    headers = {path.parent.name for path in installation.folder.rglob("include/gyre/*/*.h")}
    assert headers == LAYERS, headers
    [library] = installation.folder.rglob("libgyre.a")
    symbols = run("nm", "-C", "--defined-only", library)
    assert "gyre::nostr::parse_event" in symbols
    for layer in ("relay", "net", "storage", "runtime", "app"):
        assert f"gyre::{layer}::" not in symbols, layer
    [program] = installation.folder.rglob("bin/gyre")
    assert run(program, "--version").startswith("gyre ")


def describes_what_it_needs(installation):
    """gyre.pc: its version, and the parts that a static library leaves open, privately."""
    text = installation.pc_file.read_text()
    assert "Requires.private:" in text and "\nRequires:" not in text, text
    flags = installation.pkg_config("--static", "--libs")
    for library in ("-lgyre", "-lsecp256k1", "-lsimdjson", "-lcrypto"):
        assert library in flags, flags
    for library in ("-luring", "-lwslay", "-lz"):
        assert library not in flags, flags


def serves_a_program_outside(installation):
    """Compiled with the flags of pkg-config alone, and run."""
    flags = installation.pkg_config("--cflags", "--static", "--libs")
    program = installation.folder / "note"
    strict = ("-std=c++20", "-Wall", "-Wextra", "-Werror")
    run(*installation.compiler, *strict, installation.source, *flags, "-o", program)
    out = run(program, 'a "text"')
    assert out.startswith("npub1") and 'says: a "text"' in out, out


def every_header_compiles_alone(installation):
    flags = installation.pkg_config("--cflags")
    headers = sorted(installation.folder.rglob("include/gyre/*/*.h"))
    source = installation.folder / "headers.cc"
    source.write_text("".join(f'#include "{path}"\n' for path in headers))
    run(*installation.compiler, "-std=c++20", "-fsyntax-only", *flags, source)


def main():
    source, build, *compiler = sys.argv[1:]
    checks = (
        holds_the_library_alone,
        describes_what_it_needs,
        serves_a_program_outside,
        every_header_compiles_alone,
    )
    failed = 0
    with tempfile.TemporaryDirectory(prefix="gyre-install-") as folder:
        installation = Installation(source, build, compiler, folder)
        for check in checks:
            name = f"installed library {check.__name__.replace('_', ' ')}"
            try:
                check(installation)
                print(f"ok {name}")
            except AssertionError as error:
                failed += 1
                print(f"not ok {name} - {error}")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
