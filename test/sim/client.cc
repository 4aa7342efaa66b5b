#include "sim/client.h"

#include <algorithm>

#include "gyre/nostr/kind.h"

namespace gyre::test {
namespace {

struct BadFilter {
  std::string_view json;
  std::string_view refusal;
};
constexpr BadFilter kBadFilters[] = {{R"({"kindz":[1]})", "unsupported"},
                                     {R"({"ids":["x"]})", "invalid"},
                                     {R"([])", "invalid"},
                                     {R"({"limit":-1})", "invalid"},
                                     {R"({"kinds":[65536]})", "invalid"}};

}  // namespace

Client::Client(SimNetwork& network, Corpus& corpus, Ledger& ledger, const SimClock& clock,
               Random& random, ShardId shard, const ClientLimits& limits)
    : network_(network),
      corpus_(corpus),
      ledger_(ledger),
      clock_(clock),
      random_(random),
      limits_(limits),
      handle_(network.connect(shard)),
      socket_(random) {
  network_.write(handle_, WebSocketClient::upgrade_request());
}

void Client::wrong(const std::string& what) const {
  throw Violation(what + " (client " + std::to_string(handle_) + ")");
}

void Client::send(std::string_view text) { network_.write(handle_, socket_.text_frames(text)); }

// What it asks for.

void Client::publish(EventIndex index) {
  const CorpusEvent& event = corpus_[index];
  const std::string id(event.view().id_hex());
  const bool is_logged_in = std::ranges::count(keys_, event.key_index) > 0;
  ++pending_oks_[id];
  login_needed_[id].push_back(event.view().is_protected() && !is_logged_in);
  ledger_.note_sent(index);
  send("[\"EVENT\"," + event.json + "]");
}

std::vector<Corpus::FilterText> Client::make_filters() {
  std::vector<Corpus::FilterText> filters;
  // Now and then so many that the relay does not get to the end of them in one go.
  const std::uint64_t count = below(15) == 0 ? 20 + below(20) : 1 + below(3) / 2;
  while (filters.size() < count) filters.push_back(corpus_.make_filter());
  return filters;
}

std::string Client::refusal_of(const SubscriptionCheck& check) const {
  return keys_.empty() && check.is_for_gated_only() ? "auth-required" : "";
}

std::uint32_t Client::open_channel_count() const {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      channels_, [](const auto& channel) { return !channel.second.is_closed; }));
}

void Client::subscribe() { open_channel("s" + std::to_string(++last_number_)); }

void Client::open_channel(const std::string& id) {
  auto check = std::make_unique<SubscriptionCheck>(ledger_, make_filters(), limits_.filters, keys_,
                                                   clock_.unix_s());
  std::string refusal = refusal_of(*check);
  const bool is_new = !channels_.contains(id) || channels_[id].is_closed;
  if (refusal.empty() && is_new && open_channel_count() >= limits_.subscriptions) {
    refusal = "rate-limited";
  }
  Channel& channel = channels_[id];
  send("[\"REQ\",\"" + id + "\"," + check->to_string() + "]");
  for (const auto& older : channel.requests) older->blur();
  channel.eose_min = std::min(channel.eose_min, channel.eose_count);
  channel.is_closed = !refusal.empty();
  if (!refusal.empty()) {
    channel.refusals_due.push_back(std::move(refusal));
    return;
  }
  if (!channel.requests.empty()) check->blur();
  channel.requests.push_back(std::move(check));
  ++channel.eose_max;
  channel.eose_min = channel.eose_count + 1;
}

void Client::replace_or_close_subscription() {
  if (channels_.empty()) return;
  auto found = channels_.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(below(channels_.size())));
  if (below(3) == 0) return open_channel(found->first);
  close_channel(found->first, found->second);
}

void Client::close_channel(const std::string& id, Channel& channel) {
  channel.eose_min = std::min(channel.eose_min, channel.eose_count);
  channel.is_closed = true;
  send("[\"CLOSE\",\"" + id + "\"]");
}

// Refused for its filter; whatever stood under the id is over.
void Client::subscribe_badly() {
  std::string id = "b" + std::to_string(++last_number_);
  if (!channels_.empty() && below(2) == 0) id = channels_.begin()->first;
  const BadFilter& bad = kBadFilters[below(std::size(kBadFilters))];
  Channel& channel = channels_[id];
  for (const auto& older : channel.requests) older->blur();
  channel.eose_min = std::min(channel.eose_min, channel.eose_count);
  channel.is_closed = true;
  channel.refusals_due.emplace_back(bad.refusal);
  send("[\"REQ\",\"" + id + "\"," + std::string(bad.json) + "]");
}

void Client::count() {
  if (counts_.size() >= limits_.counts) return;
  const std::string id = "c" + std::to_string(++last_number_);
  auto check = std::make_unique<SubscriptionCheck>(ledger_, make_filters(), limits_.filters, keys_,
                                                   clock_.unix_s());
  send("[\"COUNT\",\"" + id + "\"," + check->to_string() + "]");
  PendingCount& pending = counts_[id];
  pending.expected_refusal = refusal_of(*check);
  pending.filters = std::move(check);
  pending.requested = ledger_.tick();
  pending.requested_s = clock_.unix_s();
}

void Client::log_in() {
  EventDraft draft;
  draft.key_index = static_cast<std::uint32_t>(below(Corpus::kAuthors));
  draft.kind = nostr::kKindAuth;
  draft.created_at = static_cast<std::uint64_t>(clock_.unix_s());
  draft.content = std::to_string(++last_number_);
  draft.tags = {{"relay", std::string(Corpus::kRelayUrl)}, {"challenge", challenge_}};
  const std::uint64_t fault = below(8);
  switch (fault) {
    case 0: draft.tags[1][1] = std::string(32, '0'); break;
    case 1: draft.tags[0][1] = "wss://elsewhere.test/"; break;
    case 2: draft.tags[1] = draft.tags[0]; break;
    case 3: draft.created_at -= 700; break;
    case 4: draft.kind = 1; break;
    default: break;
  }
  const bool is_good = fault > 4;
  if (is_good && std::ranges::count(keys_, draft.key_index) == 0) keys_.push_back(draft.key_index);
  const std::string json = sign_event(draft);
  pending_logins_[json.substr(7, 64)] = is_good;
  send("[\"AUTH\"," + json + "]");
}

void Client::talk_nonsense() {
  ++pending_notices_;
  if (below(3) == 0) {
    network_.write(handle_, socket_.binary_frame("[\"REQ\",\"x\",{}]"));
  } else {
    send(below(2) == 0 ? "[\"EVENT\",null]" : "{]");
  }
}

void Client::stop_reading() {
  was_slow_ = true;
  network_.stop_reading(handle_);
}

void Client::resume_reading() { network_.resume_reading(handle_); }

void Client::say_goodbye() {
  is_end_expected_ = has_said_goodbye_ = true;
  network_.write(handle_, socket_.close_frame(1000));
}

void Client::hang_up() {
  is_gone_ = true;
  below(2) == 0 ? network_.close(handle_) : network_.reset(handle_);
}

// What it hears.

bool Client::receive() {
  if (is_gone_) return false;
  const std::string bytes = network_.read(handle_);
  socket_.receive(bytes);
  if (!socket_.fault().empty()) wrong(socket_.fault());
  for (const std::string& text : socket_.take_texts()) {
    const auto message = read_relay_message(text);
    if (!message) wrong("no message of a relay: " + text);
    take(*message);
  }
  const std::string replies = socket_.take_replies();
  if (!replies.empty() && socket_.close_code() == 0) network_.write(handle_, replies);
  if (socket_.close_code() != 0 || network_.is_ended(handle_)) note_end();
  return !bytes.empty();
}

void Client::note_end() {
  const bool is_allowed = is_end_expected_ || was_slow_ || limits_.may_be_dropped;
  if (!is_allowed) {
    wrong("the relay ended the connection, close code " + std::to_string(socket_.close_code()));
  }
  is_gone_ = true;
  // The relay waits for our Close, and for our end.
  const bool may_answer = socket_.close_code() != 0 && !has_said_goodbye_;
  if (may_answer && !network_.is_reset(handle_) && below(4) != 0) {
    network_.write(handle_, socket_.close_frame(1000));
  }
  network_.close(handle_);
}

void Client::take(const RelayMessageText& message) {
  switch (message.type) {
    case Type::kEvent: return take_event(message);
    case Type::kOk: return take_ok(message);
    case Type::kEose: return take_eose(message);
    case Type::kClosed: return take_closed(message);
    case Type::kCount: return take_count(message);
    case Type::kAuth:
      if (!challenge_.empty() || message.text.size() < 22) wrong("an odd challenge");
      challenge_ = message.text;
      return;
    case Type::kNotice:
      if (pending_notices_ == 0) wrong("NOTICE " + std::string(message.text));
      --pending_notices_;
      return;
  }
}

Client::Channel& Client::channel_of(const RelayMessageText& message) {
  const auto found = channels_.find(std::string(message.id));
  if (found == channels_.end()) wrong("a message for the closed " + std::string(message.id));
  return found->second;
}

void Client::take_event(const RelayMessageText& message) {
  Channel& channel = channel_of(message);
  const std::string id(message.event.substr(7, 64));
  const auto index = corpus_.find(id);
  if (!index) wrong("an event that nobody sent: " + std::string(message.event));
  if (message.event != corpus_[*index].view().json()) wrong("an altered event " + id);
  const bool matches_any = std::ranges::any_of(
      channel.requests, [&](const auto& request) { return request->matches(*index); });
  if (!matches_any) {
    wrong("an event outside the filters of all REQs of " + std::string(message.id) + ": " +
          ledger_.describe(*index));
  }
  for (const auto& request : channel.requests) request->take_event(*index, keys_);
}

void Client::take_eose(const RelayMessageText& message) {
  Channel& channel = channel_of(message);
  if (++channel.eose_count > channel.eose_max)
    wrong("EOSE once more for " + std::string(message.id));
  channel.requests.back()->take_eose(clock_.unix_s());
}

void Client::take_closed(const RelayMessageText& message) {
  const std::string id(message.id);
  if (counts_.contains(id)) return take_refused_count(id, message);
  Channel& channel = channel_of(message);
  if (limits_.may_run_out_of_time && message.prefix() == "error") {
    // Instead of EOSE. Of which REQ cannot be told if there were several: so it ends here.
    if (++channel.eose_count > channel.eose_max) wrong("CLOSED behind EOSE for " + id);
    for (const auto& request : channel.requests) request->blur();
    if (!channel.is_closed && !is_end_expected_) close_channel(id, channel);
    return;
  }
  const auto due = std::ranges::find(channel.refusals_due, message.prefix());
  if (due == channel.refusals_due.end())
    wrong("CLOSED " + std::string(message.text) + " for " + id);
  channel.refusals_due.erase(due);
}

void Client::take_ok(const RelayMessageText& message) {
  const std::string id(message.id);
  if (const auto login = pending_logins_.find(id); login != pending_logins_.end()) {
    if (message.is_accepted != login->second) wrong("a login was judged wrongly: " + id);
    pending_logins_.erase(login);
    return;
  }
  const auto pending = pending_oks_.find(id);
  if (pending == pending_oks_.end() || pending->second == 0) wrong("OK once more for " + id);
  --pending->second;
  // Sent twice, logged in between: the answers come in any order of the two.
  std::deque<bool>& needs = login_needed_[id];
  const bool is_login_refusal =
      message.prefix() == "auth-required" || message.prefix() == "restricted";
  const auto same = std::ranges::find(needs, is_login_refusal);
  const bool was_login_needed = same != needs.end() ? *same : needs.front();
  needs.erase(same != needs.end() ? same : needs.begin());
  ledger_.note_ok(*corpus_.find(id), message.is_accepted, message.prefix(), was_login_needed,
                  clock_.unix_s());
}

void Client::take_count(const RelayMessageText& message) {
  const auto found = counts_.find(std::string(message.id));
  if (found == counts_.end()) wrong("COUNT once more for " + std::string(message.id));
  const PendingCount& pending = found->second;
  if (!pending.expected_refusal.empty()) wrong("COUNT where a refusal was due");
  std::uint64_t at_least = 0;
  std::uint64_t at_most = 0;
  for (EventIndex index = 0; index < corpus_.size(); ++index) {
    const CorpusEvent& event = corpus_[index];
    if (!pending.filters->matches(index)) continue;
    if (!Corpus::may_read(event.view(), pending.filters->keys())) continue;
    if (!limits_.filters.may_miss_stored &&
        ledger_.is_surely_stored(index, pending.requested, kNever, clock_.unix_s())) {
      ++at_least;
    }
    const bool is_out =
        event.is_expired(pending.requested_s) || ledger_.is_surely_dead(index, pending.requested);
    if (ledger_.may_be_stored(index) && !is_out) ++at_most;
  }
  if (message.count < at_least || message.count > at_most) {
    wrong("COUNT " + std::to_string(message.count) + " instead of " + std::to_string(at_least) +
          " to " + std::to_string(at_most) + " for " + pending.filters->to_string());
  }
  counts_.erase(found);
}

void Client::take_refused_count(const std::string& id, const RelayMessageText& message) {
  const bool is_out_of_time = limits_.may_run_out_of_time && message.prefix() == "error";
  if (!is_out_of_time && message.prefix() != counts_[id].expected_refusal) {
    wrong("CLOSED " + std::string(message.text) + " for COUNT " + counts_[id].filters->to_string());
  }
  counts_.erase(id);
}

bool Client::waits_for_space() const {
  return std::ranges::any_of(pending_oks_, [this](const auto& pending) {
    const std::uint16_t kind = corpus_[*corpus_.find(pending.first)].view().kind();
    return pending.second != 0 && (kind == nostr::kKindDeletion || kind == nostr::kKindVanish);
  });
}

void Client::check_settled(Disk disk) {
  if (is_gone_ || (disk == Disk::kIsFull && waits_for_space())) return;
  if (challenge_.empty()) wrong("no challenge");
  for (const auto& [id, count] : pending_oks_) {
    if (count != 0) wrong(std::to_string(count) + " OKs missing for " + id);
  }
  if (!pending_logins_.empty()) wrong("a login without OK: " + pending_logins_.begin()->first);
  if (pending_notices_ != 0) wrong("a NOTICE is missing");
  if (!counts_.empty()) wrong("COUNT without answer: " + counts_.begin()->first);
  for (auto& [id, channel] : channels_) {
    if (channel.eose_count < channel.eose_min) wrong("no EOSE for " + id);
    if (!channel.refusals_due.empty()) wrong("no CLOSED for " + id);
    if (channel.is_closed) continue;
    channel.requests.back()->check_settled();
    // From here on it is clear to which REQ everything belongs.
    channel.requests.erase(channel.requests.begin(), channel.requests.end() - 1);
    channel.requests.back()->sharpen();
    channel.eose_max = channel.eose_min = channel.eose_count;
  }
  std::erase_if(channels_, [](const auto& entry) { return entry.second.is_closed; });
}

}  // namespace gyre::test
