#include "app/config_key.h"

#include <algorithm>
#include <array>
#include <vector>

#include "gyre/base/assert.h"
#include "gyre/base/bytes.h"
#include "gyre/base/ids.h"
#include "gyre/runtime/address.h"

namespace gyre::app {
namespace {

using C = Config;

constexpr std::array<std::string_view, 3> kDurabilityNames = {"fsync", "interval", "os"};
constexpr std::array<std::string_view, 4> kLogLevelNames = {"debug", "info", "warning", "error"};
static_assert(static_cast<std::size_t>(Durability::kOs) + 1 == kDurabilityNames.size());
static_assert(static_cast<std::size_t>(LogLevel::kError) + 1 == kLogLevelNames.size());

constexpr std::uint64_t kGiB = 1024 * kMiB;
constexpr std::uint64_t kTiB = 1024 * kGiB;
constexpr std::uint32_t kYearS = 365 * 24 * 3600;

bool is_any(std::string_view) { return true; }
bool is_key(std::string_view text) { return is_lower_hex(text, 64); }
bool is_key_or_empty(std::string_view text) { return text.empty() || is_key(text); }
bool is_listen_address(std::string_view text) { return runtime::Address::parse(text).has_value(); }
bool is_address_range(std::string_view text) { return runtime::IpPrefix::parse(text).has_value(); }

// Characters that end or change the path of a URL have no place in either of these.
bool is_visible_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; }) &&
         text.find_first_of("?#\"<>\\^`{|}") == std::string_view::npos;
}
bool is_url_path(std::string_view text) { return text.starts_with('/') && is_visible_ascii(text); }
bool is_relay_url(std::string_view text) {
  const std::size_t scheme = text.starts_with("ws://") ? 5 : text.starts_with("wss://") ? 6 : 0;
  return scheme != 0 && is_visible_ascii(text) && text.size() > scheme && text[scheme] != '/';
}

constexpr TextRule kAnyText = {"text of at most 4096 bytes", is_any};
constexpr TextRule kKeyOrEmpty = {"a public key, 64 digits of lower-case hex, or empty",
                                  is_key_or_empty};
constexpr TextRule kKeys = {"public keys, 64 digits of lower-case hex each", is_key};
constexpr TextRule kListenAddress = {
    "an IP address and a port, as \"127.0.0.1:7447\" or "
    "\"[::]:7447\"",
    is_listen_address};
constexpr TextRule kAddressRanges = {"IP addresses or ranges, as [\"127.0.0.1\", \"10.0.0.0/8\"]",
                                     is_address_range};
constexpr TextRule kUrlPath = {"a path, as \"/\" or \"/relay\"", is_url_path};
constexpr TextRule kRelayUrls = {"relay URLs, as [\"wss://relay.example\"]", is_relay_url};

std::vector<ConfigKey> net_keys() {
  return {
      {"net", "listen", Reload::kRestart, text_field<&C::net, &C::Net::listen>(kListenAddress),
       "Where clients connect, for WebSocket and HTTP alike. Port 0 takes a free one."},
      {"net", "base_path", Reload::kLive, text_field<&C::net, &C::Net::base_path>(kUrlPath),
       "The one path that upgrades to WebSocket and serves the NIP-11 document."},
      {"net", "trusted_proxies", Reload::kLive,
       text_list_field<&C::net, &C::Net::trusted_proxies>(kAddressRanges),
       "Proxies whose X-Forwarded-For, Forwarded or PROXY protocol header is believed. From "
       "anybody else it is ignored: a client could give itself any address."},
      {"net", "handshake_timeout_s", Reload::kLive,
       integer_field<&C::net, &C::Net::handshake_timeout_s>(1, 300),
       "Seconds from accepting a connection to the end of its HTTP request."},
      {"net", "ping_s", Reload::kLive, integer_field<&C::net, &C::Net::ping_s>(1, 3600),
       "Seconds without anything sent to a connection after which it is pinged. Proxies often cut "
       "what is silent for 60 seconds."},
      {"net", "pong_timeout_s", Reload::kLive,
       integer_field<&C::net, &C::Net::pong_timeout_s>(1, 3600),
       "Seconds of silence after a ping that end the connection."},
      {"net", "send_timeout_s", Reload::kLive,
       integer_field<&C::net, &C::Net::send_timeout_s>(1, 3600),
       "Seconds one send may take before the client counts as gone."},
      {"net", "close_timeout_s", Reload::kLive,
       integer_field<&C::net, &C::Net::close_timeout_s>(1, 60),
       "Seconds to wait for a client's Close frame after ours."},
      {"net", "gather_us", Reload::kLive,
       integer_field<&C::net, &C::Net::gather_us>(0, 100'000, "; 0: live events never wait"),
       "Microseconds that live events wait for more to the same client, if it has been sent "
       "something within that time. Fewer and larger sends: a busy stream costs a fraction, a "
       "quiet one is not delayed."},
      {"net", "deflate", Reload::kLive, boolean_field<&C::net, &C::Net::deflate>(),
       "Compression of messages (permessage-deflate) for clients that ask for it when they "
       "connect. "
       "Saves more than a third of the bytes of events and costs some 13 microseconds for each."},
  };
}

std::vector<ConfigKey> relay_keys() {
  return {
      {"relay", "shards", Reload::kRestart,
       integer_field<&C::relay, &C::Relay::shards>(0, kShardsMax, "; 0 means one for each core"),
       "Worker threads, each with its own part of the store. An existing store keeps the number "
       "it was made with."},
      {"relay", "urls", Reload::kLive, text_list_field<&C::relay, &C::Relay::urls>(kRelayUrls),
       "The URLs under which clients know this relay; logins (NIP-42) must name one of them. "
       "Empty: ws://localhost and ws://127.0.0.1 with the port of net.listen, and its address."},
      {"relay", "admins", Reload::kLive, text_list_field<&C::relay, &C::Relay::admins>(kKeys),
       "Who may administer this relay."},
      {"relay", "name", Reload::kLive, text_field<&C::relay, &C::Relay::name>(kAnyText),
       "Shown in the NIP-11 document; fewer than 30 characters are best."},
      {"relay", "description", Reload::kLive,
       text_field<&C::relay, &C::Relay::description>(kAnyText), "Shown in the NIP-11 document."},
      {"relay", "contact", Reload::kLive, text_field<&C::relay, &C::Relay::contact>(kAnyText),
       "Shown in the NIP-11 document; a URI such as \"mailto:admin@relay.example\"."},
      {"relay", "pubkey", Reload::kLive, text_field<&C::relay, &C::Relay::pubkey>(kKeyOrEmpty),
       "The administrator's public key, shown in the NIP-11 document."},
      {"relay", "eose_hints", Reload::kLive, boolean_field<&C::relay, &C::Relay::eose_hints>(),
       "Whether EOSE says if there are more stored events than were sent (NIP-67). Very old "
       "clients may not take its third element."},
      {"relay", "icon", Reload::kLive, text_field<&C::relay, &C::Relay::icon>(kAnyText),
       "URL of a square image, shown in the NIP-11 document."},
  };
}

std::vector<ConfigKey> store_keys() {
  return {
      {"store", "path", Reload::kRestart, text_field<&C::store, &C::Store::path>(kAnyText),
       "The folder of the store. Empty: $STATE_DIRECTORY if systemd sets it; for root "
       "/var/lib/gyre; else $XDG_STATE_HOME/gyre; else $HOME/.local/state/gyre."},
      {"store", "durability", Reload::kRestart,
       choice_field<&C::store, &C::Store::durability>(kDurabilityNames),
       "What an OK promises. \"fsync\": the event survives a power failure; many events share one "
       "sync. \"interval\": it survives the death of the process; synced every second. \"os\": "
       "the same, synced when the kernel likes."},
      {"store", "segment_bytes", Reload::kRestart,
       size_field<&C::store, &C::Store::segment_bytes>(4 * kMiB, 2 * kGiB),
       "Size of one file of the log; at least four times limits.message_bytes."},
      {"store", "resident_bytes", Reload::kRestart,
       size_field<&C::store, &C::Store::resident_bytes>(0, 1024 * kGiB),
       "How much of the log is kept in memory, its newest part, shared by all shards. Older events "
       "are read from the disk when somebody asks for them. 0: half of the memory that the machine "
       "and the control group allow, less what the index takes."},
      {"store", "expiry_sweep_s", Reload::kRestart,
       integer_field<&C::store, &C::Store::expiry_sweep_s>(1, 3600),
       "Seconds between two removals of expired events (NIP-40). They are served no longer from "
       "their second on, whatever this says."},
      {"store", "table_postings_max", Reload::kRestart,
       integer_field<&C::store, &C::Store::table_postings_max>(1'000, 100'000'000),
       "Index entries that a shard gathers in memory before it writes them to a file. About ten "
       "for each event; recovery after a crash reads the log of as many."},
      {"store", "compact_dead_percent", Reload::kRestart,
       integer_field<&C::store, &C::Store::compact_dead_percent>(5, 100, "; 100 means never"),
       "A full file of the log is written anew without its dead events (replaced, deleted, "
       "expired) when they are more than this part of it. Lower saves space and writes more."},
  };
}

std::vector<ConfigKey> retention_keys() {
  return {
      {"store.retention", "max_age", Reload::kLive,
       age_field<&C::retention, &C::Retention::max_age_s>(),
       "How old an event may become, by its created_at."},
      {"store.retention", "kinds", Reload::kLive,
       kind_age_table_field<&C::retention, &C::Retention::kinds>(),
       "The same for single kinds and ranges of them, in place of max_age."},
      {"store.retention", "max_bytes", Reload::kLive,
       size_field<&C::retention, &C::Retention::max_bytes>(0, 1024 * kTiB),
       "What the whole store may take on the disk, besides 32 bytes for each event ever stored; 0: "
       "no limit. Above it the oldest events go, by created_at. Each shard has an equal part, of "
       "at least four times store.segment_bytes."},
  };
}

std::vector<ConfigKey> connection_limit_keys() {
  return {
      {"limits", "connections", Reload::kLive,
       integer_field<&C::limits, &C::Limits::connections>(1, 1'000'000), "Connections in all."},
      {"limits", "connections_per_ip", Reload::kLive,
       integer_field<&C::limits, &C::Limits::connections_per_ip>(0, 1'000'000, "; 0: no limit"),
       "Connections of one address. Behind a proxy this needs net.trusted_proxies, or all clients "
       "count as one."},
      {"limits", "message_bytes", Reload::kLive,
       size_field<&C::limits, &C::Limits::message_bytes>(kKiB, kMessageBytesMax),
       "One message of a client."},
      {"limits", "send_queue_bytes", Reload::kLive,
       size_field<&C::limits, &C::Limits::send_queue_bytes>(64 * kKiB, kGiB),
       "Bytes waiting for one client; a slower one is disconnected. At least "
       "limits.message_bytes."},
      {"limits", "filter_cost", Reload::kLive,
       integer_field<&C::limits, &C::Limits::filter_cost>(1'000, 10'000'000),
       "Cost of all filters that one connection holds open: 32 for each filter and 1 for each of "
       "its values. A REQ beyond it is refused."},
      {"limits", "events_in_flight", Reload::kLive,
       integer_field<&C::limits, &C::Limits::events_in_flight>(1, 65'536),
       "Events of one connection that wait for their OK. Reading from it pauses there."},
  };
}

std::vector<ConfigKey> event_limit_keys() {
  return {
      {"limits", "event_tags", Reload::kLive,
       integer_field<&C::limits, &C::Limits::event_tags>(1, 1'000'000), "Tags of one event."},
      {"limits", "content_chars", Reload::kLive,
       integer_field<&C::limits, &C::Limits::content_chars>(1, kMessageBytesMax),
       "Unicode characters in the content of one event."},
      {"limits", "created_at_future_s", Reload::kLive,
       integer_field<&C::limits, &C::Limits::created_at_future_s>(0, 100 * kYearS, "; 0: no limit"),
       "Seconds by which an event may be ahead of the relay's clock."},
      {"limits", "created_at_past_s", Reload::kLive,
       integer_field<&C::limits, &C::Limits::created_at_past_s>(0, 100 * kYearS, "; 0: no limit"),
       "Age in seconds above which an event is refused. Gift wraps and seals (kinds 1059 and 13) "
       "always have two days, by which NIP-59 dates them back."},
  };
}

std::vector<ConfigKey> query_limit_keys() {
  return {
      {"limits", "subscriptions", Reload::kLive,
       integer_field<&C::limits, &C::Limits::subscriptions>(1, 10'000),
       "Open subscriptions of one connection."},
      {"limits", "subscription_id_chars", Reload::kLive,
       integer_field<&C::limits, &C::Limits::subscription_id_chars>(1, 64),
       "Characters of a subscription id; NIP-01 allows 64."},
      {"limits", "filters", Reload::kLive,
       integer_field<&C::limits, &C::Limits::filters>(1, 10'000), "Filters of one REQ or COUNT."},
      {"limits", "filter_values", Reload::kLive,
       integer_field<&C::limits, &C::Limits::filter_values>(1, 1'000'000),
       "Values of one list of a filter (ids, authors, kinds, a tag)."},
      {"limits", "filter_limit_max", Reload::kLive,
       integer_field<&C::limits, &C::Limits::filter_limit_max>(1, 1'000'000),
       "The most stored events that one filter gets; a higher limit is lowered to this."},
      {"limits", "filter_limit_default", Reload::kLive,
       integer_field<&C::limits, &C::Limits::filter_limit_default>(1, 1'000'000),
       "Stored events for a filter that gives no limit; at most limits.filter_limit_max."},
      {"limits", "query_time_s", Reload::kLive,
       integer_field<&C::limits, &C::Limits::query_time_s>(1, 3600),
       "Seconds of work for the stored part of one REQ; then it ends with CLOSED."},
  };
}

std::vector<ConfigKey> other_keys() {
  return {
      {"auth", "required", Reload::kLive, boolean_field<&C::auth, &C::Auth::required>(),
       "Whether a client must log in (NIP-42) before it may read or write anything."},
      {"auth", "gated_kinds", Reload::kLive, kind_list_field<&C::auth, &C::Auth::gated_kinds>(),
       "Kinds that are served only to their author and to those named in their p tags, after "
       "login: encrypted messages and gift wraps."},
      {"log", "level", Reload::kLive, choice_field<&C::log, &C::Log::level>(kLogLevelNames),
       "The least serious lines that are written to standard error."},
      {"runtime", "pin", Reload::kRestart, boolean_field<&C::runtime, &C::Runtime::pin>(),
       "Whether each shard's thread stays on one core."},
      {"runtime", "spin_us", Reload::kRestart,
       integer_field<&C::runtime, &C::Runtime::spin_us>(0, 1000),
       "Microseconds that an idle shard looks for work before it sleeps. Costs a core's time, "
       "saves wake-ups."},
  };
}

std::vector<ConfigKey> all_keys() {
  std::vector<ConfigKey> keys;
  for (auto* section : {net_keys, relay_keys, store_keys, retention_keys, connection_limit_keys,
                        event_limit_keys, query_limit_keys, other_keys}) {
    for (ConfigKey& key : section()) keys.push_back(std::move(key));
  }
  return keys;
}

struct SectionMeaning {
  std::string_view section;
  std::string_view meaning;
};
constexpr std::array<SectionMeaning, 8> kSections = {{
    {"net", "Connections: addresses and time-outs."},
    {"relay", "What this relay is and how it presents itself."},
    {"store", "Where and how events are kept."},
    {"store.retention",
     "How long events are kept; without these for ever. Deletion and vanish requests always are. "
     "What is too old is refused, and removed within store.expiry_sweep_s."},
    {"limits",
     "What one client may ask for. Most of these numbers are shown in the NIP-11 document, and "
     "all are enforced."},
    {"auth", "Logins (NIP-42)."},
    {"log", "The operator's log."},
    {"runtime", "Threads."},
}};

}  // namespace

std::string ConfigKey::path() const { return std::string(section) + "." + std::string(name); }

std::string ConfigKey::environment() const {
  std::string variable = "GYRE_" + std::string(section) + "_" + std::string(name);
  std::ranges::transform(variable, variable.begin(), [](char c) {
    if (c == '.') return '_';
    return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
  });
  return variable;
}

std::span<const ConfigKey> config_keys() {
  static const std::vector<ConfigKey> keys = all_keys();
  return keys;
}

bool is_config_section(std::string_view path) {
  return std::ranges::find(kSections, path, &SectionMeaning::section) != kSections.end();
}

std::string_view section_meaning(std::string_view section) {
  const auto* found = std::ranges::find(kSections, section, &SectionMeaning::section);
  GYRE_ASSERT(found != kSections.end());
  return found->meaning;
}

}  // namespace gyre::app
