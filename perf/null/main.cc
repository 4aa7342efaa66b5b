// gyre-null: a server on gyre's runtime and net layers that does nothing but move bytes. What it
// costs and how fast it is are the ceiling of kernel, loop and load generator, to measure a relay
// against in the same run. See perf/README.md.
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "canned_events.h"
#include "gyre/base/clock.h"
#include "gyre/net/listener.h"
#include "gyre/runtime/topology.h"
#include "gyre/runtime/uring_io.h"
#include "null_shard.h"

namespace gyre::null {
namespace {

constexpr char kUsage[] =
    R"(usage: gyre-null [--listen 127.0.0.1:0] [--shards N] [--corpus FILE]

Answers as a relay would, without doing what a relay does: to ["EVENT",{...}] with OK, passing the
event on to every reader; to ["REQ","id",{"limit":N ...}] with N events of the corpus and EOSE, or,
for N = 0, by making the connection a reader. Ends on SIGTERM.

  --listen ADDRESS  where; port 0 takes a free one, which is printed
  --shards N        threads; default: one for each core, as the relay has
  --corpus FILE     events to answer with, from `gyre-load corpus`

Example: gyre-null --shards 2 --corpus corpus.jsonl
)";

// As the relay has them (app/server.cc).
constexpr std::size_t kRequestSlots = 1024;
constexpr std::size_t kReplySlots = 4096;

[[noreturn]] void fail(std::string_view what) {
  std::fprintf(stderr, "gyre-null: %.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(1);
}

struct Options {
  std::string listen = "127.0.0.1:0";
  std::string corpus;
  std::uint32_t shards = static_cast<std::uint32_t>(runtime::usable_cores().size());
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (i + 1 == argc) fail(std::string(name) + ": unknown, or its value is missing; see --help");
    const std::string_view value = argv[++i];
    if (name == "--listen") {
      options.listen = value;
    } else if (name == "--corpus") {
      options.corpus = value;
    } else if (name == "--shards") {
      const char* const end = value.data() + value.size();
      const auto [stop, error] = std::from_chars(value.data(), end, options.shards);
      const bool is_sound = error == std::errc{} && stop == end;
      if (!is_sound || options.shards == 0 || options.shards > kShardsMax) {
        fail("--shards must be a number from 1 to " + std::to_string(kShardsMax));
      }
    } else {
      fail("unknown option " + std::string(name) + "; see --help");
    }
  }
  return options;
}

// Generous, so that no limit of the server decides what a measurement sees.
net::NetLimits limits() {
  net::NetLimits limits;
  limits.connections_per_ip = 0;
  limits.send_queue_bytes = 256 * 1024 * 1024;
  return limits;
}

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

class NullServer {
 public:
  NullServer(const Options& options, std::vector<int> listeners)
      : canned_(options.corpus),
        listeners_(std::move(listeners)),
        mesh_(options.shards, kRequestSlots, kReplySlots),
        rings_(options.shards),
        started_(options.shards),
        wakers_(options.shards) {
    for (std::uint32_t i = 0; i < options.shards; ++i) {
      threads_.emplace_back([this, i] { run(static_cast<ShardId>(i)); });
    }
    started_.wait();
  }

  ~NullServer() {
    is_stopping_.store(true, std::memory_order_release);
    for (runtime::Waker* const waker : wakers_) waker->wake();
    silent_.count_down();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void run(ShardId id) {
    const std::vector<int> cores = runtime::usable_cores();
    (void)runtime::pin_to_core(cores[id % cores.size()]);
    auto io = runtime::make_uring_io(id, rings_, {});
    if (!io.ok()) fail(std::string(io.status().message()));
    runtime::MeshPort port(mesh_, id);
    runtime::TimerWheel timers(clock_.monotonic_ns());
    {
      NullShard shard({**io, port, timers, clock_, limits_, admission_, canned_, is_stopping_});
      wakers_[id] = &(*io)->waker();
      started_.arrive_and_wait();
      shard.start_listening(listeners_[id]);
      runtime::Shard(**io, clock_, port, timers, shard, {}).run();
      // Others may still be about to wake this shard.
      silent_.wait();
    }
  }

  const CannedEvents canned_;
  const std::vector<int> listeners_;
  const net::NetLimits limits_ = limits();
  SystemClock clock_;
  net::AdmissionTable admission_;
  runtime::Mesh mesh_;
  runtime::UringSet rings_;
  std::atomic<bool> is_stopping_{false};
  std::latch started_;
  std::latch silent_{1};
  std::vector<runtime::Waker*> wakers_;
  std::vector<std::thread> threads_;
};

void run(const Options& options) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  raise_file_limit();

  const auto address = runtime::Address::parse(options.listen);
  if (!address) fail("--listen must be an address and a port, as 127.0.0.1:7500");
  auto listeners = net::open_listeners(*address, options.shards);
  if (!listeners.ok()) fail(std::string(listeners.status().message()));
  const std::string listen = net::local_address(listeners->front()).to_string();
  const NullServer server(options, *std::move(listeners));
  std::printf("listening on %s\n", listen.c_str());
  std::fflush(stdout);
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
}

}  // namespace
}  // namespace gyre::null

int main(int argc, char** argv) {
  gyre::null::run(gyre::null::read_options(argc, argv));
  return 0;
}
