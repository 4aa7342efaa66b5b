#include "storage/posting_difference.h"

#include <algorithm>
#include <array>
#include <functional>
#include <tuple>

#include "storage/concat.h"
#include "storage/event_postings.h"
#include "storage/log_walk.h"
#include "storage/posting_run.h"
#include "storage/record_walk.h"

namespace gyre::storage {
namespace {

// Of both sides together; 40 bytes each.
constexpr std::uint64_t kPostingsMax = 4'000'000;

struct Found {
  RunPosting posting;
  // What is left of them when those of the log are added, those of runs taken away, and dead ones
  // added again, must be nothing.
  std::int32_t count = 0;
  std::uint32_t run = 0;  // Index in the manifest, for those of its runs.
};

auto key_of(const Found& found) {
  return std::tuple(found.posting.sequence, found.posting.term, found.posting.created_at);
}

std::string hex_of(Term term) {
  std::array<std::uint8_t, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(term >> (56 - 8 * i));
  }
  return to_hex(bytes);
}

class Chosen {
 public:
  Chosen(const PostingTally& tally, const std::vector<std::uint32_t>& buckets)
      : tally_(tally), is_chosen_(PostingTally::kBuckets) {
    for (const std::uint32_t bucket : buckets) is_chosen_[bucket] = true;
  }
  void add(const Found& found) {
    if (is_chosen_[tally_.bucket_of(found.posting)]) found_.push_back(found);
  }
  std::vector<Found>& sorted() {
    std::ranges::sort(found_, {}, key_of);
    return found_;
  }

 private:
  const PostingTally& tally_;
  std::vector<bool> is_chosen_;
  std::vector<Found> found_;
};

// Calls `visit` with what each record of the log that has a row stands under, by the flags that
// `flags_of` makes of the row's.
class PostingVisitor final : public RecordWalk {
 public:
  using Flags = std::function<std::uint16_t(Sequence, std::uint16_t)>;
  using Visit = std::function<void(const RunPosting&)>;
  PostingVisitor(const PostingSides& sides, Flags flags_of, Visit visit)
      : sides_(sides), flags_of_(std::move(flags_of)), visit_(std::move(visit)) {}

 protected:
  absl::Status take_event(RecordType type, nostr::PackedEventView event,
                          Sequence sequence) override {
    DirectoryRow row;
    if (!read_row(sequence, row)) return absl::OkStatus();
    postings_.clear();
    if (type == RecordType::kEvent) {
      const std::uint16_t flags = flags_of_(sequence, row.flags);
      append_event_postings(sides_.hasher, event, flags, postings_);
    } else {
      append_request_postings(sides_.hasher, event, postings_);
    }
    for (const EventPosting& posting : postings_) visit_({posting.term, posting.time, sequence});
    return absl::OkStatus();
  }
  void take_mark(const AddressMarkRecord& mark, Sequence sequence) override {
    DirectoryRow row;
    if (!read_row(sequence, row)) return;
    if ((flags_of_(sequence, row.flags) & kRowSuperseded) != 0) return;
    visit_({mark.address, mark.created_at, sequence});
  }

 private:
  bool read_row(Sequence sequence, DirectoryRow& row) const {
    return sequence < sides_.rows.rows() && sides_.rows.read(sequence, row);
  }
  const PostingSides& sides_;
  const Flags flags_of_;
  const Visit visit_;
  std::vector<EventPosting> postings_;
};

absl::Status visit_postings(const PostingSides& sides, PostingVisitor::Flags flags_of,
                            PostingVisitor::Visit visit) {
  PostingVisitor visitor(sides, std::move(flags_of), std::move(visit));
  return walk_log(sides.files, sides.folder, sides.manifest.log_position, visitor).status();
}

absl::Status read_log(const PostingSides& sides, Chosen& chosen) {
  const auto flags_of = [&sides](Sequence sequence, std::uint16_t flags) {
    return sides.early.flags_before(sequence, flags);
  };
  return visit_postings(sides, flags_of,
                        [&chosen](const RunPosting& posting) { chosen.add({posting, 1}); });
}

absl::Status read_runs(const PostingSides& sides, const std::vector<std::string>& names,
                       std::int32_t count, Chosen& chosen) {
  std::vector<RunPosting> postings;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    auto run = PostingRun::open(sides.files, sides.folder, names[i]);
    if (!run.ok()) return run.status();
    for (std::uint32_t block = 0; block < (*run)->block_count(); ++block) {
      postings.clear();
      (*run)->append_block(block, postings);
      for (const RunPosting& posting : postings) chosen.add({posting, count, i});
    }
  }
  return absl::OkStatus();
}

void report(const PostingSides& sides, const Found& found, FindingList& findings) {
  const std::string where =
      concat("under term ", hex_of(found.posting.term), " at time ", found.posting.created_at);
  if (found.count > 0) {
    findings.add({Finding::Part::kRun, sides.folder, std::nullopt, found.posting.sequence,
                  concat("no run has its posting ", where, ", or it is taken for dead")});
  } else {
    findings.add({Finding::Part::kRun, concat(sides.folder, "/", sides.manifest.runs[found.run]),
                  std::nullopt, found.posting.sequence,
                  concat("a posting says that it stands ", where, ", and it does not")});
  }
}

}  // namespace

absl::Status restore_postings(const PostingSides& sides, PostingTally& tally) {
  absl::Status status = visit_postings(
      sides, [](Sequence, std::uint16_t flags) { return flags; },
      [&](const RunPosting& posting) {
        if (sides.early.has(posting.sequence)) tally.subtract(posting);
      });
  if (!status.ok()) return status;
  return visit_postings(
      sides,
      [&sides](Sequence sequence, std::uint16_t flags) {
        return sides.early.flags_before(sequence, flags);
      },
      [&](const RunPosting& posting) {
        if (sides.early.has(posting.sequence)) tally.add(posting);
      });
}

absl::Status find_posting_differences(const PostingSides& sides, const PostingTally& tally,
                                      std::vector<std::uint32_t> buckets,
                                      std::uint64_t posting_count, FindingList& findings) {
  const std::uint64_t per_bucket = 2 * posting_count / PostingTally::kBuckets + 1;
  const std::uint64_t buckets_max = std::max<std::uint64_t>(1, kPostingsMax / per_bucket);
  if (buckets.size() > buckets_max) {
    findings.add(
        {Finding::Part::kRun, sides.folder, std::nullopt, std::nullopt,
         concat("postings differ from those of the log in ", buckets.size(), " of ",
                PostingTally::kBuckets, " parts; the first ", buckets_max, " follow in full")});
    buckets.resize(buckets_max);
  }
  Chosen chosen(tally, buckets);
  absl::Status status = read_log(sides, chosen);
  if (status.ok()) status = read_runs(sides, sides.manifest.runs, -1, chosen);
  if (status.ok()) status = read_runs(sides, sides.manifest.dead_runs, 1, chosen);
  if (!status.ok()) return status;

  const std::vector<Found>& found = chosen.sorted();
  for (std::size_t begin = 0; begin < found.size();) {
    Found sum = found[begin];
    std::size_t end = begin + 1;
    for (; end < found.size() && key_of(found[end]) == key_of(sum); ++end) {
      sum.count += found[end].count;
      if (found[end].count < 0) sum.run = found[end].run;
    }
    if (sum.count != 0) report(sides, sum, findings);
    begin = end;
  }
  return absl::OkStatus();
}

}  // namespace gyre::storage
