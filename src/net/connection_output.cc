// What a connection sends, and how.
#include "gyre/net/connection.h"

#include <array>
#include <cstring>

#include "gyre/base/assert.h"
#include "net/connection_set.h"
#include "net/padded_buffer.h"
#include "net/send_queue.h"

namespace gyre::net {

// A text frame of parts; `body` may stay where it is.
struct Connection::Frame {
  Encoding encoding = Encoding::kPlain;
  std::initializer_list<std::string_view> head;
  std::string_view body;
  const SharedBytes* owner = nullptr;  // Null: the body is copied, however large.
  std::initializer_list<std::string_view> tail;
};

namespace {

std::uint64_t sum_of(std::initializer_list<std::string_view> parts) {
  std::uint64_t sum = 0;
  for (const std::string_view part : parts) sum += part.size();
  return sum;
}

std::uint8_t* write(std::uint8_t* out, std::string_view part) {
  // memcpy takes no null, not even for nothing.
  if (!part.empty()) std::memcpy(out, part.data(), part.size());
  return out + part.size();
}

}  // namespace

void Connection::queue_frame(const Frame& frame) {
  const std::uint64_t payload_bytes = sum_of(frame.head) + frame.body.size() + sum_of(frame.tail);
  std::array<std::uint8_t, kFrameHeaderBytesMax> bytes;
  const std::size_t header_bytes = encode_text_header(payload_bytes, frame.encoding, bytes.data());
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()), header_bytes);
  const bool is_copied = frame.owner == nullptr || frame.body.size() < kSharedBodyBytesMin;
  // Usually all of it comes to lie in one piece.
  std::uint8_t* out = is_copied ? queue().try_extend(header_bytes + payload_bytes) : nullptr;
  if (out != nullptr) {
    out = write(out, header);
    for (const std::string_view part : frame.head) out = write(out, part);
    out = write(out, frame.body);
    for (const std::string_view part : frame.tail) out = write(out, part);
    return;
  }
  queue().expect(header_bytes + payload_bytes - (is_copied ? 0 : frame.body.size()));
  queue_->append(header);
  for (const std::string_view part : frame.head) queue_->append(part);
  if (is_copied) {
    queue_->append(frame.body);
  } else {
    queue_->append_shared(frame.body, *frame.owner);
  }
  for (const std::string_view part : frame.tail) queue_->append(part);
}

void Connection::send_text(std::initializer_list<std::string_view> parts) {
  if (!make_room()) return;
  queue_frame({.head = parts});
  on_queued();
}

void Connection::send_text_shared(std::string_view prefix, SharedBody& body,
                                  std::string_view suffix) {
  if (!make_room()) return;
  if (may_deflate(prefix, body, suffix) && !body.is_deflate_tried) {
    body.is_deflate_tried = true;
    body.deflated = set_->deflater.deflate(body.text);
  }
  if (may_deflate(prefix, body, suffix) && !body.deflated.is_null()) {
    queue_deflated(prefix, body.deflated, suffix);
  } else {
    queue_frame({.head = {prefix}, .body = body.text, .owner = body.owner, .tail = {suffix}});
  }
  on_queued();
}

// A body refers to nothing farther back than it is long, so one that fits the client's window may
// be sent whatever window it was compressed with.
bool Connection::may_deflate(std::string_view prefix, const SharedBody& body,
                             std::string_view suffix) const {
  if (server_window_bits_ == 0) return false;
  const bool fits_window =
      server_window_bits_ == 15 || body.text.size() <= std::size_t{1} << server_window_bits_;
  return fits_window && prefix.size() <= Deflater::kStoredBytesMax &&
         suffix.size() <= Deflater::kStoredBytesMax;
}

void Connection::queue_deflated(std::string_view prefix, const SharedBytes& body,
                                std::string_view suffix) {
  static constexpr std::string_view kEnd("\0", 1);
  const auto prefix_bytes = Deflater::stored_header(prefix.size());
  const auto suffix_bytes = Deflater::stored_header(suffix.size());
  const std::string_view prefix_header(prefix_bytes.data(), prefix_bytes.size());
  // The body's end has begun the block.
  const std::string_view suffix_header(suffix_bytes.data() + 1, suffix_bytes.size() - 1);
  queue_frame({.encoding = Encoding::kDeflated,
               .head = {prefix_header, prefix},
               .body = as_text(body.span()),
               .owner = &body,
               .tail = {suffix_header, suffix, kEnd}});
}

void Connection::expect_bytes(std::uint64_t bytes) {
  if (state_ == State::kOpen) queue().expect(bytes);
}

std::uint64_t Connection::queued_bytes() const {
  return queue_ == nullptr ? 0 : queue_->queued_bytes();
}

// False if nothing can be sent: not open, or over the limit and therefore dropped now.
bool Connection::make_room() {
  if (state_ != State::kOpen) return false;
  if (queued_bytes() <= set_->limits.send_queue_bytes) return true;
  ++set_->counters.slow_client_drops;
  begin_draining();
  return false;
}

SendQueue& Connection::queue() {
  if (queue_ == nullptr) queue_ = set_->buffers.take_queue();
  return *queue_;
}

void Connection::send_raw(std::string_view bytes) {
  queue().expect(bytes.size());
  queue_->append(bytes);
  on_queued();
}

void Connection::answer(const HttpResponse& response, std::string_view method, Farewell farewell) {
  send_raw(format_response(response, method == "HEAD"));
  input_ = Input::kIgnored;
  // A page may be long and its reader slow, so it has as long as one send.
  begin_closing(farewell, seconds_ns(set_->limits.send_timeout_s));
}

void Connection::on_queued() {
  if (queue_->queued_bytes() > kResumeBytes) is_above_resume_ = true;
  if (is_dirty_) return;
  is_dirty_ = true;
  set_->add_dirty(*this);
}

void Connection::flush(std::uint64_t now_ns) {
  if (queue_ == nullptr || send_.is_armed || state_ == State::kDraining) return;
  last_sent_ns_ = send_started_ns_ = now_ns;
  set_->io.submit_send(socket_, queue_->begin_send(), send_);
  // Usually the timer stands earlier than this already, for the next ping.
  if (state_ == State::kOpen) {
    const std::uint64_t next = next_check_ns();
    if (next < timer_.deadline_ns) set_->timers.set(timer_, next);
  }
}

void Connection::on_sent(const runtime::CompletionResult& result) {
  if (result.result > 0) set_->counters.bytes_sent += static_cast<std::uint64_t>(result.result);
  const bool is_whole =
      result.result >= 0 && static_cast<std::uint64_t>(result.result) == queue_->bytes_in_flight();
  queue_->end_send();
  if (state_ == State::kDraining) {
    release_queue();
    return finish_if_drained();
  }
  if (!is_whole) return begin_draining();  // The connection broke.
  if (queue_->is_empty()) {
    release_queue();
  } else if (!is_dirty_) {
    is_dirty_ = true;
    set_->add_dirty(*this);
  }
  if (is_above_resume_ && queued_bytes() < kResumeBytes) {
    is_above_resume_ = false;
    if (is_open()) set_->handler.on_drained(*this);
  }
  end_if_said_all();
}

// Unless the kernel still reads from it.
void Connection::release_queue() {
  if (queue_ == nullptr || queue_->is_in_flight()) return;
  set_->buffers.give_back(std::move(queue_));
}

}  // namespace gyre::net
