#!/usr/bin/env python3
"""headers.py catches headers that lean on others."""

from planted import LintTest

test = LintTest("headers.py")
test.accepts(
    "a header that stands alone",
    {"include/gyre/base/a.h": "#pragma once\n#include <string>\nstd::string a();\n"},
)
test.catches(
    "a missing include", {"src/net/a.h": "#pragma once\nstd::string a();\n"}, "src/net/a.h: "
)
test.catches("a missing include guard", {"test/support/a.h": "struct A {};\n"}, "redefinition")
test.finish()
