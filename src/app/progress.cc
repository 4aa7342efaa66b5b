#include "app/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace gyre::app {
namespace {

constexpr std::uint64_t kDrawIntervalNs = 100'000'000;
constexpr std::size_t kBarCells = 24;

}  // namespace

Progress::Progress(std::string unit, std::uint64_t bytes_total)
    : unit_(std::move(unit)),
      bytes_total_(bytes_total),
      begin_ns_(clock_.monotonic_ns()),
      is_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { finish(); }

void Progress::update(std::uint64_t count, std::uint64_t bytes_done, const std::string& note) {
  if (!is_terminal_) return;
  const std::uint64_t now_ns = clock_.monotonic_ns();
  if (now_ns < next_draw_ns_) return;
  next_draw_ns_ = now_ns + kDrawIntervalNs;
  draw(count, bytes_done, note);
}

void Progress::draw(std::uint64_t count, std::uint64_t bytes_done, const std::string& note) {
  const double seconds = static_cast<double>(clock_.monotonic_ns() - begin_ns_) / 1e9 + 1e-9;
  const double rate = static_cast<double>(count) / seconds;
  if (bytes_total_ == 0) {
    std::fprintf(stderr, "\r\033[K%" PRIu64 " %s, %.0f/s%s", count, unit_.c_str(), rate,
                 note.c_str());
  } else {
    const double share =
        std::min(1.0, static_cast<double>(bytes_done) / static_cast<double>(bytes_total_));
    const auto filled = static_cast<std::size_t>(share * kBarCells);
    const std::string bar = std::string(filled, '#') + std::string(kBarCells - filled, '.');
    const double left_s = share > 0 ? seconds / share - seconds : 0;
    std::fprintf(stderr, "\r\033[K[%s] %3.0f%%  %" PRIu64 " %s, %.0f/s, %.0f s left%s", bar.c_str(),
                 share * 100, count, unit_.c_str(), rate, left_s, note.c_str());
  }
  std::fflush(stderr);
  has_drawn_ = true;
}

void Progress::finish() {
  if (!has_drawn_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  has_drawn_ = false;
}

}  // namespace gyre::app
