// What a connection sends, and how.
#include "gyre/net/connection.h"

#include <array>
#include <cstring>

#include "gyre/base/assert.h"
#include "net/connection_set.h"
#include "net/padded_buffer.h"
#include "net/send_queue.h"

namespace gyre::net {

void Connection::send_text(std::initializer_list<std::string_view> parts) {
  if (!make_room()) return;
  std::uint64_t payload_bytes = 0;
  for (const std::string_view part : parts) payload_bytes += part.size();
  std::array<std::uint8_t, kFrameHeaderBytesMax> header;
  const std::size_t header_bytes = encode_text_header(payload_bytes, header.data());
  std::uint8_t* out = queue().try_extend(header_bytes + payload_bytes);
  if (out != nullptr) {
    std::memcpy(out, header.data(), header_bytes);
    out += header_bytes;
    for (const std::string_view part : parts) {
      if (!part.empty()) std::memcpy(out, part.data(), part.size());
      out += part.size();
    }
  } else {
    queue_->append({reinterpret_cast<const char*>(header.data()), header_bytes});
    for (const std::string_view part : parts) queue_->append(part);
  }
  on_queued();
}

void Connection::send_text_shared(std::string_view prefix, std::string_view body,
                                  const SharedBytes& owner, std::string_view suffix) {
  if (body.size() < kSharedBodyBytesMin) return send_text({prefix, body, suffix});
  if (!make_room()) return;
  queue().expect(kFrameHeaderBytesMax + prefix.size() + suffix.size());
  send_frame_header(prefix.size() + body.size() + suffix.size());
  queue_->append(prefix);
  queue_->append_shared(body, owner);
  queue_->append(suffix);
  on_queued();
}

void Connection::expect_bytes(std::uint64_t bytes) {
  if (state_ == State::kOpen) queue().expect(bytes);
}

void Connection::send_frame_header(std::uint64_t payload_bytes) {
  std::array<std::uint8_t, kFrameHeaderBytesMax> header;
  const std::size_t size = encode_text_header(payload_bytes, header.data());
  queue().append({reinterpret_cast<const char*>(header.data()), size});
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
