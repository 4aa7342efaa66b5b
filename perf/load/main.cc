// gyre-load: drives a relay over real sockets and measures it. See perf/README.md.
#include <cstdio>
#include <string_view>

#include "commands.h"
#include "failure.h"
#include "process.h"

namespace {

constexpr char kUsage[] =
    R"(usage: gyre-load COMMAND [--option value]...

  corpus       --out FILE [--events 60000] [--seed 1] [--kind K]
               writes signed events, one a line
  ingest       --url ws://HOST:PORT --corpus FILE [--connections 16] [--window 64] [--pid PID]
               [--acked FILE]
               publishes them; rate, latency, the relay's CPU for each in verifications (V)
  idle         --url URL --pid PID [--connections 5000] [--settle-s 3]
               memory for each connection
  slow-reader  --url URL --corpus FILE --pid PID [--window 256]
               one subscriber stops reading; memory, and whether the other gets everything
  fanout       --url URL --corpus FILE [--subscribers 200] [--window 16] [--rate N] [--pid PID]
               [--null-url URL] [--null-pid PID]
               deliveries, their latency and cost; with --rate an open loop; the same against a
               gyre-null, to tell the relay's cost from the kernel's
  query        --url URL --corpus FILE [--connections 4] [--queries 50] [--repeats 20] [--pid PID]
               [--growing] [--null-url URL] [--null-pid PID]
               the mixed set over a store that holds the corpus (and, with --growing, gets more):
               rate, latency of each class, cost, and the same of a gyre-null
  scrape       --url URL [--corpus FILE] [--pid PID]
               everything, page by page; rate and memory

All but corpus take --json. The exit code is 0 only if every answer was as it must be.
)";

}  // namespace

int main(int argc, char** argv) {
  using namespace gyre::load;
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command.empty() || command == "--help") {
    std::fputs(kUsage, command.empty() ? stderr : stdout);
    return command.empty() ? 2 : 0;
  }
  raise_file_limit();
  Options options(argc, argv, 2);
  if (command == "corpus") return run_corpus(options);
  if (command == "ingest") return run_ingest(options);
  if (command == "idle") return run_idle(options);
  if (command == "slow-reader") return run_slow_reader(options);
  if (command == "fanout") return run_fan_out(options);
  if (command == "query") return run_query(options);
  if (command == "scrape") return run_scrape(options);
  fail("unknown command; see gyre-load --help");
}
