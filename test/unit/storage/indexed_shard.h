// What the tests of planner and scan share: log, directory and postings of one shard on a simulated
// disk, with the naive twin beside them. A Store without its rules.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gyre/base/random.h"
#include "gyre/storage/query.h"
#include "storage/record.h"
#include "support/event_factory.h"
#include "support/naive_store.h"
#include "support/sim_file_system.h"
#include "unit/storage/merge_runs.h"

namespace gyre::storage {

class OpenAccess final : public ReadAccess {
 public:
  [[nodiscard]] bool may_read(nostr::PackedEventView) const override { return true; }
  [[nodiscard]] std::span<const std::uint16_t> restricted_kinds() const override { return {}; }
  [[nodiscard]] bool may_read_some_restricted() const override { return true; }
};

class IndexedShard {
 public:
  IndexedShard() : IndexedShard(nullptr, "shard") {}
  // On a real disk, for what the simulated one cannot do: two threads at once.
  IndexedShard(FileSystem& files, std::string folder) : IndexedShard(&files, std::move(folder)) {}

  Sequence put(const test::EventDraft& draft) {
    return put_packed(test::pack_unsigned_event(draft));
  }
  Sequence put_packed(std::vector<std::uint8_t> packed) {
    const nostr::PackedEventView event(packed.data());
    EventRecordHead head;
    const auto parts = encode_event_record({}, event, head);
    make_room(parts[0].size() + parts[1].size());
    const bool expires = event.expiration().has_value();
    const Bytes32 id = event.id();
    const DirectoryRow row = {
        .position = log_->append(RecordType::kEvent, parts),
        .created_at = event.created_at(),
        .id_prefix = prefix64(id.bytes.data()),
        .author_hash = static_cast<std::uint32_t>(hasher_.author(event.pubkey())),
        .kind = event.kind(),
        .flags = static_cast<std::uint16_t>(expires ? kRowExpires : 0)};
    const Sequence sequence = directory_->append(row);
    TermList terms;
    append_query_terms(hasher_, event, terms);
    for (const Term term : terms) {
      postings_->add({term, row.created_at, row.id_prefix, sequence});
    }
    EXPECT_EQ(naive_.add(std::move(packed)), sequence);
    return sequence;
  }

  void kill(Sequence sequence) {
    directory_->mark_dead(sequence, DeathCause::kOther);
    naive_.mark_dead(sequence);
  }

  // The three steps of a checkpoint; anything may happen between them.
  void freeze() {
    postings_->freeze();
    delta_ = &directory_->freeze();
  }
  void write_frozen() {
    next_run_ = "run-" + std::to_string(++runs_written_);
    ASSERT_TRUE(postings_->write_run(next_run_).ok());
    ASSERT_TRUE(directory_->write(*delta_).ok());
  }
  void install() {
    postings_->install_run(next_run_);
    directory_->drop_frozen();
  }
  void checkpoint() {
    freeze();
    write_frozen();
    install();
  }

  // Merges what is worth it.
  void merge() {
    const std::vector<std::string> inputs = postings_->choose_merge();
    if (inputs.empty()) return;
    const std::string name = "run-" + std::to_string(++runs_written_);
    ASSERT_TRUE(merge_runs(files_, folder_, inputs, name, *directory_, *postings_).ok());
    postings_->install_merged_run(inputs, name);
  }

  // As after a restart. Requires: nothing since the last checkpoint.
  void reopen() {
    const Sequence rows = directory_->next_sequence();
    run_names_ = postings_->run_names();
    postings_.reset();
    directory_.reset();
    open_index(rows);
  }

  // From now on all events are on the disk, and `reader` reads them.
  void make_cold(FileReader& reader) {
    log_->set_resident_bytes(0);
    log_->start_commit();
    while (log_->run_writer_once()) {
    }
    log_->take_completions();
    reads_ = std::make_unique<ColdReads>(*log_);
    reads_->read_by(&reader);
  }

  [[nodiscard]] QuerySources sources() const {
    return {*postings_, *directory_, *log_, hasher_, reads_.get()};
  }
  [[nodiscard]] const test::SimFileSystem& disk() const { return simulated_files_; }
  [[nodiscard]] PostingIndex& postings() { return *postings_; }
  [[nodiscard]] Directory& directory() { return *directory_; }
  [[nodiscard]] const TermHasher& hasher() const { return hasher_; }
  [[nodiscard]] const test::NaiveStore& naive() const { return naive_; }

 private:
  IndexedShard(FileSystem* files, std::string folder)
      : files_(files == nullptr ? simulated_files_ : *files), folder_(std::move(folder)) {
    EXPECT_TRUE(files_.create_directories(folder_).ok());
    open();
  }

  void open() {
    LogRecovery recovery;
    auto log = EventLog::open(
        files_, folder_ + "/log", LogOptions{}, random_, {},
        [](const LogRecord&) { return absl::OkStatus(); }, recovery);
    ASSERT_TRUE(log.ok()) << log.status();
    log_ = *std::move(log);
    open_index(0);
  }
  void open_index(Sequence rows) {
    auto directory = Directory::open(files_, folder_ + "/directory", rows);
    ASSERT_TRUE(directory.ok()) << directory.status();
    directory_ = *std::move(directory);
    auto postings = PostingIndex::open(files_, folder_, run_names_, *directory_, {});
    ASSERT_TRUE(postings.ok()) << postings.status();
    postings_ = *std::move(postings);
  }
  void make_room(std::uint64_t bytes) {
    while (!log_->has_room(bytes)) {
      log_->start_commit();
      ASSERT_TRUE(log_->run_writer_once());
      log_->take_completions();
    }
  }

  test::SimFileSystem simulated_files_;
  FileSystem& files_;
  const std::string folder_;
  SeededRandom random_{7};
  const TermHasher hasher_{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
  std::unique_ptr<EventLog> log_;
  std::unique_ptr<ColdReads> reads_;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<PostingIndex> postings_;
  const DirectoryDelta* delta_ = nullptr;
  int runs_written_ = 0;
  std::string next_run_;
  std::vector<std::string> run_names_;  // To open with.
  test::NaiveStore naive_;
};

}  // namespace gyre::storage
