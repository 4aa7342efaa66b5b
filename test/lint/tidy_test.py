#!/usr/bin/env python3
"""tidy.py catches each fault that it is there for."""

from planted import LintTest

HEAD = "// What this is.\n#pragma once\n"
BUILD = {"src/meson.build": "files('a.cc')\n"}

test = LintTest("tidy.py")


def cpp(text):
    return {"src/a.cc": text, **BUILD}


def function(head, line_count):
    return head + " {\n" + "  g();\n" * (line_count - 2) + "}\n"


test.accepts(
    "a tree without faults",
    {
        "include/gyre/base/a.h": HEAD + "int f();\n",
        "src/a.cc": '#include "gyre/base/a.h"\n' + function("int f()", 70),
        "tools/run": "#!/bin/sh\necho mkdtemp gyre-X" "XXXXX\n",
        **BUILD,
    },
    executable=("tools/run",),
)

test.catches("a line of 101 characters", cpp("// " + "x" * 98 + "\n"), "src/a.cc:1: 101 characters")
test.catches("a file of 701 lines", cpp("int a;\n" * 701), "701 lines")

test.catches(
    "a function of 71 lines",
    cpp("int b;\n" + function("int f()", 71)),
    "src/a.cc:2: f has 71 lines",
)
test.catches(
    "a long member function",
    cpp(function("std::vector<int> A::f(int a) const noexcept", 71)),
    "A::f has 71 lines",
)
test.catches(
    "a long constructor",
    cpp(function("A::A(int a)\n    : a_(a), b_(std::move(b))", 72)),
    "A::A has 73 lines",
)
test.catches(
    "a long function in a class",
    cpp("namespace n {\nclass A {\n" + function("  void f()", 71) + "};\n}\n"),
    "src/a.cc:3: f has 71 lines",
)
test.catches(
    "a long lambda in a short function's place", cpp(function("TEST(A, B)", 71)), "has 71 lines"
)
test.catches(
    "a long function behind braces in a string",
    cpp("const char* s = \"{{{\";  // {\nchar c = '{';\n#define A {\n" + function("void f()", 71)),
    "f has 71 lines",
)
test.accepts(
    "a long class, namespace and enum",
    cpp(
        "namespace n {\nclass A : public B<int(int)> {\n"
        + "  int a();\n" * 80
        + "};\nenum class E {\n"
        + "  k,\n" * 80
        + "};\nconstexpr int kTable[] = {\n"
        + "  1,\n" * 80
        + "};\n}  // namespace n\n"
    ),
)

test.catches("a banned word", cpp("// TO" "DO: mend\n"), "'TO" "DO'")
test.catches("another banned word", {"README.md": "a place" "holder\n"}, "'place" "holder'")
test.catches("a path of this machine", {"README.md": "see /ro" "ot/x\n"}, "/ro" "ot/x")
test.catches("a temporary path", cpp('auto a = "/t' 'mp/x";\n'), "mp/x")
test.accepts(
    "paths that are none of this machine",
    {"README.md": "perf/work/a, /t" "mp/gyre-x, ~/home/x, https://a.example/home/b\n"},
)

test.catches(
    "a vague file name",
    {
        "src/string_util.h": HEAD,
        "src/b.cc": '#include "string_util.h"\n',
        "src/meson.build": "files('b.cc')\n",
    },
    "'util' says nothing",
)
test.catches("a vague folder", {"src/common/a.md": "a\n"}, "'common' says nothing")

test.catches("blanks at the end of a line", cpp("int a; \n"), "blanks at the end")
test.catches("a tab", cpp("\tint a;\n"), "a tab")
test.catches("no line break at the end", cpp("int a;"), "line break")

test.catches(
    "a header without its paragraph",
    {"src/a.h": "#pragma once\n", "src/a.cc": '#include "a.h"\n', **BUILD},
    "comment on what it is",
)
test.catches(
    "a header without #pragma once",
    {"src/a.h": "// What.\n", "src/a.cc": '#include "a.h"\n', **BUILD},
    "pragma once",
)
test.catches(
    "a source that is not built", {"src/b.cc": "int b;\n", **BUILD}, "no meson.build names it"
)
test.catches("a header that nobody includes", {"src/b.h": HEAD}, "nobody includes it")

test.catches("a script without a run bit", {"tools/x": "#!/bin/sh\n"}, "no run bit")
test.catches("a run bit on a text", {"README.md": "a\n"}, "no #! line", executable=("README.md",))
test.catches(
    "an assert that assigns", cpp("void f() { GYRE_ASSERT(a = 1); }\n"), "changes something"
)
test.catches(
    "an assert that counts", cpp("void f() { GYRE_ASSERT(++a > 1); }\n"), "changes something"
)
test.accepts(
    "an assert that compares", cpp("void f() { GYRE_ASSERT(a == b && c <= d && e != f); }\n")
)

ALLOWED = "tools/lint/allowed.txt"
test.accepts("an allowed exception", {**cpp("int a;\n" * 701), ALLOWED: "file length src/a.cc\n"})
test.catches(
    "an exception that is not needed",
    {**cpp("int a;\n"), ALLOWED: "file length src/a.cc\n"},
    "not needed any more",
)
test.finish()
