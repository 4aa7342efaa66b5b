// What a connection does with received bytes.
#include "gyre/net/connection.h"

#include <algorithm>
#include <cerrno>

#include "gyre/base/assert.h"
#include "net/connection_set.h"
#include "net/padded_buffer.h"

namespace gyre::net {

// Turns frames into calls of the relay.
class FrameReceiver final : public FrameHandler {
 public:
  FrameReceiver(Connection& connection, std::uint32_t& budget)
      : connection_(connection), budget_(budget) {}

  bool on_text(std::string_view text) override {
    if (!connection_.is_open()) return true;
    count_message();
    connection_.set_->handler.on_message(connection_, text);
    return may_go_on();
  }

  bool on_binary() override {
    if (!connection_.is_open()) return true;
    count_message();
    connection_.set_->handler.on_binary_message(connection_);
    return may_go_on();
  }

  void on_ping(std::string_view payload) override {
    if (!connection_.make_room()) return;
    std::string frame;
    append_pong_frame(frame, payload);
    connection_.send_raw(frame);
  }

  void on_pong(std::string_view /*payload*/) override {}  // Having received anything is enough.

  void on_close(std::uint16_t code) override { connection_.on_peer_close(code); }

 private:
  void count_message() {
    ++connection_.set_->counters.messages_received;
    --budget_;
  }
  // Closing connections go on until the peer's Close.
  [[nodiscard]] bool may_go_on() const { return !connection_.must_wait(budget_); }

  Connection& connection_;
  std::uint32_t& budget_;
};

void Connection::pause_reading() {
  if (state_ != State::kOpen || is_paused_) return;
  is_paused_ = true;
  update_receiving();
}

void Connection::resume_reading() {
  if (!is_paused_) return;
  is_paused_ = false;
  schedule_kept();
  update_receiving();
}

bool Connection::is_reading_paused() const { return is_paused_; }

void Connection::on_receive(const runtime::CompletionResult& result) {
  if (result.result > 0) {
    set_->counters.bytes_received += result.bytes.size();
    last_received_ns_ = set_->now_ns();
    take_received(result.bytes);
  }
  if (!result.more) on_receive_end(result.result);
}

void Connection::on_receive_end(std::int32_t result) {
  is_receive_cancelled_ = false;
  if (state_ == State::kDraining) {
    finish_if_drained();
  } else if (result > 0 || result == -ECANCELED) {
    update_receiving();
  } else if (result == 0) {
    on_peer_end();
  } else {
    begin_draining();
  }
}

// A client may end its side after a request and still read the answer, also without the Close frame
// that RFC 6455 7.1.1 wants first: what it has sent is answered.
void Connection::on_peer_end() {
  has_peer_ended_ = true;
  if (state_ == State::kOpen) {
    if (kept_ == nullptr) end_input();
  } else if (state_ == State::kClosing) {
    end_if_said_all();
  } else {
    begin_draining();
  }
}

// The peer has ended, and all it has sent has been taken.
void Connection::end_input() {
  if (state_ == State::kOpen && peer_close_code_ == 0) on_peer_close(kEndedWithoutClose);
}

void Connection::take_received(std::span<std::uint8_t> bytes) {
  if (input_ == Input::kIgnored) return;
  if (kept_ == nullptr) {
    const std::size_t taken = take(bytes);
    if (taken < bytes.size()) keep(bytes.subspan(taken));
  } else {
    keep(bytes);
    if (input_ == Input::kRequest) take_kept();
  }
  // A reset behind these bytes may have been noticed together with them. Then an armed receive is
  // not told of it any more (Linux 6.18), and nothing is sent yet that would fail: a new one is.
  if (input_ == Input::kRequest && kept_ != nullptr) cancel_receive();
  update_receiving();
}

// Takes as much as may be taken now, and says how much that was.
std::size_t Connection::take(std::span<std::uint8_t> bytes) {
  std::uint32_t budget = kMessagesPerPass;
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const auto rest = bytes.subspan(taken);
    switch (input_) {
      case Input::kIgnored: return bytes.size();
      case Input::kRequest: {
        const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
        const std::size_t used = take_request(text);
        if (used == 0) return taken;
        taken += used;
        break;
      }
      case Input::kFrames:
        if (must_wait(budget)) return taken;
        taken += take_frames(rest, budget);
        break;
    }
  }
  return taken;
}

bool Connection::must_wait(std::uint32_t budget) const {
  return state_ == State::kOpen && (is_paused_ || budget == 0);
}

std::size_t Connection::take_proxy_header(std::string_view text) {
  const ProxyParse parse = parse_proxy_header(text);
  switch (parse.outcome) {
    case HttpOutcome::kNeedMore: return 0;
    case HttpOutcome::kBad:
      answer(plain_response(400, "Bad PROXY header."), "GET", Farewell::kSilence);
      return text.size();
    case HttpOutcome::kRequest: break;
  }
  may_have_proxy_header_ = false;
  if (parse.source) address_ = *parse.source;
  return parse.consumed;
}

// The bytes used: 0 if the head is not complete.
std::size_t Connection::take_request(std::string_view text) {
  if (may_have_proxy_header_) {
    const std::size_t used = take_proxy_header(text);
    if (may_have_proxy_header_ || used > 0) return used;
  }
  HttpParse parse = parse_request(text, set_->limits.http_head_bytes);
  switch (parse.outcome) {
    case HttpOutcome::kNeedMore: return 0;
    case HttpOutcome::kBad:
      answer(plain_response(parse.status, {}), "GET", Farewell::kSilence);
      return text.size();
    case HttpOutcome::kRequest: break;
  }
  const std::size_t used = parse.request.head_bytes;
  const bool has_body = parse.request.body_bytes > 0 || text.size() > used;
  on_request(parse.request, has_body ? Farewell::kSilence : Farewell::kAtOnce);
  return used;
}

void Connection::on_request(HttpRequest& request, Farewell farewell) {
  const NetLimits& limits = set_->limits;
  address_ = admission_ == Admission::kPending
                 ? real_address(address_, request, limits.trusted_proxies)
                 : address_;
  if (!is_admitted()) {
    ++set_->counters.refused_ip_limit;
    return answer(plain_response(429, "Too many connections."), request.method, farewell);
  }
  const UpgradeCheck check = check_upgrade(request, limits.base_path);
  if (check.is_upgrade && check.status == 101) return open(check.accept, request);
  if (check.is_upgrade) {
    return answer(plain_response(check.status, check.reason), request.method, farewell);
  }
  request.address = address_;
  answer(set_->handler.on_http(request), request.method, farewell);
}

// Counts the connection under its real address, if a proxy had to tell that first.
bool Connection::is_admitted() {
  if (admission_ == Admission::kAdmitted) return true;
  const auto verdict = set_->admission.try_assign(address_, set_->limits.connections_per_ip);
  if (verdict != AdmissionTable::Verdict::kAdmitted) return false;
  admission_ = Admission::kAdmitted;
  return true;
}

std::size_t Connection::take_frames(std::span<std::uint8_t> bytes, std::uint32_t& budget) {
  FrameReceiver receiver(*this, budget);
  Inflater* const inflater = server_window_bits_ == 0 ? nullptr : &set_->inflater;
  const auto result = reader_.consume(bytes, set_->limits.message_bytes, receiver, inflater);
  if (result.outcome != WebSocketReader::Outcome::kFailed) return result.consumed;
  if (state_ == State::kOpen) {
    fail(result.failure);
  } else if (state_ == State::kClosing) {
    input_ = Input::kIgnored;
    begin_closing(Farewell::kSilence, close_deadline_ns_ - set_->now_ns());
  }
  return bytes.size();
}

void Connection::on_peer_close(std::uint16_t code) {
  input_ = Input::kIgnored;
  if (state_ == State::kClosing) {
    farewell_ = Farewell::kAtOnce;
    return end_if_said_all();
  }
  peer_close_code_ = code;
  if (set_->handler.on_peer_close(*this)) return finish_close();
  close_deadline_ns_ = set_->now_ns() + seconds_ns(set_->limits.close_timeout_s);
  set_->timers.set(timer_, next_check_ns());
}

void Connection::finish_close() {
  if (state_ != State::kOpen || peer_close_code_ == 0) return;
  if (!make_room()) return;
  if (peer_close_code_ != kEndedWithoutClose) {
    std::string frame;
    append_close_echo(frame, peer_close_code_);
    send_raw(frame);
  }
  begin_closing(Farewell::kAtOnce, seconds_ns(set_->limits.close_timeout_s));
  end_if_said_all();
}

void Connection::keep(std::span<const std::uint8_t> bytes) {
  if (input_ == Input::kIgnored) return;
  if (kept_ == nullptr) kept_ = std::make_unique<PaddedBuffer>();
  kept_->append(bytes);
  schedule_kept();
}

void Connection::take_kept() {
  const std::size_t taken = take(kept_->unread());
  kept_->drop_front(taken);
  if (!kept_->is_empty()) return schedule_kept();
  kept_.reset();
  if (has_peer_ended_) end_input();
}

void Connection::schedule_kept() {
  const bool is_ready = kept_ != nullptr && input_ == Input::kFrames && !is_paused_;
  if (!is_ready || is_replaying_) return;
  is_replaying_ = true;
  set_->add_replaying(*this);
}

void Connection::replay() {
  if (kept_ == nullptr || input_ != Input::kFrames || is_paused_) return;
  take_kept();
  update_receiving();
}

// Once stopped for want of room, receiving begins again when nothing is kept any more.
void Connection::update_receiving() {
  if (state_ == State::kFree || state_ == State::kDraining || has_peer_ended_) return;
  const bool is_receiving = receive_.is_armed && !is_receive_cancelled_;
  const std::size_t kept_max = is_receiving ? kKeptBytesMax : 0;
  const bool has_room = kept_ == nullptr || input_ != Input::kFrames || kept_->size() <= kept_max;
  const bool is_wanted = !is_paused_ && has_room;
  if (is_wanted && !receive_.is_armed) {
    set_->io.submit_recv(socket_, receive_);
  } else if (!is_wanted) {
    cancel_receive();
  }
}

void Connection::cancel_receive() {
  if (!receive_.is_armed || is_receive_cancelled_) return;
  is_receive_cancelled_ = true;
  set_->io.cancel(receive_);
}

}  // namespace gyre::net
