#include "net/connection_set.h"

#include <algorithm>
#include <utility>

#include "gyre/base/assert.h"

namespace gyre::net {

ConnectionSet::ConnectionSet(runtime::Io& io_given, runtime::TimerWheel& timers_given,
                             const Clock& clock, const NetLimits& limits_given,
                             AdmissionTable& admission_given, ConnectionHandler& handler_given)
    : io(io_given),
      timers(timers_given),
      limits(limits_given),
      admission(admission_given),
      handler(handler_given),
      clock_(clock) {}

ConnectionSet::~ConnectionSet() {
  for (std::uint32_t index = 0; index < blocks_.size() * kSlotsInBlock; ++index) {
    timers.cancel(slot(index).timer_);
  }
}

void ConnectionSet::start_listening(int listener) {
  acceptors_.push_back(std::make_unique<Acceptor>(*this, listener));
  acceptors_.back()->start();
}

void ConnectionSet::stop_listening() {
  for (const auto& acceptor : acceptors_) acceptor->stop();
}

void ConnectionSet::on_accepted(int socket) {
  ++counters.accepted;
  const runtime::IpAddress peer = io.peer_address(socket).ip;
  const bool is_proxy = is_trusted(peer);
  const auto verdict =
      is_proxy ? admission.try_admit_pending(limits.connections)
               : admission.try_admit(peer, limits.connections, limits.connections_per_ip);
  switch (verdict) {
    case AdmissionTable::Verdict::kTooMany:
      ++counters.refused_total_limit;
      refuse(socket, 503);
      break;
    case AdmissionTable::Verdict::kTooManyFromAddress:
      ++counters.refused_ip_limit;
      refuse(socket, 429);
      break;
    case AdmissionTable::Verdict::kAdmitted:
      take_slot().start(
          socket, peer,
          is_proxy ? Connection::Admission::kPending : Connection::Admission::kAdmitted);
      break;
  }
}

void ConnectionSet::refuse(int socket, std::uint16_t status) {
  if (refusal_count_ == kRefusalsMax) {
    io.close(socket);
    return;
  }
  ++refusal_count_;
  Connection& connection = take_slot();
  connection.start(socket, {}, Connection::Admission::kRefused);
  connection.refuse(status);
}

bool ConnectionSet::is_trusted(const runtime::IpAddress& address) const {
  return std::any_of(limits.trusted_proxies.begin(), limits.trusted_proxies.end(),
                     [&](const runtime::IpPrefix& prefix) { return prefix.contains(address); });
}

Connection& ConnectionSet::slot(std::uint32_t index) const {
  return blocks_[index / kSlotsInBlock][index % kSlotsInBlock];
}

Connection& ConnectionSet::take_slot() {
  if (free_slots_.empty()) {
    const auto begin = static_cast<std::uint32_t>(blocks_.size() * kSlotsInBlock);
    blocks_.emplace_back(new Connection[kSlotsInBlock]);
    // The lowest is taken first, so that few blocks are touched while there are few connections.
    for (std::uint32_t index = begin + kSlotsInBlock; index > begin; --index) {
      slot(index - 1).set_ = this;
      slot(index - 1).id_ = {index - 1, 1};
      free_slots_.push_back(index - 1);
    }
  }
  ++used_count_;
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  return slot(index);
}

Connection* ConnectionSet::find(ConnectionId id) {
  if (id.slot >= blocks_.size() * kSlotsInBlock) return nullptr;
  Connection& connection = slot(id.slot);
  const bool is_alive = connection.state_ != Connection::State::kFree;
  return is_alive && connection.id_ == id ? &connection : nullptr;
}

bool ConnectionSet::work() {
  // Those that still have input afterwards enter replaying_ again, behind the others.
  const auto end = replaying_.begin() +
                   static_cast<std::ptrdiff_t>(std::min(replaying_.size(), kReplaysPerTurn));
  replaying_now_.assign(replaying_.begin(), end);
  replaying_.erase(replaying_.begin(), end);
  for (Connection* const connection : replaying_now_) {
    connection->is_replaying_ = false;
    connection->replay();
  }
  return !replaying_.empty();
}

void ConnectionSet::flush() {
  tell_closed();
  const std::uint64_t now = now_ns();
  for (Connection* const connection : dirty_) {
    connection->is_dirty_ = false;
    connection->flush(now);
  }
  dirty_.clear();
  for (Connection* const connection : finished_) finish(*connection);
  finished_.clear();
  is_now_read_ = false;
}

// A handler may close further connections.
void ConnectionSet::tell_closed() {
  for (std::size_t index = 0; index < closed_.size(); ++index) handler.on_closed(*closed_[index]);
  closed_.clear();
}

void ConnectionSet::finish(Connection& connection) {
  if (connection.is_replaying_) std::erase(replaying_, &connection);
  io.close(connection.socket_);
  release_admission(connection);
  connection.reset();
  ++connection.id_.generation;
  free_slots_.push_back(connection.id_.slot);
  --used_count_;
}

void ConnectionSet::release_admission(const Connection& connection) {
  switch (connection.admission_) {
    case Connection::Admission::kRefused: --refusal_count_; break;
    case Connection::Admission::kPending: admission.release_pending(); break;
    case Connection::Admission::kAdmitted: admission.release(connection.address_); break;
  }
}

void ConnectionSet::visit_open(void (*function)(void* context, Connection& connection),
                               void* context) {
  for (std::uint32_t index = 0; index < blocks_.size() * kSlotsInBlock; ++index) {
    if (slot(index).is_open()) function(context, slot(index));
  }
}

void ConnectionSet::close_all(CloseCode code, std::string_view reason) {
  for (std::uint32_t index = 0; index < blocks_.size() * kSlotsInBlock; ++index) {
    Connection& connection = slot(index);
    if (connection.is_open()) {
      connection.close(code, reason);
    } else if (connection.state_ == Connection::State::kHandshake) {
      connection.drop();
    }
  }
}

void ConnectionSet::drop_all() {
  for (std::uint32_t index = 0; index < blocks_.size() * kSlotsInBlock; ++index) {
    slot(index).drop();
  }
}

bool ConnectionSet::is_empty() const {
  return used_count_ == 0 &&
         std::all_of(acceptors_.begin(), acceptors_.end(),
                     [](const auto& acceptor) { return acceptor->has_ended(); });
}

std::uint64_t ConnectionSet::now_ns() { return is_now_read_ ? now_ns_ : read_now_ns(); }

std::uint64_t ConnectionSet::read_now_ns() {
  now_ns_ = clock_.monotonic_ns();
  is_now_read_ = true;
  return now_ns_;
}

}  // namespace gyre::net
