// gyre-load corpus: writes signed events to a file, so that no measurement pays for signing.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

#include "commands.h"
#include "event_mix.h"
#include "failure.h"
#include "hex.h"

namespace gyre::load {
namespace {

void sign_all(const std::vector<Signer>& signers, std::vector<UnsignedEvent>& events) {
  constexpr std::size_t kChunk = 256;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (;;) {
      // Relaxed: the events were made before the threads, and are read after their end.
      const std::size_t begin = next.fetch_add(kChunk, std::memory_order_relaxed);
      if (begin >= events.size()) return;
      const std::size_t end = std::min(begin + kChunk, events.size());
      for (std::size_t i = begin; i < end; ++i) {
        UnsignedEvent& event = events[i];
        const std::string sig = to_hex(signers[event.author].sign(event.id));
        event.json.replace(signature_offset(event), sig.size(), sig);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned n = std::max(1U, std::thread::hardware_concurrency()); n > 0; --n) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) thread.join();
}

void write_all(const std::string& path, const std::vector<UnsignedEvent>& events) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wbe"),
                                                             &std::fclose);
  if (file == nullptr) fail_errno(path);
  for (const UnsignedEvent& event : events) {
    std::fwrite(event.json.data(), 1, event.json.size(), file.get());
    std::fputc('\n', file.get());
  }
  if (std::fflush(file.get()) != 0 || std::ferror(file.get()) != 0) fail_errno(path);
}

}  // namespace

int run_corpus(Options& options) {
  const std::uint64_t count = options.number("events", 60'000);
  const std::uint64_t seed = options.number("seed", 1);
  const std::uint64_t kind = options.number("kind", 65'536);
  const std::string path = options.required_text("out");
  options.finish();
  if (count == 0) fail("--events must be at least 1");
  if (kind > 65'536) fail("--kind must be at most 65535");

  EventMix mix(seed, count,
               kind < 65'536 ? std::optional(static_cast<std::uint16_t>(kind)) : std::nullopt);
  std::vector<UnsignedEvent> events;
  events.reserve(count);
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    events.push_back(mix.make_next());
    bytes += events.back().json.size();
  }
  sign_all(mix.signers(), events);
  write_all(path, events);
  std::printf("%lu events of %lu authors, %.0f bytes of JSON in the mean\n", count,
              mix.signers().size(), static_cast<double>(bytes) / static_cast<double>(count));
  return 0;
}

}  // namespace gyre::load
