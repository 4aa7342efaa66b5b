// What the tests of the event log share: a log on a simulated disk, driven by hand.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "gyre/storage/event_log.h"
#include "support/sim_file_system.h"

namespace gyre::storage {

class StillClock final : public Clock {
 public:
  [[nodiscard]] std::uint64_t monotonic_ns() const override { return now_ns_; }
  [[nodiscard]] std::int64_t unix_s() const override { return 1'700'000'000; }
  void advance_ms(std::uint64_t ms) { now_ns_ += ms * 1'000'000; }

 private:
  std::uint64_t now_ns_ = 5'000'000'000;
};

// Small, so that a few records go over several segments and reservations.
inline LogOptions small_log_options() {
  LogOptions options;
  options.segment_bytes = 4096;
  options.reserve_bytes = 1024;
  return options;
}

// Different for every number, of many sizes, the empty one among them.
inline std::string payload_of(std::uint64_t number) {
  const std::size_t size = number * 97 % 331;
  std::string text = std::to_string(number) + ":";
  while (text.size() < size) text += static_cast<char>('a' + (number + text.size()) % 26);
  text.resize(size);
  return text;
}

struct ReplayedRecord {
  RecordType type;
  LogPosition position;
  LogPosition end;
  std::uint64_t number;
  std::string payload;
};

class LogHarness {
 public:
  static constexpr const char* kFolder = "/data/shard-000";

  explicit LogHarness(LogOptions log_options = small_log_options(), std::uint64_t seed = 1)
      : options(log_options), random(seed) {}

  // Opens the log, or opens it again; what was replayed stands in `replayed`.
  absl::Status open(EventLog::Start from = {}) {
    log.reset();
    replayed.clear();
    auto opened = EventLog::open(
        files, kFolder, options, random, from,
        [this](const LogRecord& record) {
          replayed.push_back({record.type, record.position, record.end, record.number,
                              std::string(as_text(record.payload))});
          return absl::OkStatus();
        },
        recovery, clock);
    if (!opened.ok()) return opened.status();
    log = *std::move(opened);
    return absl::OkStatus();
  }

  LogPosition append(std::string_view payload, RecordType type = RecordType::kEvent) {
    const ByteSpan part = as_bytes(payload);
    return log->append(type, {&part, 1});
  }

  // Appends payload_of() the next record, after as many turns as it takes to get room.
  LogPosition append_next() {
    const std::string payload = payload_of(log->next_number());
    for (int turns = 0; !log->has_room(payload.size()); ++turns) {
      EXPECT_LT(turns, 100) << "no room in the log";
      turn();
    }
    return append(payload);
  }
  void append_many(int count) {
    for (int i = 0; i < count; ++i) append_next();
  }

  // One turn of a shard, with a writer that does all it has been told.
  void turn() {
    log->take_completions();
    log->start_commit();
    while (log->run_writer_once()) {
    }
    log->take_completions();
  }

  std::string read(LogPosition position) const { return std::string(as_text(log->read(position))); }

  std::string segment_path(int number) const {
    char name[32];
    std::snprintf(name, sizeof name, "/log-%08d.seg", number);
    return kFolder + std::string(name);
  }

  // The replayed records are those with numbers from `first` to `end`, as append_next() made them.
  void expect_replayed(std::uint64_t first, std::uint64_t end) const {
    ASSERT_EQ(replayed.size(), end - first);
    for (std::uint64_t i = 0; i < replayed.size(); ++i) {
      EXPECT_EQ(replayed[i].number, first + i);
      EXPECT_EQ(replayed[i].payload, payload_of(first + i)) << first + i;
    }
  }

  LogOptions options;
  test::SimFileSystem files;
  StillClock clock;
  SeededRandom random;
  LogRecovery recovery;
  std::vector<ReplayedRecord> replayed;
  std::unique_ptr<EventLog> log;
};

}  // namespace gyre::storage
