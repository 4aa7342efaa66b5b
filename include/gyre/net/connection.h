// Connection: one client's socket, from accept to close; and the pool that holds a shard's
// connections.
//
//     kHandshake --upgrade--> kOpen --close()/peer's Close--> kClosing --> kDraining --> slot free
//         \--any other request: answer, then kClosing--/
//
// Receive: bytes are framed where they arrived (websocket.h); what remains of an unfinished
// message, or of input that came while reading was paused, is kept aside, and only then costs
// memory.
//
// Send: frames are gathered in the connection's queue during the turn; flush() starts one send for
// each dirty connection, of everything queued. Small parts are copied; a body of
// kSharedBodyBytesMin or more is referenced (SharedBytes) until the kernel has it. One send is in
// flight at most. A queue above limits.send_queue_bytes, or a send older than
// limits.send_timeout_s, ends the connection without a word (there is no room for one), counted,
// and nobody else notices.
//
// Compression (permessage-deflate, RFC 7692) is up to the client and limits.is_deflate_offered.
// What is sent shared is compressed once, whoever it goes to (SharedBody); what is sent alone is
// small and goes as it is.
//
// An idle open connection holds no buffer: under 256 bytes here, and with the relay's session and
// the allocator's overhead well under 2 KiB.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "gyre/base/clock.h"
#include "gyre/base/ids.h"
#include "gyre/base/shared_bytes.h"
#include "gyre/net/admission_table.h"
#include "gyre/net/http.h"
#include "gyre/net/limits.h"
#include "gyre/net/websocket.h"
#include "gyre/runtime/io.h"
#include "gyre/runtime/timer_wheel.h"

namespace gyre::net {

inline constexpr std::size_t kSharedBodyBytesMin = 2048;

class Connection;
class ConnectionSet;
class FrameReceiver;
class PaddedBuffer;
class SendQueue;

// A body that messages have in common. It lies within `owner`, of which whoever references the body
// keeps a handle. Compressed when the first connection wants it so, for all that follow.
struct SharedBody {
  std::string_view text;
  const SharedBytes* owner = nullptr;

  // The connections'.
  SharedBytes deflated;  // Null if there is none (yet).
  bool is_deflate_tried = false;
};

// What the relay does with connections. One handler for each shard. Calls never nest: a handler may
// call any method of any connection, and none of them calls back into the handler.
class ConnectionHandler {
 public:
  virtual ~ConnectionHandler() = default;
  // A request that is no upgrade: NIP-11, pages, OPTIONS, whatever the method. A body is not read.
  // `request.address` is the client's real one.
  [[nodiscard]] virtual HttpResponse on_http(const HttpRequest& request) = 0;
  // The upgrade is done (the 101 is queued). May send at once.
  virtual void on_open(Connection& connection) = 0;
  // One text message: valid UTF-8, at least 64 readable bytes behind it; lives until the return.
  virtual void on_message(Connection& connection, std::string_view text) = 0;
  virtual void on_binary_message(Connection& connection) = 0;
  // The peer's Close has come, or its end without one, behind all its messages. True: nothing is
  // under way, answer it. False: answers are due; the connection stays open for sending until
  // finish_close(), at most for limits.close_timeout_s.
  [[nodiscard]] virtual bool on_peer_close(Connection&) { return true; }
  // The queue has drained below kResumeBytes after having been above it.
  virtual void on_drained(Connection& connection) = 0;
  // Exactly once for each on_open, when the connection begins to close for whatever reason, but
  // never from within another call: in the same turn's flush() at the latest. Between the two, and
  // after it, nothing is delivered, and sending does nothing.
  virtual void on_closed(Connection& connection) = 0;
};

class Connection {
 public:
  static constexpr std::size_t kResumeBytes = 64 * 1024;
  // Messages that one connection may bring in one go, from one receive or in one work(); the rest
  // is kept for the next. More small ones fit a receive buffer than others should wait for.
  static constexpr std::uint32_t kMessagesPerPass = 64;
  // Input kept for later, above which the socket is no longer read: what a paused connection holds
  // is this and what the kernel had under way.
  static constexpr std::size_t kKeptBytesMax = 64 * 1024;

  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] ConnectionId id() const;
  [[nodiscard]] bool is_open() const;
  [[nodiscard]] const runtime::IpAddress& real_ip() const;
  // The relay's own pointer, null until set; the pool never touches it.
  void* user = nullptr;

  // Queues one text message made of these parts, copied. Nothing if the connection is not open.
  void send_text(std::initializer_list<std::string_view> parts);
  // The same with `body` in the middle, by reference when it is large, compressed where agreed.
  void send_text_shared(std::string_view prefix, SharedBody& body, std::string_view suffix);
  // Says how much the messages that follow at once will bring, so that they come to lie in one
  // piece. Requires: some do follow.
  void expect_bytes(std::uint64_t bytes);
  // Queued and in flight.
  [[nodiscard]] std::uint64_t queued_bytes() const;

  // Back-pressure: no more on_message until resume_reading(); the kernel's buffer fills and the
  // peer waits. What has been received already is kept. Both may be called at any time, also from
  // on_message.
  void pause_reading();
  void resume_reading();
  [[nodiscard]] bool is_reading_paused() const;

  // Sends a Close frame behind what is queued, waits for the peer's, and ends the connection. What
  // the peer sends meanwhile is not delivered.
  void close(CloseCode code, std::string_view reason);
  // Answers the peer's Close behind what is queued. Nothing if none waits for its answer.
  void finish_close();
  void drop();  // Without a word: shutdown, forget the queue.

 private:
  friend class ConnectionSet;
  friend class FrameReceiver;

  enum class State : std::uint8_t { kFree, kHandshake, kOpen, kClosing, kDraining };
  // What received bytes are taken for.
  enum class Input : std::uint8_t { kRequest, kFrames, kIgnored };
  // When a closing connection may be shut down, once everything has been sent.
  enum class Farewell : std::uint8_t {
    kAtOnce,     // The peer expects nothing else.
    kPeerClose,  // When the peer's Close has come.
    kSilence,    // When the peer has been silent for a while: it may still be sending, and a reset
                 // would destroy what we said last.
  };
  // In the place of a close code, for a peer that has ended without a Close frame. Never sent.
  static constexpr std::uint16_t kEndedWithoutClose = 1006;
  enum class Admission : std::uint8_t { kRefused, kPending, kAdmitted };

  Connection();

  // connection.cc: life.
  void start(int socket, const runtime::IpAddress& peer, Admission admission);
  void refuse(std::uint16_t status);
  void open(std::string_view accept, const HttpRequest& request);
  void fail(CloseCode code);
  void begin_closing(Farewell farewell, std::uint64_t patience_ns);
  void end_if_said_all();
  void begin_draining();
  void finish_if_drained();
  void leave_open();
  void reset();
  void on_timer();
  void on_handshake_timer();
  void on_open_timer(std::uint64_t now_ns);
  void on_closing_timer(std::uint64_t now_ns);
  [[nodiscard]] std::uint64_t next_check_ns() const;

  // connection_input.cc
  void on_receive(const runtime::CompletionResult& result);
  void on_receive_end(std::int32_t result);
  void on_peer_end();
  void end_input();
  void cancel_receive();
  [[nodiscard]] std::size_t take(std::span<std::uint8_t> bytes);
  [[nodiscard]] std::size_t take_request(std::string_view text);
  [[nodiscard]] std::size_t take_proxy_header(std::string_view text);
  void on_request(HttpRequest& request, Farewell farewell);
  [[nodiscard]] bool is_admitted();
  [[nodiscard]] std::size_t take_frames(std::span<std::uint8_t> bytes, std::uint32_t& budget);
  void on_peer_close(std::uint16_t code);
  void take_received(std::span<std::uint8_t> bytes);
  void keep(std::span<const std::uint8_t> bytes);
  void take_kept();
  void schedule_kept();
  void replay();
  [[nodiscard]] bool must_wait(std::uint32_t budget) const;
  void update_receiving();

  // connection_output.cc
  [[nodiscard]] bool make_room();
  SendQueue& queue();
  void send_raw(std::string_view bytes);
  struct Frame;
  void queue_frame(const Frame& frame);
  [[nodiscard]] bool may_deflate(std::string_view prefix, const SharedBody& body,
                                 std::string_view suffix) const;
  void queue_deflated(std::string_view prefix, const SharedBytes& body, std::string_view suffix);
  void answer(const HttpResponse& response, std::string_view method, Farewell farewell);
  void on_queued();
  void flush(std::uint64_t now_ns);
  void on_sent(const runtime::CompletionResult& result);
  void release_queue();

  ConnectionSet* set_ = nullptr;
  runtime::Completion receive_;
  runtime::Completion send_;
  runtime::Timer timer_;
  WebSocketReader reader_;
  std::unique_ptr<PaddedBuffer> kept_;  // Input for later; null if there is none.
  std::unique_ptr<SendQueue> queue_;    // Null if nothing is queued.
  ConnectionId id_;
  runtime::IpAddress address_;  // The peer's, then the real one.
  int socket_ = -1;

  State state_ = State::kFree;
  Input input_ = Input::kIgnored;
  Farewell farewell_ = Farewell::kAtOnce;
  Admission admission_ = Admission::kRefused;
  bool may_have_proxy_header_ = false;
  std::uint8_t server_window_bits_ = 0;  // Of permessage-deflate; 0: not agreed on.
  // Of the peer's Close that waits for its answer while the connection is open; 0: none.
  std::uint16_t peer_close_code_ = 0;
  bool is_paused_ = false;
  bool is_receive_cancelled_ = false;  // The end of the armed receive has been asked for.
  bool has_peer_ended_ = false;
  bool is_above_resume_ = false;
  // In the set's lists of these names.
  bool is_dirty_ = false;
  bool is_replaying_ = false;
  bool is_finished_ = false;

  // Monotonic. What the timer is computed from, so that traffic need not move it.
  std::uint64_t last_sent_ns_ = 0;
  std::uint64_t last_received_ns_ = 0;
  std::uint64_t ping_sent_ns_ = 0;  // The first unanswered one, if not before last_received_ns_.
  std::uint64_t send_started_ns_ = 0;
  std::uint64_t close_deadline_ns_ = 0;
};

// Numbers of one shard, ever rising except open_count.
struct ConnectionCounters {
  std::uint64_t accepted = 0;
  std::uint64_t refused_total_limit = 0;
  std::uint64_t refused_ip_limit = 0;
  std::uint64_t handshake_timeouts = 0;
  std::uint64_t pong_timeouts = 0;
  std::uint64_t slow_client_drops = 0;
  std::uint64_t protocol_errors = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages_received = 0;
};

class ConnectionPool {
 public:
  // All arguments outlive the pool. `limits` may change between turns (reload).
  ConnectionPool(runtime::Io& io, runtime::TimerWheel& timers, const Clock& clock,
                 const NetLimits& limits, AdmissionTable& admission, ConnectionHandler& handler);
  // Connections that are left (a simulated crash) must never hear of their operations again.
  ~ConnectionPool();

  void start_listening(int listener);
  // Stops accepting; the listener is closed once its accept has ended.
  void stop_listening();

  // Null if the connection has gone (or its slot serves another by now).
  [[nodiscard]] Connection* find(ConnectionId id);

  // Handles input that waited while reading was paused, or that exceeded kMessagesPerPass; bounded.
  // True if more waits.
  bool work();
  // Step 7 of the turn: starts sends, says on_closed, frees what has ended.
  void flush();

  // Closes every connection (for shutdown); done when is_empty().
  void close_all(CloseCode code, std::string_view reason);
  void drop_all();
  [[nodiscard]] bool is_empty() const;  // No connection, no armed operation.

  [[nodiscard]] std::uint32_t open_count() const;
  [[nodiscard]] const ConnectionCounters& counters() const;

  // For each open connection, in no particular order. `function(Connection&)`
  template <typename Function>
  void for_each_open(Function&& function) {
    visit_open(
        [](void* context, Connection& connection) {
          (*static_cast<std::remove_reference_t<Function>*>(context))(connection);
        },
        &function);
  }

 private:
  void visit_open(void (*function)(void* context, Connection& connection), void* context);

  std::unique_ptr<ConnectionSet> set_;
};

}  // namespace gyre::net
