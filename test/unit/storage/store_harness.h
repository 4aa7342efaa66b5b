// A store of one shard that tests drive by hand, on a disk in memory or on a real one.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gyre/nostr/kind.h"
#include "gyre/storage/store.h"
#include "support/event_factory.h"
#include "support/sim_clock.h"
#include "support/sim_file_system.h"

namespace gyre::storage {

using PackedEvent = std::vector<std::uint8_t>;

[[nodiscard]] inline nostr::PackedEventView view_of(const PackedEvent& event) {
  return nostr::PackedEventView(event.data());
}

[[nodiscard]] inline std::string id_of(const PackedEvent& event) {
  return std::string(view_of(event).id_hex());
}

class EverythingIsReadable final : public ReadAccess {
 public:
  [[nodiscard]] bool may_read(nostr::PackedEventView) const override { return true; }
  [[nodiscard]] std::span<const std::uint16_t> restricted_kinds() const override { return {}; }
  [[nodiscard]] bool may_read_some_restricted() const override { return true; }
};

class StoreHarness {
 public:
  enum class Disk : std::uint8_t { kSimulated, kPosix };

  explicit StoreHarness(Disk kind = Disk::kSimulated, std::uint64_t seed = 1)
      : random(seed), disk_kind_(kind) {
    options.log.segment_bytes = 64 * 1024;
    options.log.reserve_bytes = 8 * 1024;
    if (disk_kind_ == Disk::kSimulated) return;
    std::string name = testing::TempDir() + "gyre-store-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ + "/store";
  }
  StoreHarness(const StoreHarness&) = delete;
  StoreHarness& operator=(const StoreHarness&) = delete;
  ~StoreHarness() {
    end();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] FileSystem& files() {
    return disk_kind_ == Disk::kSimulated ? disk : posix_file_system();
  }

  [[nodiscard]] absl::Status open() {
    auto opened = DataDirectory::open(files(), path_, 1, random);
    if (!opened.ok()) return opened.status();
    data_ = *std::move(opened);
    auto opened_store = Store::open(files(), *data_, 0, options, clock, random);
    if (!opened_store.ok()) return opened_store.status();
    store = *std::move(opened_store);
    return absl::OkStatus();
  }
  // As the death of the process: nothing more is written.
  void end() {
    store.reset();
    data_.reset();
  }
  void reopen() {
    end();
    const absl::Status status = open();
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  // Lets writer and checkpoints do all there is to do.
  void settle() {
    do store->work();
    while (store->run_background_once());
    store->work();
  }

  // Fills tables until another run has been written.
  void checkpoint() {
    const std::uint64_t runs = store->statistics().runs;
    for (int i = 0; store->statistics().runs == runs; ++i) {
      ASSERT_LT(i, 10'000);
      (void)store->put(view_of(next_filler()));
      settle();
    }
  }
  // Events of an author whom no test asks about.
  [[nodiscard]] PackedEvent next_filler() {
    return test::pack_unsigned_event(
        {.key_index = kFillerKey, .created_at = 1'000 + filler_count_++, .kind = 1});
  }

  // What the filter finds, newest first.
  [[nodiscard]] std::vector<PackedEvent> find(const nostr::Filter& filter) {
    static const EverythingIsReadable access;
    Scan scan(store->sources(), {&filter, 1}, {{UINT64_MAX}, UINT64_MAX}, access, clock.unix_s());
    std::vector<PackedEvent> found;
    while (true) {
      std::uint64_t budget = 1'000'000;
      Sequence sequence = 0;
      nostr::PackedEventView event;
      if (scan.next(budget, sequence, event) != Scan::Step::kEvent) return found;
      found.emplace_back(event.bytes().begin(), event.bytes().end());
    }
  }
  [[nodiscard]] bool is_served(const PackedEvent& event) {
    nostr::Filter filter;
    filter.ids = {view_of(event).id()};
    const std::vector<PackedEvent> found = find(filter);
    EXPECT_LE(found.size(), 1u);
    if (!found.empty()) {
      EXPECT_EQ(found.front(), event);
    }
    return !found.empty();
  }

  [[nodiscard]] const DataDirectory& data() const { return *data_; }
  // The folder of the one shard, and whole files of it; for damage, and for looking at it.
  [[nodiscard]] std::string shard_path() const { return path_ + "/shard-000"; }
  [[nodiscard]] std::string shard_path(const std::string& name) const {
    return shard_path() + "/" + name;
  }
  [[nodiscard]] std::string read(const std::string& name) {
    const auto content = read_file(files(), shard_path(name));
    EXPECT_TRUE(content.ok()) << content.status().ToString();
    return content.value_or("");
  }
  void write(const std::string& name, const std::string& content) {
    if (files().exists(shard_path(name))) {
      ASSERT_TRUE(files().remove(shard_path(name)).ok());
    }
    auto file = files().open(shard_path(name), FileSystem::OpenMode::kCreateNew);
    ASSERT_TRUE(file.ok());
    const ByteSpan part = as_bytes(content);
    if (!content.empty()) {
      ASSERT_TRUE((*file)->write_at(0, {&part, 1}).ok());
    }
    ASSERT_TRUE((*file)->sync_data().ok());
  }
  void flip(const std::string& name, std::size_t offset, char bits = 0x40) {
    std::string content = read(name);
    ASSERT_LT(offset, content.size());
    content[offset] = static_cast<char>(content[offset] ^ bits);
    write(name, content);
  }

  static constexpr std::uint32_t kFillerKey = 999;

  test::SimFileSystem disk;
  test::SimClock clock;
  SeededRandom random;
  StoreOptions options;
  std::unique_ptr<Store> store;

 private:
  const Disk disk_kind_;
  std::string folder_;
  std::string path_ = "store";
  std::unique_ptr<DataDirectory> data_;
  std::uint64_t filler_count_ = 0;
};

}  // namespace gyre::storage
