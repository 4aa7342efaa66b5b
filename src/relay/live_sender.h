// LiveSender: live events on their way from a match to the connections of one shard.
//
// A send costs the kernel some 4 us whatever it carries, ten times what matching and framing an
// event for one subscriber cost. So events are not queued to a connection as they match. They are
// noted, and written when the stream they belong to is *due*:
//
//   - in the same turn, if the stream has been sent nothing for limits.gather_us: a quiet stream
//     never waits;
//   - else when that time is over, or earlier once kGatheredBytesMax are waiting;
//   - a stream that brings kBusyEvents within that time waits up to kBusyFactor times as long:
//     above some thousand events per second nobody sees the delay, and sends are most of what they
//     cost.
//
// What waits is a number for each event and stream; the event itself is held once. Streams are
// written a few in each turn, so that the buffers they are written to are sent and back, still
// warm, for the next.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "gyre/base/clock.h"
#include "gyre/base/shared_bytes.h"
#include "gyre/net/connection.h"

namespace gyre::relay {

// The live events of one subscription.
struct LiveStream {
  net::Connection* connection = nullptr;
  std::string_view prefix;  // ["EVENT","<id>",

  // The sender's.
  enum class State : std::uint8_t { kIdle, kGathering, kDue };
  State state = State::kIdle;
  std::uint32_t waiting_bytes = 0;
  std::vector<std::uint32_t> waiting;  // Numbers of events, in order.
  std::uint64_t place = 0;             // In the list that `state` names.
  std::uint64_t last_sent_ns = 0;
};

class LiveSender {
 public:
  // Enough for the cost of a send to be small beside that of its bytes.
  static constexpr std::uint32_t kGatheredBytesMax = 48 * 1024;
  static constexpr std::size_t kBusyEvents = 8;
  static constexpr std::uint64_t kBusyFactor = 4;
  // As many buffers of kGatheredBytesMax fit a core's L2 cache.
  static constexpr std::size_t kStreamsPerTurn = 16;
  // Events held back, above which all that is due is written in this turn.
  static constexpr std::size_t kEventsMax = 1024;
  static constexpr std::size_t kEventBytesMax = 4 * 1024 * 1024;

  // `gather_us` outlives the sender and may change between turns.
  LiveSender(const Clock& clock, const std::uint32_t& gather_us)
      : clock_(clock), gather_us_(gather_us) {}

  // The event that calls of add() are about until the next begin_event(). `json` lies in `event`.
  void begin_event(const SharedBytes& event, std::string_view json);
  // Sends nothing yet.
  void add(LiveStream& stream);

  // Writes what waits for this stream, due or not.
  void send(LiveStream& stream);
  // Forgets it. To be called before a stream with something waiting ends.
  void forget(LiveStream& stream);
  void send_all();

  // Step 6 of the turn: writes what is due. True if more is.
  bool work();
  // When work() has something to do again.
  [[nodiscard]] std::uint64_t next_due_ns() const { return next_due_ns_; }
  [[nodiscard]] std::size_t held_event_count() const { return events_.size(); }

 private:
  struct Event {
    SharedBytes bytes;
    net::SharedBody body;       // Points to `bytes`; the elements of a deque stay where they are.
    std::uint32_t streams = 0;  // That it waits for.
  };

  [[nodiscard]] std::uint64_t gather_ns() const { return std::uint64_t{gather_us_} * 1'000; }
  [[nodiscard]] Event& event(std::uint32_t number) { return events_[number - first_number_]; }
  [[nodiscard]] std::uint64_t due_ns(const LiveStream& stream) const;
  void make_due(LiveStream& stream);
  void gather(LiveStream& stream);
  void end_gathering(std::uint64_t now_ns);
  void take_from_list(LiveStream& stream);
  void drop_served();

  const Clock& clock_;
  const std::uint32_t& gather_us_;
  std::uint64_t now_ns_ = 0;

  std::deque<Event> events_;
  std::uint32_t first_number_ = 0;  // Of events_.front(); numbers wrap around.
  std::size_t event_bytes_ = 0;

  std::vector<LiveStream*> gathering_;  // Null where one has left.
  std::uint64_t next_due_ns_ = UINT64_MAX;
  std::deque<LiveStream*> due_;  // The same.
  std::uint64_t first_due_ = 0;  // The place of due_.front().
};

}  // namespace gyre::relay
