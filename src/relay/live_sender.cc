#include "relay/live_sender.h"

#include <algorithm>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/nostr/relay_message.h"

namespace gyre::relay {

namespace {

// What surrounds an event's JSON, the prefix apart.
constexpr std::size_t kFrameBytesMax = net::kFrameHeaderBytesMax + nostr::kEventSuffix.size();

}  // namespace

using State = LiveStream::State;

void LiveSender::begin_event(const SharedBytes& event, std::string_view json) {
  if (!events_.empty() && events_.back().streams == 0) {
    event_bytes_ -= events_.back().bytes.size();
    events_.pop_back();
  }
  now_ns_ = clock_.monotonic_ns();
  Event& begun = events_.emplace_back();
  begun.bytes = event;
  begun.body = {.text = json, .owner = &begun.bytes};
  event_bytes_ += event.size();
}

void LiveSender::add(LiveStream& stream) {
  Event& event = events_.back();
  ++event.streams;
  const auto number = first_number_ + static_cast<std::uint32_t>(events_.size() - 1);
  stream.waiting.push_back(number);
  stream.waiting_bytes += static_cast<std::uint32_t>(event.body.text.size());
  switch (stream.state) {
    case State::kDue: return;
    case State::kIdle:
      if (now_ns_ >= stream.last_sent_ns + gather_ns()) return make_due(stream);
      gather(stream);
      break;
    case State::kGathering: break;
  }
  if (stream.waiting_bytes < kGatheredBytesMax) return;
  take_from_list(stream);
  make_due(stream);
}

// When a stream that gathers is to be looked at. Rounded up to a quarter of the time, so that the
// list is gone through four times in it, not once for each stream.
std::uint64_t LiveSender::due_ns(const LiveStream& stream) const {
  const std::uint64_t step_ns = std::max<std::uint64_t>(gather_ns() / 4, 1);
  const bool is_busy = stream.waiting.size() >= kBusyEvents;
  const std::uint64_t due_ns = stream.last_sent_ns + gather_ns() * (is_busy ? kBusyFactor : 1);
  return (due_ns + step_ns - 1) / step_ns * step_ns;
}

void LiveSender::make_due(LiveStream& stream) {
  stream.state = State::kDue;
  stream.place = first_due_ + due_.size();
  due_.push_back(&stream);
}

void LiveSender::gather(LiveStream& stream) {
  stream.state = State::kGathering;
  stream.place = gathering_.size();
  gathering_.push_back(&stream);
  next_due_ns_ = std::min(next_due_ns_, due_ns(stream));
}

void LiveSender::end_gathering(std::uint64_t now_ns) {
  next_due_ns_ = UINT64_MAX;
  for (LiveStream* const stream : std::exchange(gathering_, {})) {
    if (stream == nullptr) continue;
    if (now_ns >= due_ns(*stream)) {
      make_due(*stream);
    } else {
      gather(*stream);
    }
  }
}

void LiveSender::take_from_list(LiveStream& stream) {
  switch (stream.state) {
    case State::kIdle: return;
    case State::kGathering: gathering_[stream.place] = nullptr; break;
    case State::kDue: due_[stream.place - first_due_] = nullptr; break;
  }
  stream.state = State::kIdle;
}

void LiveSender::send(LiveStream& stream) {
  if (stream.waiting.empty()) return;
  const std::size_t frame_bytes = kFrameBytesMax + stream.prefix.size();
  stream.connection->expect_bytes(stream.waiting_bytes + stream.waiting.size() * frame_bytes);
  for (const std::uint32_t number : stream.waiting) {
    stream.connection->send_text_shared(stream.prefix, event(number).body, nostr::kEventSuffix);
  }
  stream.last_sent_ns = now_ns_;
  forget(stream);
}

void LiveSender::forget(LiveStream& stream) {
  for (const std::uint32_t number : stream.waiting) {
    GYRE_ASSERT_CMP(event(number).streams, >, 0u);
    --event(number).streams;
  }
  stream.waiting.clear();
  stream.waiting_bytes = 0;
  take_from_list(stream);
}

void LiveSender::drop_served() {
  while (!events_.empty() && events_.front().streams == 0) {
    event_bytes_ -= events_.front().bytes.size();
    events_.pop_front();
    ++first_number_;
  }
}

bool LiveSender::work() {
  // Streams that have left may still be waited for.
  if (events_.empty() && gathering_.empty()) return false;
  now_ns_ = clock_.monotonic_ns();
  if (now_ns_ >= next_due_ns_) end_gathering(now_ns_);
  const bool is_too_much = events_.size() > kEventsMax || event_bytes_ > kEventBytesMax;
  std::size_t left = is_too_much ? SIZE_MAX : kStreamsPerTurn;
  while (!due_.empty() && left > 0) {
    LiveStream* const stream = due_.front();
    if (stream != nullptr) {
      send(*stream);
      --left;
    }
    due_.pop_front();
    ++first_due_;
  }
  drop_served();
  return !due_.empty();
}

void LiveSender::send_all() {
  for (LiveStream* const stream : std::exchange(gathering_, {})) {
    if (stream != nullptr) make_due(*stream);
  }
  next_due_ns_ = UINT64_MAX;
  while (!due_.empty()) {
    if (due_.front() != nullptr) send(*due_.front());
    due_.pop_front();
    ++first_due_;
  }
  drop_served();
}

}  // namespace gyre::relay
