#!/usr/bin/env python3
"""The ladder: includes go down only, never sideways, and each third party is met where it belongs.

What a folder may include is written here once, for sources, headers and unit tests.
"""

import re

from findings import Finding, files, parse_root, tell

# Layer -> layers below it that it may include.
BELOW = {
    "base": set(),
    "nostr": {"base"},
    "runtime": {"base"},
    "net": {"base", "runtime"},
    "storage": {"base", "nostr"},
    "relay": {"base", "nostr", "runtime", "net", "storage"},
    "app": {"base", "nostr", "runtime", "net", "storage", "relay"},
}

# How a third party's headers begin -> layers that may include them. Abseil may be met anywhere but
# in base, whose headers everybody includes.
THIRD_PARTIES = {
    "liburing": {"runtime"},
    "wslay/": {"net"},
    "zlib.h": {"net"},
    "simdjson.h": {"nostr", "net"},
    "openssl/": {"nostr", "net"},
    "secp256k1": {"nostr"},
    "absl/": set(BELOW) - {"base"},
    "toml++/": {"app"},
    "CLI/": {"app"},
}

# The C library and the kernel; C++'s own headers have no dot in their names.
SYSTEM = re.compile(r"(sys|linux|netinet|arpa|net|asm)/[\w./-]+\.h$|(\w+)\.h$")
SYSTEM_NAMES = set(
    """assert ctype dirent endian errno fcntl fnmatch glob grp ifaddrs inttypes limits locale malloc
    math netdb poll pthread pwd sched semaphore setjmp signal spawn stdalign stddef stdint stdio
    stdlib string strings sysexits syslog termios time unistd wchar
    arm_acle arm_neon cpuid emmintrin immintrin nmmintrin smmintrin tmmintrin wmmintrin
    x86intrin""".split()
)
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def place_of(path):
    """(kind, layer) of a file: kind is "public", "private", "test" or None for others."""
    parts = path.parts
    if len(parts) > 3 and parts[:2] == ("include", "gyre"):
        return "public", parts[2]
    if len(parts) > 2 and parts[0] == "src":
        return "private", parts[1]
    if len(parts) > 3 and parts[:2] == ("test", "unit"):
        return "test", parts[2]
    return None, None


def fault_of_own(root, path, kind, layer, name):
    """Why a file may not include "name"; None if it may."""
    # A test's helpers stand beside it, or in test/support.
    if kind == "test" and ((root / path).parent / name).is_file():
        return None
    if kind == "test" and name.startswith(("support/", f"unit/{layer}/")):
        return None
    is_public = name.startswith("gyre/")
    parts = name.removeprefix("gyre/").split("/")
    target = parts[0]
    if target not in BELOW or len(parts) < 2:
        return f'"{name}" names no layer; write "gyre/<layer>/x.h" or "<layer>/x.h"'
    if target == layer:
        if kind == "public" and not is_public:
            return f'a public header includes the private "{name}"'
        return None
    if target not in BELOW[layer]:
        return f"{layer} may not include {target} ({name})"
    if not is_public:
        return f'"{name}" is private to {target}'
    return None


def fault_of_other(kind, layer, name):
    """Why a file may not include <name>; None if it may."""
    if kind == "test" and name.split("/")[0] in ("gtest", "gmock", "absl"):
        return None
    for start, layers in THIRD_PARTIES.items():
        if name.startswith(start):
            return None if layer in layers else f"<{name}> belongs to {', '.join(sorted(layers))}"
    if "." not in name and "/" not in name:
        return None
    system = SYSTEM.match(name)
    if system and (system[1] or system[2] in SYSTEM_NAMES):
        return None
    return f"<{name}> is no system header and no known third party"


def check_file(root, path, kind, layer):
    for number, line in enumerate((root / path).read_text().splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quote, name = found.groups()
        is_third_party = any(name.startswith(start) for start in THIRD_PARTIES)
        if quote == '"' and not is_third_party and name.split("/")[0] not in ("gtest", "gmock"):
            fault = fault_of_own(root, path, kind, layer, name)
        else:
            fault = fault_of_other(kind, layer, name)
        if fault:
            yield Finding(path, number, fault)


def main():
    root = parse_root(__doc__)
    findings = {f"layer {layer}": [] for layer in BELOW}
    findings["known layers"] = []
    for path in files(root, ".h", ".cc"):
        kind, layer = place_of(path)
        if kind is None:
            continue
        if layer not in BELOW:
            findings["known layers"].append(Finding(path, 0, f"there is no layer {layer}"))
            continue
        findings[f"layer {layer}"].extend(check_file(root, path, kind, layer))
    tell(findings)


if __name__ == "__main__":
    main()
