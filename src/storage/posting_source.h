// PostingSource: a walk over one range in one table or run.
#pragma once

#include <optional>
#include <variant>

#include "gyre/storage/directory.h"
#include "gyre/storage/posting_index.h"
#include "storage/posting_run.h"
#include "storage/posting_table.h"

namespace gyre::storage {

// Always stands on a posting: one that has none left is thrown away by its holder. Lives as long as
// the table or run; a table may be added to meanwhile.
class PostingSource {
 public:
  // Nothing if no posting of the range is at or behind `start`. Of a run, its fence has let the
  // term through.
  [[nodiscard]] static std::optional<PostingSource> open(const PostingTable& table,
                                                         const PostingRange& range,
                                                         const PostingPlace& start);
  [[nodiscard]] static std::optional<PostingSource> open(const PostingRun& run,
                                                         const Directory& directory,
                                                         const PostingRange& range,
                                                         const PostingPlace& start);

  [[nodiscard]] std::uint64_t created_at() const { return created_at_; }
  [[nodiscard]] Sequence sequence() const { return sequence_; }
  // Runs do not hold it: it is the directory's. Asked for only where times are equal.
  [[nodiscard]] std::uint64_t id_prefix(const Directory& directory) const;

  // False, and the source is at its end, if there is no older posting in the range.
  [[nodiscard]] bool advance();

 private:
  struct TablePlace {
    const PostingTable* table;
    std::uint64_t version;  // Of the table when `position` was taken.
    PostingTable::Position position;
  };
  struct RunPlace {
    const PostingRun* run;
    PostingRun::Position position;
  };

  PostingSource() = default;
  [[nodiscard]] bool take(const PostingEntry* entry);
  [[nodiscard]] bool take(const PostingRun::Value& value);
  [[nodiscard]] bool advance_in_table(TablePlace& place);
  [[nodiscard]] bool advance_in_run(RunPlace& place);

  Term term_;
  std::uint64_t since_;
  std::uint64_t created_at_;
  mutable std::uint64_t id_prefix_;
  Sequence sequence_;
  mutable bool has_id_prefix_;
  std::variant<TablePlace, RunPlace> place_;
};
// A feed of thousands of authors holds a few of these for each.
static_assert(sizeof(PostingSource) <= 88);

// Whether `left` stands before `right` in the order of a merged walk.
[[nodiscard]] bool is_before(const PostingSource& left, const PostingSource& right,
                             const Directory& directory);

}  // namespace gyre::storage
