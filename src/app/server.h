// Server: starts the shards of one relay, hands them signals, and stops them without losing
// anything.
#pragma once

#include "absl/status/status.h"
#include "app/config.h"

namespace gyre::app {

// Runs the relay until SIGTERM or SIGINT; SIGHUP reloads. Prints `listening on HOST:PORT` to
// standard output when every shard serves. An error at start names its cause and cure; nothing is
// left running then.
[[nodiscard]] absl::Status run_server(const ConfigSources& sources, const Config& config);

}  // namespace gyre::app
