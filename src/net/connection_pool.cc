#include "gyre/net/connection.h"
#include "net/connection_set.h"

namespace gyre::net {

ConnectionPool::ConnectionPool(runtime::Io& io, runtime::TimerWheel& timers, const Clock& clock,
                               const NetLimits& limits, AdmissionTable& admission,
                               ConnectionHandler& handler)
    : set_(std::make_unique<ConnectionSet>(io, timers, clock, limits, admission, handler)) {}

ConnectionPool::~ConnectionPool() = default;

void ConnectionPool::start_listening(int listener) { set_->start_listening(listener); }

void ConnectionPool::stop_listening() { set_->stop_listening(); }

Connection* ConnectionPool::find(ConnectionId id) { return set_->find(id); }

bool ConnectionPool::work() { return set_->work(); }

void ConnectionPool::flush() { set_->flush(); }

void ConnectionPool::close_all(CloseCode code, std::string_view reason) {
  set_->close_all(code, reason);
}

void ConnectionPool::drop_all() { set_->drop_all(); }

bool ConnectionPool::is_empty() const { return set_->is_empty(); }

std::uint32_t ConnectionPool::open_count() const { return set_->open_count; }

const ConnectionCounters& ConnectionPool::counters() const { return set_->counters; }

void ConnectionPool::visit_open(void (*function)(void* context, Connection& connection),
                                void* context) {
  set_->visit_open(function, context);
}

}  // namespace gyre::net
