#!/usr/bin/env python3
"""layers.py catches each way to leave the ladder."""

from planted import LintTest

test = LintTest("layers.py")


def source(path, include):
    return {path: f"#include {include}\n"}


test.accepts(
    "what the ladder allows",
    {
        "include/gyre/storage/a.h": '#include <vector>\n#include "gyre/nostr/b.h"\n',
        "src/storage/a.cc": '#include <sys/mman.h>\n#include "storage/d.h"\n',
        "src/runtime/ring.cc": "#include <liburing.h>\n",
        "src/net/frame.cc": "#include <wslay/wslay.h>\n#include <simdjson.h>\n",
        "src/relay/r.cc": '#include "absl/container/btree_map.h"\n#include "gyre/net/a.h"\n',
        "src/app/config.cc": "#include <toml++/toml.h>\n",
        "test/unit/net/a_test.cc": '#include <gtest/gtest.h>\n#include "support/clock.h"\n'
        '#include "net/f.h"\n'
        '#include "frames.h"\n#include "unit/net/frames.h"\n',
        "test/unit/net/frames.h": "",
    },
)
test.catches(
    "an upward include",
    source("src/base/a.cc", '"gyre/relay/a.h"'),
    "src/base/a.cc:1: base may not include relay",
)
test.catches(
    "an upward include in a public header",
    source("include/gyre/nostr/a.h", '"gyre/storage/a.h"'),
    "nostr may not include storage",
)
test.catches(
    "nostr including runtime",
    source("src/nostr/a.cc", '"gyre/runtime/io.h"'),
    "nostr may not include runtime",
)
test.catches(
    "net including storage",
    source("src/net/a.cc", '"gyre/storage/a.h"'),
    "net may not include storage",
)
test.catches(
    "net including nostr", source("src/net/a.cc", '"gyre/nostr/a.h"'), "net may not include nostr"
)
test.catches(
    "storage including runtime",
    source("src/storage/a.cc", '"gyre/runtime/a.h"'),
    "storage may not include runtime",
)
test.catches(
    "a private header of another layer",
    source("src/relay/a.cc", '"net/send_queue.h"'),
    "is private to net",
)
test.catches(
    "a private header in a public one",
    source("include/gyre/net/a.h", '"net/b.h"'),
    "public header includes the private",
)
test.catches(
    "a header without its layer", source("src/net/a.cc", '"send_queue.h"'), "names no layer"
)
test.catches(
    "a unit test that looks upward",
    source("test/unit/base/a_test.cc", '"gyre/net/a.h"'),
    "base may not include net",
)
test.catches(
    "a unit test that borrows another layer's helpers",
    source("test/unit/net/a_test.cc", '"unit/storage/log_harness.h"'),
    "names no layer",
)
test.catches(
    "liburing outside runtime", source("src/storage/a.cc", "<liburing.h>"), "belongs to runtime"
)
test.catches("wslay outside net", source("src/relay/a.cc", "<wslay/wslay.h>"), "belongs to net")
test.catches(
    "secp256k1 outside nostr",
    source("src/net/a.cc", "<secp256k1_schnorrsig.h>"),
    "belongs to nostr",
)
test.catches("toml++ outside app", source("src/relay/a.cc", "<toml++/toml.h>"), "belongs to app")
test.catches(
    "abseil in base", source("include/gyre/base/a.h", '"absl/status/status.h"'), "belongs to"
)
test.catches(
    "an unknown third party", source("src/net/a.cc", "<boost/asio.hpp>"), "no known third party"
)
test.catches(
    "mimalloc, which is only linked",
    source("src/base/a.cc", "<mimalloc.h>"),
    "no known third party",
)
test.catches(
    "a layer that does not exist",
    source("src/helpers/a.cc", "<vector>"),
    "there is no layer helpers",
)
test.finish()
