#include "app/store_stats.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "app/parallel_shards.h"
#include "app/quantity_text.h"
#include "gyre/storage/data_directory.h"
#include "gyre/storage/file.h"

namespace gyre::app {
namespace {

using storage::AliveAndDead;
using storage::ShardStatistics;

// Segments are listed from this share of dead bytes on; compaction is about those.
constexpr std::uint64_t kListedDeadShare = 4;
constexpr std::size_t kSegmentsListedMax = 20;

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

std::string row_of(const std::string& first, const std::vector<std::string>& rest) {
  std::string text = padded(first, 8);
  for (const std::string& cell : rest) text += padded(cell, 15);
  return text + "\n";
}

std::string kinds_text(const ShardStatistics& total) {
  std::vector<std::pair<std::uint16_t, AliveAndDead>> kinds(total.kinds.begin(), total.kinds.end());
  std::ranges::stable_sort(
      kinds, [](const auto& a, const auto& b) { return a.second.alive > b.second.alive; });
  std::string text = row_of("kind", {"alive", "dead"});
  for (const auto& [kind, events] : kinds) {
    text += row_of(std::to_string(kind), {count_text(events.alive), count_text(events.dead)});
  }
  return text + row_of("total", {count_text(total.events.alive), count_text(total.events.dead)});
}

std::string shard_row(const std::string& name, const ShardStatistics& shard) {
  return row_of(name, {count_text(shard.events.alive), count_text(shard.events.dead),
                       bytes_text(shard.log_bytes), bytes_text(shard.directory_bytes),
                       bytes_text(shard.run_bytes), count_text(shard.postings),
                       count_text(shard.runs + shard.dead_runs)});
}

std::string segments_text(const StoreStats& stats) {
  std::string text;
  std::size_t listed = 0;
  std::size_t more = 0;
  for (std::size_t i = 0; i < stats.shards.size(); ++i) {
    for (const ShardStatistics::Segment& segment : stats.shards[i].segments) {
      if (segment.dead_bytes * kListedDeadShare < segment.bytes) continue;
      if (listed == kSegmentsListedMax) {
        ++more;
        continue;
      }
      ++listed;
      text += "shard " + std::to_string(i) + ", segment " + std::to_string(segment.number) + ": " +
              bytes_text(segment.bytes) + ", " + share_text(segment.dead_bytes, segment.bytes) +
              " dead\n";
    }
  }
  if (more > 0) text += "... and " + std::to_string(more) + " more\n";
  return text;
}

void add_number(std::string& out, std::string_view key, std::uint64_t value) {
  if (out.back() != '{') out += ',';
  out.append("\"").append(key).append("\":").append(std::to_string(value));
}

std::string json_of(const ShardStatistics& shard) {
  std::string out = "{";
  add_number(out, "events_alive", shard.events.alive);
  add_number(out, "events_dead", shard.events.dead);
  add_number(out, "events_dropped", shard.dropped_events);
  if (shard.oldest_created_at) add_number(out, "oldest_created_at", *shard.oldest_created_at);
  if (shard.newest_created_at) add_number(out, "newest_created_at", *shard.newest_created_at);
  add_number(out, "log_bytes", shard.log_bytes);
  add_number(out, "directory_bytes", shard.directory_bytes);
  add_number(out, "run_bytes", shard.run_bytes);
  add_number(out, "runs", shard.runs);
  add_number(out, "dead_runs", shard.dead_runs);
  add_number(out, "postings", shard.postings);
  add_number(out, "dead_postings", shard.dead_postings);
  add_number(out, "unindexed_records", shard.unindexed_records);
  out += ",\"kinds\":{";
  for (const auto& [kind, events] : shard.kinds) {
    if (out.back() != '{') out += ',';
    out += "\"" + std::to_string(kind) + "\":{";
    add_number(out, "alive", events.alive);
    add_number(out, "dead", events.dead);
    out += '}';
  }
  out += '}';
  if (shard.segments.empty()) return out + "}";
  out += ",\"segments\":[";
  for (const ShardStatistics::Segment& segment : shard.segments) {
    if (out.back() != '[') out += ',';
    out += '{';
    add_number(out, "number", segment.number);
    add_number(out, "bytes", segment.bytes);
    add_number(out, "dead_bytes", segment.dead_bytes);
    out += '}';
  }
  return out + "]}";
}

}  // namespace

absl::StatusOr<StoreStats> run_stats(const std::string& store_path) {
  storage::FileSystem& files = storage::posix_file_system();
  const auto header = storage::read_store_header(files, store_path);
  if (!header.ok()) return header.status();
  StoreStats stats;
  stats.shards.resize(header->shard_count);
  SharedProgress progress;
  const absl::Status status =
      for_each_shard(header->shard_count, "shards", 0, progress, [&](ShardId shard) {
        auto survey = storage::survey_shard(
            files, {store_path + "/" + storage::shard_folder_name(shard), header->key, shard});
        if (survey.ok()) stats.shards[shard] = *std::move(survey);
        progress.count.fetch_add(1, std::memory_order_relaxed);
        return survey.status();
      });
  if (!status.ok()) return status;
  return stats;
}

ShardStatistics total_of(const StoreStats& stats) {
  ShardStatistics total;
  for (const ShardStatistics& shard : stats.shards) {
    for (const auto& [kind, events] : shard.kinds) {
      total.kinds[kind].alive += events.alive;
      total.kinds[kind].dead += events.dead;
    }
    total.events.alive += shard.events.alive;
    total.events.dead += shard.events.dead;
    if (shard.oldest_created_at) {
      total.oldest_created_at = std::min(
          *shard.oldest_created_at, total.oldest_created_at.value_or(*shard.oldest_created_at));
      total.newest_created_at = std::max(
          *shard.newest_created_at, total.newest_created_at.value_or(*shard.newest_created_at));
    }
    total.dropped_events += shard.dropped_events;
    total.log_bytes += shard.log_bytes;
    total.directory_bytes += shard.directory_bytes;
    total.run_bytes += shard.run_bytes;
    total.runs += shard.runs;
    total.dead_runs += shard.dead_runs;
    total.postings += shard.postings;
    total.dead_postings += shard.dead_postings;
    total.unindexed_records += shard.unindexed_records;
  }
  return total;
}

std::string stats_text(const StoreStats& stats) {
  const ShardStatistics total = total_of(stats);
  std::string text = kinds_text(total) + "\n";
  text += row_of("shard", {"alive", "dead", "log", "directory", "runs", "postings", "run files"});
  for (std::size_t i = 0; i < stats.shards.size(); ++i) {
    text += shard_row(std::to_string(i), stats.shards[i]);
  }
  text += shard_row("total", total) + "\n";
  if (total.oldest_created_at) {
    text += "created_at from " + time_text(*total.oldest_created_at) + " to " +
            time_text(*total.newest_created_at) + " UTC\n";
  }
  text += count_text(total.unindexed_records) + " records behind the last checkpoints\n";
  return text + segments_text(stats);
}

std::string stats_json(const StoreStats& stats) {
  std::string out = "{\"total\":" + json_of(total_of(stats)) + ",\"shards\":[";
  for (const ShardStatistics& shard : stats.shards) {
    if (out.back() != '[') out += ',';
    out += json_of(shard);
  }
  return out + "]}\n";
}

}  // namespace gyre::app
