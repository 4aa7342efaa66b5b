// How the load generator ends when it cannot go on: a message and exit code 1.
#pragma once

#include <string_view>

namespace gyre::load {

[[noreturn]] void fail(std::string_view message);
// With the meaning of errno behind the message.
[[noreturn]] void fail_errno(std::string_view message);

}  // namespace gyre::load
