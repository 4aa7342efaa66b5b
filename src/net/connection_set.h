// ConnectionSet: the inside of ConnectionPool. The slots, what connections share, and the lists of
// those that something must still be done for.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gyre/net/connection.h"
#include "net/acceptor.h"
#include "net/deflater.h"
#include "net/inflater.h"
#include "net/send_queue.h"

namespace gyre::net {

// A limit of 0 s would set a timer for now, for ever.
[[nodiscard]] constexpr std::uint64_t seconds_ns(std::uint32_t seconds) {
  return (seconds == 0 ? 1 : std::uint64_t{seconds}) * 1'000'000'000;
}

class ConnectionSet {
 public:
  // Clients over a limit that are being told so at any time. More are closed without a word, so
  // that a flood of them costs next to nothing.
  static constexpr std::uint32_t kRefusalsMax = 64;
  // Connections whose kept input one work() handles; times Connection::kMessagesPerPass messages.
  static constexpr std::size_t kReplaysPerTurn = 16;

  ConnectionSet(runtime::Io& io_given, runtime::TimerWheel& timers_given, const Clock& clock,
                const NetLimits& limits_given, AdmissionTable& admission_given,
                ConnectionHandler& handler_given);
  ~ConnectionSet();
  ConnectionSet(const ConnectionSet&) = delete;
  ConnectionSet& operator=(const ConnectionSet&) = delete;

  void start_listening(int listener);
  void stop_listening();
  void on_accepted(int socket);

  [[nodiscard]] Connection* find(ConnectionId id);
  bool work();
  void flush();
  void visit_open(void (*function)(void* context, Connection& connection), void* context);
  void close_all(CloseCode code, std::string_view reason);
  void drop_all();
  [[nodiscard]] bool is_empty() const;

  // Read once a turn, at first use: flush() ends the turn.
  [[nodiscard]] std::uint64_t now_ns();
  // Read anew, for timers: what they compare with must not be older than what fired them.
  std::uint64_t read_now_ns();

  void add_dirty(Connection& connection) { dirty_.push_back(&connection); }
  void add_replaying(Connection& connection) { replaying_.push_back(&connection); }
  void add_closed(Connection& connection) { closed_.push_back(&connection); }
  void add_finished(Connection& connection) { finished_.push_back(&connection); }

  // For connections.
  runtime::Io& io;
  runtime::TimerWheel& timers;
  const NetLimits& limits;
  AdmissionTable& admission;
  ConnectionHandler& handler;
  ConnectionCounters counters;
  SendBuffers buffers;
  Deflater deflater;
  Inflater inflater;
  std::uint32_t open_count = 0;

 private:
  static constexpr std::size_t kSlotsInBlock = 256;

  [[nodiscard]] Connection& slot(std::uint32_t index) const;
  [[nodiscard]] Connection& take_slot();
  [[nodiscard]] bool is_trusted(const runtime::IpAddress& address) const;
  void refuse(int socket, std::uint16_t status);
  void tell_closed();
  void finish(Connection& connection);
  void release_admission(const Connection& connection);

  const Clock& clock_;
  std::uint64_t now_ns_ = 0;
  bool is_now_read_ = false;

  // Blocks never move: the kernel and the timer wheel point into them.
  std::vector<std::unique_ptr<Connection[]>> blocks_;
  std::vector<std::uint32_t> free_slots_;
  std::uint32_t used_count_ = 0;
  std::uint32_t refusal_count_ = 0;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;

  std::vector<Connection*> dirty_;          // Have something to send.
  std::vector<Connection*> replaying_;      // Have kept input that may be handled.
  std::vector<Connection*> replaying_now_;  // Those of this work().
  std::vector<Connection*> closed_;         // on_closed is due.
  std::vector<Connection*> finished_;       // Nothing armed any more: the slot can be freed.
};

}  // namespace gyre::net
