#include "storage/posting_source.h"

#include "gyre/base/assert.h"

namespace gyre::storage {

std::optional<PostingSource> PostingSource::open(const PostingTable& table,
                                                 const PostingRange& range,
                                                 const PostingPlace& start) {
  TablePlace place = {&table, table.posting_count(), {}};
  const PostingEntry* const entry = table.seek(range.term, start, place.position);
  if (entry == nullptr || entry->created_at < range.since) return std::nullopt;
  PostingSource source;
  source.term_ = range.term;
  source.since_ = range.since;
  source.place_ = place;
  return source.take(entry) ? std::optional(source) : std::nullopt;
}

std::optional<PostingSource> PostingSource::open(const PostingRun& run, const Directory& directory,
                                                 const PostingRange& range,
                                                 const PostingPlace& start) {
  RunPlace place = {&run, {}};
  if (!run.seek(range.term, start.created_at, place.position)) return std::nullopt;
  PostingSource source;
  source.term_ = range.term;
  source.since_ = range.since;
  source.place_ = place;
  if (!source.take(run.at(place.position))) return std::nullopt;
  // Of the postings of the same second, those before `start` are to be passed over.
  while (source.created_at_ == start.created_at) {
    const PostingPlace here = {source.created_at_, source.id_prefix(directory), source.sequence_};
    if (!is_before(here, start)) break;
    if (!source.advance()) return std::nullopt;
  }
  return source;
}

std::uint64_t PostingSource::id_prefix(const Directory& directory) const {
  if (!has_id_prefix_) {
    id_prefix_ = directory.row(sequence_).id_prefix;
    has_id_prefix_ = true;
  }
  return id_prefix_;
}

bool PostingSource::advance() {
  if (auto* const place = std::get_if<RunPlace>(&place_)) return advance_in_run(*place);
  return advance_in_table(*std::get_if<TablePlace>(&place_));
}

bool PostingSource::take(const PostingEntry* entry) {
  if (entry == nullptr || entry->created_at < since_) return false;
  created_at_ = entry->created_at;
  id_prefix_ = entry->id_prefix;
  has_id_prefix_ = true;
  sequence_ = entry->sequence;
  return true;
}

bool PostingSource::take(const PostingRun::Value& value) {
  if (value.created_at < since_) return false;
  created_at_ = value.created_at;
  has_id_prefix_ = false;
  sequence_ = value.sequence;
  return true;
}

bool PostingSource::advance_in_table(TablePlace& place) {
  if (place.version != place.table->posting_count()) {
    // Entries have moved: find the current one again, and go on from there.
    const PostingEntry* const entry =
        place.table->seek(term_, {created_at_, id_prefix_, sequence_}, place.position);
    GYRE_ASSERT(entry != nullptr && entry->sequence == sequence_);
    place.version = place.table->posting_count();
  }
  return take(PostingTable::advance(place.position));
}

bool PostingSource::advance_in_run(RunPlace& place) {
  return place.run->advance(term_, place.position) && take(place.run->at(place.position));
}

bool is_before(const PostingSource& left, const PostingSource& right, const Directory& directory) {
  if (left.created_at() != right.created_at()) return left.created_at() > right.created_at();
  if (left.sequence() == right.sequence()) return false;
  const std::uint64_t left_prefix = left.id_prefix(directory);
  const std::uint64_t right_prefix = right.id_prefix(directory);
  if (left_prefix != right_prefix) return left_prefix < right_prefix;
  return left.sequence() < right.sequence();
}

}  // namespace gyre::storage
