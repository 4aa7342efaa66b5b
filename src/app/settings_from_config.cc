#include "app/settings_from_config.h"

#include <algorithm>

#include "app/size_text.h"
#include "app/version.h"
#include "gyre/base/assert.h"
#include "gyre/base/ids.h"

namespace gyre::app {
namespace {

// Of one shard: what came in during the last hours is asked for most, however small the host.
constexpr std::uint64_t kResidentBytesMin = 16 * kMiB;

net::NetLimits net_limits(const Config& config) {
  net::NetLimits limits;
  limits.connections = config.limits.connections;
  limits.connections_per_ip = config.limits.connections_per_ip;
  limits.message_bytes = config.limits.message_bytes;
  limits.send_queue_bytes = config.limits.send_queue_bytes;
  limits.handshake_timeout_s = config.net.handshake_timeout_s;
  limits.ping_s = config.net.ping_s;
  limits.pong_timeout_s = config.net.pong_timeout_s;
  limits.send_timeout_s = config.net.send_timeout_s;
  limits.close_timeout_s = config.net.close_timeout_s;
  limits.is_deflate_offered = config.net.deflate;
  limits.base_path = config.net.base_path;
  for (const std::string& text : config.net.trusted_proxies) {
    const auto prefix = runtime::IpPrefix::parse(text);
    GYRE_ASSERT(prefix.has_value());  // load_config() has checked it.
    limits.trusted_proxies.push_back(*prefix);
  }
  return limits;
}

nostr::MessageLimits message_limits(const Config& config) {
  nostr::MessageLimits limits;
  limits.message_bytes_max = config.limits.message_bytes;
  limits.event_tags_max = config.limits.event_tags;
  limits.content_chars_max = config.limits.content_chars;
  limits.subscription_id_chars_max = config.limits.subscription_id_chars;
  limits.filters_max = config.limits.filters;
  limits.filter_values_max = config.limits.filter_values;
  return limits;
}

storage::RetentionPolicy retention_policy(const Config& config, std::uint32_t shard_count) {
  storage::RetentionPolicy policy;
  policy.max_age_s = config.retention.max_age_s;
  for (const Config::Retention::KindAge& entry : config.retention.kinds) {
    policy.kinds.push_back({entry.first, entry.last, entry.max_age_s});
  }
  policy.max_bytes = config.retention.max_bytes / shard_count;
  return policy;
}

}  // namespace

relay::Settings relay_settings(const Config& config, const std::string& listen,
                               std::uint32_t shard_count) {
  relay::Settings settings;
  settings.limits.message = message_limits(config);
  settings.limits.net = net_limits(config);
  settings.limits.filter_limit_max = config.limits.filter_limit_max;
  settings.limits.filter_limit_default =
      std::min(config.limits.filter_limit_default, config.limits.filter_limit_max);
  settings.limits.subscriptions = config.limits.subscriptions;
  settings.limits.filter_cost = config.limits.filter_cost;
  settings.limits.events_in_flight = config.limits.events_in_flight;
  settings.limits.gather_us = config.net.gather_us;
  settings.limits.created_at_future_s = config.limits.created_at_future_s;
  settings.limits.created_at_past_s = config.limits.created_at_past_s;
  settings.limits.query_time_ns = std::uint64_t{config.limits.query_time_s} * 1'000'000'000;
  settings.name = config.relay.name;
  settings.description = config.relay.description;
  settings.contact = config.relay.contact;
  settings.pubkey = config.relay.pubkey;
  settings.icon = config.relay.icon;
  settings.version = kVersion;
  settings.urls = own_urls(config, listen);
  for (const std::string& hex : config.relay.admins) {
    Bytes32 key;
    GYRE_ASSERT(hex_decode(hex, key.bytes.data()));  // load_config() has checked it.
    settings.admins.push_back(key);
  }
  settings.gated_kinds = config.auth.gated_kinds;
  std::sort(settings.gated_kinds.begin(), settings.gated_kinds.end());
  settings.is_auth_required = config.auth.required;
  settings.has_eose_hints = config.relay.eose_hints;
  settings.expiry_sweep_s = config.store.expiry_sweep_s;
  settings.retention = retention_policy(config, shard_count);
  return settings;
}

std::uint64_t resident_bytes_of_shard(const Config& config, std::uint64_t memory_bytes,
                                      std::uint32_t shards, std::uint64_t index_bytes) {
  if (config.store.resident_bytes != 0) return config.store.resident_bytes / shards;
  // The other half is for tables, connections, the page cache's older events, and the rest of the
  // machine.
  const std::uint64_t share = memory_bytes / 2 / shards;
  return std::max(kResidentBytesMin, share - std::min(share, index_bytes));
}

// load_config() has checked it for one shard.
absl::Status check_for_shards(const Config& config, std::uint32_t shard_count) {
  const std::uint64_t segments_bytes = 4 * config.store.segment_bytes;
  const std::uint64_t max_bytes = config.retention.max_bytes;
  if (max_bytes == 0 || max_bytes / shard_count >= segments_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "store.retention.max_bytes = " + size_text(max_bytes) + ": must be 0 or at least " +
      size_text(segments_bytes * shard_count) + ", which is four times store.segment_bytes (" +
      size_text(config.store.segment_bytes) + ") for each of the " + std::to_string(shard_count) +
      " shards of this store");
}

storage::StoreOptions store_options(const Config& config) {
  storage::StoreOptions options;
  options.log.segment_bytes = config.store.segment_bytes;
  options.postings.table_postings_max = config.store.table_postings_max;
  options.compaction.dead_share = config.store.compact_dead_percent / 100.0;
  switch (config.store.durability) {
    case Durability::kFsync: options.log.durability = storage::Durability::kFsync; break;
    case Durability::kInterval: options.log.durability = storage::Durability::kInterval; break;
    case Durability::kOs: options.log.durability = storage::Durability::kOs; break;
  }
  return options;
}

}  // namespace gyre::app
