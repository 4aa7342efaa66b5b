// The life of a connection: states, timers, endings. Input and output have files of their own.
#include "gyre/net/connection.h"

#include <algorithm>
#include <utility>

#include "gyre/base/assert.h"
#include "net/connection_set.h"
#include "net/deflate_offer.h"
#include "net/padded_buffer.h"

namespace gyre::net {

namespace {

// How long a peer must have been silent before we believe that it has sent all it was about to.
constexpr std::uint64_t kSilenceNs = 500'000'000;

}  // namespace

// What 20,000 idle clients cost is mostly this.
static_assert(sizeof(Connection) <= 256);

Connection::Connection()
    : receive_(runtime::bind<&Connection::on_receive>(*this)),
      send_(runtime::bind<&Connection::on_sent>(*this)),
      timer_(runtime::bind_timer<&Connection::on_timer>(*this)) {}

Connection::~Connection() = default;

ConnectionId Connection::id() const { return id_; }

bool Connection::is_open() const { return state_ == State::kOpen; }

const runtime::IpAddress& Connection::real_ip() const { return address_; }

void Connection::start(int socket, const runtime::IpAddress& peer, Admission admission) {
  GYRE_ASSERT(state_ == State::kFree);
  state_ = State::kHandshake;
  input_ = Input::kRequest;
  socket_ = socket;
  address_ = peer;
  admission_ = admission;
  may_have_proxy_header_ = admission == Admission::kPending;
  set_->timers.set(timer_, set_->now_ns() + seconds_ns(set_->limits.handshake_timeout_s));
  update_receiving();
}

void Connection::refuse(std::uint16_t status) {
  answer(plain_response(status, "Too many connections."), "GET", Farewell::kSilence);
}

void Connection::open(std::string_view accept, const HttpRequest& request) {
  GYRE_ASSERT(state_ == State::kHandshake);
  state_ = State::kOpen;
  input_ = Input::kFrames;
  ++set_->open_count;
  last_sent_ns_ = last_received_ns_ = set_->now_ns();
  set_->timers.set(timer_, next_check_ns());
  std::string extensions;
  if (set_->limits.is_deflate_offered) {
    if (const auto agreement = negotiate_deflate(request)) {
      server_window_bits_ = agreement->server_window_bits;
      extensions = agreement->to_header_value();
    }
  }
  send_raw(upgrade_response(accept, extensions));
  set_->handler.on_open(*this);
}

void Connection::close(CloseCode code, std::string_view reason) {
  if (!make_room()) return;
  std::string frame;
  append_close_frame(frame, code, reason);
  send_raw(frame);
  const Farewell farewell = peer_close_code_ == 0 ? Farewell::kPeerClose : Farewell::kAtOnce;
  begin_closing(farewell, seconds_ns(set_->limits.close_timeout_s));
}

void Connection::drop() {
  if (state_ != State::kFree) begin_draining();
}

// Frames can no longer be told apart, so the peer's Close would not be recognised.
void Connection::fail(CloseCode code) {
  ++set_->counters.protocol_errors;
  input_ = Input::kIgnored;
  if (!make_room()) return;
  std::string frame;
  append_close_frame(frame, code, {});
  send_raw(frame);
  begin_closing(Farewell::kSilence, seconds_ns(set_->limits.close_timeout_s));
}

void Connection::begin_closing(Farewell farewell, std::uint64_t patience_ns) {
  leave_open();
  state_ = State::kClosing;
  farewell_ = farewell;
  is_paused_ = false;
  const std::uint64_t now = set_->now_ns();
  close_deadline_ns_ = now + patience_ns;
  const std::uint64_t first_check =
      farewell == Farewell::kSilence ? now + kSilenceNs : close_deadline_ns_;
  set_->timers.set(timer_, std::min(first_check, close_deadline_ns_));
  schedule_kept();
  update_receiving();
}

void Connection::end_if_said_all() {
  const bool is_over = farewell_ == Farewell::kAtOnce || has_peer_ended_;
  if (state_ == State::kClosing && queue_ == nullptr && is_over) begin_draining();
}

// close(2) alone sends no FIN while a receive is armed, because the ring holds a reference of its
// own; shutdown(2) ends the receive and sends it.
void Connection::begin_draining() {
  if (state_ == State::kDraining) return;
  leave_open();
  state_ = State::kDraining;
  input_ = Input::kIgnored;
  set_->timers.cancel(timer_);
  set_->io.shutdown(socket_);
  release_queue();
  finish_if_drained();
}

void Connection::finish_if_drained() {
  if (receive_.is_armed || send_.is_armed || is_finished_) return;
  is_finished_ = true;
  set_->add_finished(*this);
}

void Connection::leave_open() {
  if (state_ != State::kOpen) return;
  --set_->open_count;
  set_->add_closed(*this);
}

void Connection::reset() {
  GYRE_ASSERT(!receive_.is_armed);
  GYRE_ASSERT(!send_.is_armed);
  user = nullptr;
  reader_ = WebSocketReader();
  kept_.reset();
  release_queue();
  socket_ = -1;
  state_ = State::kFree;
  admission_ = Admission::kRefused;
  peer_close_code_ = 0;
  server_window_bits_ = 0;
  may_have_proxy_header_ = is_paused_ = is_receive_cancelled_ = has_peer_ended_ = false;
  is_above_resume_ = is_replaying_ = is_finished_ = false;
  last_sent_ns_ = last_received_ns_ = ping_sent_ns_ = send_started_ns_ = close_deadline_ns_ = 0;
}

void Connection::on_timer() {
  const std::uint64_t now = set_->read_now_ns();
  switch (state_) {
    case State::kHandshake: on_handshake_timer(); break;
    case State::kOpen: on_open_timer(now); break;
    case State::kClosing: on_closing_timer(now); break;
    case State::kFree:
    case State::kDraining: break;
  }
}

void Connection::on_handshake_timer() {
  ++set_->counters.handshake_timeouts;
  if (last_received_ns_ == 0) return begin_draining();
  answer(plain_response(408, {}), "GET", Farewell::kSilence);
}

void Connection::on_open_timer(std::uint64_t now_ns) {
  const NetLimits& limits = set_->limits;
  if (send_.is_armed && now_ns >= send_started_ns_ + seconds_ns(limits.send_timeout_s)) {
    ++set_->counters.slow_client_drops;
    return begin_draining();
  }
  // While we do not read, an answer may be waiting in the kernel.
  if (is_paused_ || kept_ != nullptr) last_received_ns_ = now_ns;
  if (peer_close_code_ != 0 && now_ns >= close_deadline_ns_) return finish_close();
  const bool is_waiting = ping_sent_ns_ > last_received_ns_;
  if (is_waiting && now_ns >= ping_sent_ns_ + seconds_ns(limits.pong_timeout_s)) {
    ++set_->counters.pong_timeouts;
    return begin_draining();
  }
  // Silence from us is what proxies cut; silence from the peer may be its death, however much we
  // send it.
  const std::uint64_t ping_ns = seconds_ns(limits.ping_s);
  if (now_ns >= last_sent_ns_ + ping_ns || (!is_waiting && now_ns >= last_received_ns_ + ping_ns)) {
    if (!is_waiting) ping_sent_ns_ = now_ns;
    last_sent_ns_ = now_ns;
    std::string frame;
    append_ping_frame(frame);
    send_raw(frame);
  }
  set_->timers.set(timer_, next_check_ns());
}

std::uint64_t Connection::next_check_ns() const {
  const NetLimits& limits = set_->limits;
  const bool is_waiting = ping_sent_ns_ > last_received_ns_;
  std::uint64_t next = last_sent_ns_ + seconds_ns(limits.ping_s);
  next = std::min(next, is_waiting ? ping_sent_ns_ + seconds_ns(limits.pong_timeout_s)
                                   : last_received_ns_ + seconds_ns(limits.ping_s));
  if (send_.is_armed) {
    next = std::min(next, send_started_ns_ + seconds_ns(limits.send_timeout_s));
  }
  if (peer_close_code_ != 0) next = std::min(next, close_deadline_ns_);
  return next;
}

void Connection::on_closing_timer(std::uint64_t now_ns) {
  const bool is_silent =
      queue_ == nullptr && now_ns >= std::max(last_received_ns_, last_sent_ns_) + kSilenceNs;
  if (now_ns >= close_deadline_ns_ || (farewell_ == Farewell::kSilence && is_silent)) {
    return begin_draining();
  }
  const std::uint64_t next =
      farewell_ == Farewell::kSilence ? now_ns + kSilenceNs : close_deadline_ns_;
  set_->timers.set(timer_, std::min(next, close_deadline_ns_));
}

}  // namespace gyre::net
