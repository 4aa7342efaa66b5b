#include "app/store_repair.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "app/parallel_shards.h"
#include "app/quantity_text.h"
#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "gyre/storage/file.h"
#include "gyre/storage/store.h"

namespace gyre::app {
namespace {

using storage::DataDirectory;
using storage::Loss;
using storage::Sequence;
using storage::ShardCheck;
using storage::Store;
using storage::Verdict;

constexpr std::size_t kEventsPerRecord = 4096;

std::string compact_time(std::int64_t unix_s) {
  const auto time = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text;
  const std::size_t bytes = std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts);
  return {text.data(), bytes};
}

std::string hex_of(std::uint64_t id_prefix) {
  std::array<std::uint8_t, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(id_prefix >> (56 - 8 * i));
  }
  return to_hex(bytes);
}

class Repair {
 public:
  Repair(const DataDirectory& data, const CheckOptions& options)
      : data_(data), options_(options), stamp_(compact_time(clock_.unix_s())) {}

  absl::StatusOr<RepairReport> run();

 private:
  absl::Status repair(ShardId shard);
  absl::Status rebuild(RepairReport::Shard& shard);
  absl::Status retire_again(Store& store, RepairReport::Shard& shard);

  const DataDirectory& data_;
  const CheckOptions& options_;
  SystemClock clock_;
  SystemRandom random_;
  const std::string stamp_;
  SharedProgress progress_;
  RepairReport report_;
};

absl::StatusOr<RepairReport> Repair::run() {
  auto before = check_store(data_, options_);
  if (!before.ok()) return before.status();
  report_.before = *std::move(before);
  if (report_.before.finding_count() == 0) return std::move(report_);
  for (std::uint32_t i = 0; i < data_.shard_count(); ++i) {
    if (report_.before.shards[i].finding_count == 0) continue;
    if (absl::Status status = repair(static_cast<ShardId>(i)); !status.ok()) return status;
  }
  auto after = check_store(data_, options_);
  if (!after.ok()) return after.status();
  report_.after = *std::move(after);
  report_.path = options_.store_path + "/repair-" + stamp_ + ".txt";
  absl::Status status = storage::write_file_atomically(
      storage::posix_file_system(), report_.path,
      check_text(report_.before) + "\n" + repair_text(report_) + "\n" + check_text(report_.after));
  if (!status.ok()) return status;
  return std::move(report_);
}

absl::Status Repair::repair(ShardId number) {
  RepairReport::Shard shard;
  shard.number = number;
  const storage::ShardPlace place{data_.shard_path(number), data_.key(), number};
  storage::ShardRepairOptions options;
  options.aside = "damaged-" + stamp_;
  options.advance = [this](std::uint64_t bytes) {
    progress_.bytes.fetch_add(bytes, std::memory_order_relaxed);
    progress_.count.store(progress_.bytes.load(std::memory_order_relaxed) >> 20,
                          std::memory_order_relaxed);
    return interruption();
  };
  absl::Status status =
      for_each_shard(1, "MiB salvaged", 0, progress_, [&](ShardId) -> absl::Status {
        auto repaired =
            storage::repair_shard(storage::posix_file_system(), place, options, random_);
        if (!repaired.ok()) return repaired.status();
        shard.repair = *std::move(repaired);
        return rebuild(shard);
      });
  report_.shards.push_back(std::move(shard));
  return status;
}

// Opening makes the index again. Not to be interrupted, but nothing is lost by a kill either.
absl::Status Repair::rebuild(RepairReport::Shard& shard) {
  auto store = Store::open(storage::posix_file_system(), data_, shard.number, {}, clock_, random_);
  if (!store.ok()) return store.status();
  absl::Status status = retire_again(**store, shard);
  status.Update((*store)->close());
  return status;
}

absl::Status Repair::retire_again(Store& store, RepairReport::Shard& shard) {
  const storage::Directory& directory = store.sources().directory;
  std::vector<Sequence> lost_deaths;
  for (const Sequence sequence : shard.repair.dead) {
    if (sequence < directory.next_sequence() && !directory.is_dead(sequence)) {
      lost_deaths.push_back(sequence);
    }
  }
  store.start_threads([] {});
  for (std::size_t begin = 0; begin < lost_deaths.size();) {
    const std::size_t count = std::min(kEventsPerRecord, lost_deaths.size() - begin);
    const Verdict verdict = store.retire_by_operator(std::span(lost_deaths).subspan(begin, count));
    store.work();
    if (verdict == Verdict::kAccept) {
      begin += count;
    } else if (verdict != Verdict::kBusy) {
      return absl::ResourceExhaustedError("the disk is full; make room and run it again");
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  shard.retired_again = lost_deaths.size();
  return absl::OkStatus();
}

std::string loss_text(const Loss& loss) {
  std::string text = loss.path + " at offset " + std::to_string(loss.offset) + ", " +
                     count_text(loss.bytes) + " bytes: " + loss.what + "\n";
  if (loss.records == 0) return text + "    nothing is lost by it\n";
  text += "    lost: " + count_text(loss.records) + " records from number " +
          std::to_string(loss.first_number);
  if (loss.rows > 0) {
    text += ", " + count_text(loss.rows) + " events from sequence " +
            std::to_string(loss.first_sequence);
    if (loss.are_rows_assumed) text += " (their number is assumed: the directory lacks them)";
  }
  text += "\n";
  for (const Loss::Event& event : loss.events) {
    text += "      event " + std::to_string(event.sequence) + ", id " + hex_of(event.id_prefix) +
            "..., kind " + std::to_string(event.kind) + ", created_at " +
            std::to_string(event.created_at) + (event.was_alive ? "\n" : ", dead\n");
  }
  if (loss.events.size() == Loss::kEventsMax && loss.rows > loss.events.size()) {
    text += "      and " + count_text(loss.rows - loss.events.size()) +
            " more, of the sequences that follow\n";
  }
  return text;
}

}  // namespace

absl::StatusOr<RepairReport> run_repair(const CheckOptions& options) {
  const auto data = open_existing_store(options.store_path);
  if (!data.ok()) return data.status();
  return Repair(**data, options).run();
}

std::string repair_text(const RepairReport& report) {
  std::string text;
  for (const RepairReport::Shard& shard : report.shards) {
    text += "shard " + std::to_string(shard.number) + ": ";
    text += shard.repair.losses.empty() ? "the index is made again from the log; nothing is lost\n"
                                        : "the log is salvaged and the index made again\n";
    for (const Loss& loss : shard.repair.losses) text += loss_text(loss);
    if (shard.retired_again > 0) {
      text += count_text(shard.retired_again) +
              " events stay dead whose record of death is among the lost ones\n";
    }
    for (const std::string& path : shard.repair.set_aside) text += "kept: " + path + "\n";
  }
  return text;
}

}  // namespace gyre::app
