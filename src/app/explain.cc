#include "app/explain.h"

#include <algorithm>
#include <limits>
#include <span>

#include "app/filter_argument.h"
#include "app/offline_store.h"

namespace gyre::app {
namespace {

using storage::Scan;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

// Where the authors' events lie, or everywhere: as relay/sessions.cc asks.
std::vector<ShardId> shards_asked(const OfflineStore& store, const nostr::Filter& filter) {
  std::vector<ShardId> shards;
  if (filter.has_authors()) {
    for (const Bytes32& author : filter.authors) shards.push_back(store.owner_of(author));
    std::sort(shards.begin(), shards.end());
    shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
    return shards;
  }
  for (std::uint32_t i = 0; i < store.shard_count(); ++i) shards.push_back(static_cast<ShardId>(i));
  return shards;
}

// Microseconds.
std::uint64_t scan_all(const OfflineStore& store, const storage::QuerySources& sources,
                       const nostr::Filter& filter, ShardExplanation& out) {
  const OfflineAccess access;
  const std::uint64_t limit = filter.limit.value_or(kNoLimit);
  const std::uint64_t begin_ns = store.clock().monotonic_ns();
  Scan scan(sources, std::span(&filter, 1), storage::ScanLimits{{limit}, limit}, access,
            store.clock().unix_s());
  out.events = 0;
  for (Scan::Step step = Scan::Step::kEvent; step != Scan::Step::kFinished;) {
    std::uint64_t budget = 1'000'000;
    storage::Sequence sequence = 0;
    nostr::PackedEventView event;
    step = scan.next(budget, sequence, event);
    if (step == Scan::Step::kEvent) ++out.events;
  }
  out.read = scan.statistics();
  return (store.clock().monotonic_ns() - begin_ns) / 1'000;
}

std::string name_of(const storage::FilterPlan::Option& option) {
  using Driver = storage::FilterTerms::Driver;
  switch (option.driver) {
    case Driver::kNothing: return "nothing";
    case Driver::kIds: return "id";
    case Driver::kTag: return std::string("#") + option.tag_letter;
    case Driver::kTagKind: return std::string("#") + option.tag_letter + " and kind";
    case Driver::kAuthorKind: return "author and kind";
    case Driver::kAuthor: return "author";
    case Driver::kKind: return "kind";
    case Driver::kAll: return "everything";
  }
  return "nothing";
}

// 1234567 as 1,234,567.
std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string left(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string right(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string window_of(const Explanation& explanation) {
  const bool has_begin = explanation.since > 0;
  const bool has_end = explanation.until != kNoEnd;
  if (!has_begin && !has_end) return "all times";
  std::string text;
  if (has_begin) text = "since " + std::to_string(explanation.since);
  if (has_end) text += (has_begin ? " " : "") + ("until " + std::to_string(explanation.until));
  return text;
}

void append_plan(std::string& out, const storage::FilterPlan& plan) {
  if (plan.options.empty()) {
    out += "  no event can match, nothing is looked up\n";
    return;
  }
  out += "    " + left("looked up by", 20) + right("terms", 10) + right("postings", 16) +
         right("cost", 16) + "\n";
  for (std::size_t i = 0; i < plan.options.size(); ++i) {
    const storage::FilterPlan::Option& option = plan.options[i];
    out += i == plan.chosen ? "  * " : plan.trial == i ? "  ? " : "    ";
    out += left(name_of(option), 20) + right(grouped(option.terms), 10) +
           right(grouped(option.postings), 16) + right(grouped(option.cost), 16) + "\n";
  }
  if (plan.trial) {
    out += "  ? is tried first, for " + grouped(plan.trial_candidates) + " events\n";
  }
}

void append_shard(std::string& out, const ShardExplanation& shard, std::uint32_t shard_count) {
  out += "\nshard " + std::to_string(shard.shard) + " of " + std::to_string(shard_count) + "\n";
  append_plan(out, shard.plan);
  const auto line = [&out](const char* name, const std::string& value) {
    out += "  " + left(name, 12) + value + "\n";
  };
  line("terms", grouped(shard.read.terms));
  line("postings", grouped(shard.read.postings));
  line("rows", grouped(shard.read.rows));
  line("records", grouped(shard.read.records) + ", " + grouped(shard.read.bytes) + " bytes");
  line("events", grouped(shard.events));
  line("time", grouped(shard.again_us) + " us, the first time " + grouped(shard.first_us) + " us");
}

void append_member(std::string& out, const char* name, std::uint64_t value) {
  out += std::string(out.ends_with('{') ? "\"" : ",\"") + name + "\":" + std::to_string(value);
}

std::string option_json(const storage::FilterPlan::Option& option) {
  std::string out = R"({"by":")" + name_of(option) + '"';
  append_member(out, "terms", option.terms);
  append_member(out, "postings", option.postings);
  append_member(out, "cost", option.cost);
  return out + "}";
}

std::string shard_json(const ShardExplanation& shard) {
  std::string out = "{";
  append_member(out, "shard", shard.shard);
  out += R"(,"options":[)";
  for (const storage::FilterPlan::Option& option : shard.plan.options) {
    if (!out.ends_with('[')) out += ',';
    out += option_json(option);
  }
  out += "]";
  if (!shard.plan.options.empty()) append_member(out, "chosen", shard.plan.chosen);
  if (shard.plan.trial) {
    append_member(out, "trial", *shard.plan.trial);
    append_member(out, "trial_candidates", shard.plan.trial_candidates);
  }
  append_member(out, "terms_read", shard.read.terms);
  append_member(out, "postings_read", shard.read.postings);
  append_member(out, "rows_read", shard.read.rows);
  append_member(out, "records_read", shard.read.records);
  append_member(out, "bytes_read", shard.read.bytes);
  append_member(out, "events", shard.events);
  append_member(out, "first_us", shard.first_us);
  append_member(out, "again_us", shard.again_us);
  return out + "}";
}

}  // namespace

absl::StatusOr<Explanation> run_explain(const ExplainOptions& options) {
  const absl::StatusOr<nostr::Filter> filter = parse_filter_argument(options.filter);
  if (!filter.ok()) return filter.status();
  auto store = OfflineStore::open(options.store_path, OfflineStore::Mode::kMustExist, 1, {});
  if (!store.ok()) return store.status();
  Explanation explanation;
  explanation.filter = options.filter;
  explanation.since = filter->since;
  explanation.until = filter->until;
  explanation.limit = filter->limit.value_or(kNoLimit);
  explanation.shard_count = (*store)->shard_count();
  for (const ShardId id : shards_asked(**store, *filter)) {
    const storage::QuerySources sources = (*store)->shard(id).sources();
    ShardExplanation shard;
    shard.shard = id;
    shard.plan = storage::explain_plan(*filter, sources, explanation.limit);
    shard.first_us = scan_all(**store, sources, *filter, shard);
    shard.again_us = scan_all(**store, sources, *filter, shard);
    explanation.shards.push_back(std::move(shard));
  }
  if (absl::Status closed = (*store)->close(); !closed.ok()) return closed;
  return explanation;
}

std::string to_text(const Explanation& explanation) {
  std::string out = "filter  " + explanation.filter + "\nwindow  " + window_of(explanation) +
                    "\nlimit   " +
                    (explanation.limit == kNoLimit ? "none" : grouped(explanation.limit)) + "\n";
  std::uint64_t events = 0;
  for (const ShardExplanation& shard : explanation.shards) {
    append_shard(out, shard, explanation.shard_count);
    events += shard.events;
  }
  const std::size_t asked = explanation.shards.size();
  out += "\n" + std::to_string(asked) + " of " + std::to_string(explanation.shard_count) +
         " shards asked, " + grouped(std::min(events, explanation.limit)) + " events answered\n";
  return out;
}

std::string to_json(const Explanation& explanation) {
  std::string out = "{";
  append_member(out, "shard_count", explanation.shard_count);
  if (explanation.limit != kNoLimit) append_member(out, "limit", explanation.limit);
  out += R"(,"filter":)" + explanation.filter + R"(,"shards":[)";
  for (const ShardExplanation& shard : explanation.shards) {
    if (!out.ends_with('[')) out += ',';
    out += shard_json(shard);
  }
  return out + "]}\n";
}

}  // namespace gyre::app
