#include "null_shard.h"

#include <charconv>
#include <cstring>

#include "gyre/base/assert.h"

namespace gyre::null {
namespace {

constexpr std::string_view kEventStart = "[\"EVENT\",";
constexpr std::string_view kReqStart = "[\"REQ\",\"";
constexpr std::string_view kIdStart = "\"id\":\"";
constexpr std::string_view kLimitStart = "\"limit\":";
constexpr std::size_t kIdChars = 64;
// As the relay has it by default (limits of relay/settings.h).
constexpr std::uint32_t kGatherUs = 2'000;

// An event on its way to the readers of one shard.
struct Delivery {
  SharedBytes::Block* event = nullptr;
};

std::string_view find_id(std::string_view event) {
  const std::size_t found = event.find(kIdStart);
  return found == std::string_view::npos ? "" : event.substr(found + kIdStart.size(), kIdChars);
}

std::uint64_t find_limit(std::string_view text) {
  const std::size_t found = text.find(kLimitStart);
  std::uint64_t limit = 0;
  if (found != std::string_view::npos) {
    const std::string_view digits = text.substr(found + kLimitStart.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), limit);
  }
  return limit;
}

std::string event_prefix(std::string_view subscription) {
  return std::string(kEventStart).append("\"").append(subscription).append("\",");
}

}  // namespace

struct NullShard::Reader {
  std::string prefix;
  relay::LiveStream live;
};

NullShard::NullShard(const Environment& environment)
    : environment_(environment),
      live_sender_(environment.clock, kGatherUs),
      pool_(environment.io, environment.timers, environment.clock, environment.limits,
            environment.admission, *this) {}

NullShard::~NullShard() {
  pool_.drop_all();
  pool_.flush();
}

net::HttpResponse NullShard::on_http(const net::HttpRequest& /*request*/) {
  return net::plain_response(200, "A null server, for measuring.\n");
}

void NullShard::on_open(net::Connection& connection) { connection.user = nullptr; }

void NullShard::on_closed(net::Connection& connection) {
  auto* const reader = static_cast<Reader*>(connection.user);
  if (reader == nullptr) return;
  live_sender_.forget(reader->live);
  readers_.erase(reader);
  delete reader;
  connection.user = nullptr;
}

void NullShard::on_message(net::Connection& connection, std::string_view text) {
  if (text.starts_with(kEventStart)) return on_event(connection, text);
  if (text.starts_with(kReqStart)) on_req(connection, text);
}

void NullShard::on_event(net::Connection& connection, std::string_view text) {
  text.remove_prefix(kEventStart.size());
  text.remove_suffix(1);
  connection.send_text({"[\"OK\",\"", find_id(text), "\",true,\"\"]"});
  const auto event =
      SharedBytes::copy_of({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  if (!unspread_.empty() || !try_spread(event)) unspread_.push_back(event);
}

bool NullShard::try_spread(const SharedBytes& event) {
  if (!environment_.port.has_reply_room_everywhere(1)) return false;
  for (ShardId shard = 0; shard < environment_.port.shard_count(); ++shard) {
    const Delivery delivery{SharedBytes(event).detach()};
    runtime::MeshSlot slot{};
    std::memcpy(slot.bytes.data(), &delivery, sizeof delivery);
    GYRE_ASSERT(environment_.port.try_send_reply(shard, slot));
  }
  return true;
}

void NullShard::on_req(net::Connection& connection, std::string_view text) {
  text.remove_prefix(kReqStart.size());
  const std::string_view subscription = text.substr(0, text.find('"'));
  const std::string prefix = event_prefix(subscription);
  const std::uint64_t limit = environment_.canned.has_any() ? find_limit(text) : 0;
  for (std::uint64_t i = 0; i < limit; ++i) {
    connection.send_text({prefix, environment_.canned.at(next_canned_++), "]"});
  }
  connection.send_text({"[\"EOSE\",\"", subscription, "\"]"});
  if (limit > 0 || connection.user != nullptr) return;
  auto* const reader = new Reader{prefix, {}};
  reader->live.connection = &connection;
  reader->live.prefix = reader->prefix;
  connection.user = reader;
  readers_.insert(reader);
}

void NullShard::on_reply(ShardId /*from*/, const runtime::MeshSlot& slot) {
  Delivery delivery;
  std::memcpy(&delivery, slot.bytes.data(), sizeof delivery);
  const SharedBytes event = SharedBytes::adopt(delivery.event);
  const std::string_view json(reinterpret_cast<const char*>(event.data()), event.size());
  live_sender_.begin_event(event, json);
  for (Reader* const reader : readers_) live_sender_.add(reader->live);
}

void NullShard::on_request(ShardId /*from*/, const runtime::MeshSlot& /*slot*/) {
  GYRE_ASSERT(!"a null shard sends no requests");
}

bool NullShard::work() {
  while (!unspread_.empty() && try_spread(unspread_.front())) unspread_.pop_front();
  bool has_more = pool_.work();
  has_more |= live_sender_.work();
  return has_more || !unspread_.empty();
}

}  // namespace gyre::null
