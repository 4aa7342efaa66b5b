// FakeIo: an Io whose other side is the test.
//
// Nothing happens by itself: the test connects clients, delivers bytes and ends sends; what it did
// becomes completions, which run() hands out in order. Received bytes lie in blocks of exactly
// their size and padding, so that a sanitizer sees every step too far.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/runtime/io.h"

namespace gyre::net::test {

class FakeIo final : public runtime::Io {
 public:
  enum class Sends : std::uint8_t { kComplete, kHold };

  struct Socket {
    runtime::Address peer;
    std::string sent;     // All that was sent and completed.
    std::string waiting;  // Delivered while no receive was armed.
    bool has_peer_ended = false;
    bool is_shut_down = false;
    bool is_closed = false;
    Sends sends = Sends::kComplete;
    runtime::Completion* receive = nullptr;
    runtime::Completion* send = nullptr;
    std::string sending;
    std::size_t slices_sending = 0;
    int receives_submitted = 0;
    int sends_submitted = 0;
  };

  // What the test does.
  int connect(const runtime::IpAddress& ip) {
    const int descriptor = next_descriptor_++;
    sockets_[descriptor].peer = {ip, 40'000};
    GYRE_ASSERT(accept_ != nullptr);
    post(*accept_, descriptor, true);
    return descriptor;
  }
  void fail_accept(int error) {
    GYRE_ASSERT(accept_ != nullptr);
    post(*std::exchange(accept_, nullptr), -error, false);
  }
  [[nodiscard]] bool is_accepting() const { return accept_ != nullptr; }
  void deliver(int descriptor, std::string_view bytes) {
    Socket& socket = sockets_.at(descriptor);
    if (socket.receive == nullptr) {
      socket.waiting.append(bytes);
    } else {
      post_bytes(*socket.receive, bytes);
    }
  }
  void end_peer(int descriptor) { break_receive(descriptor, 0); }
  void reset_peer(int descriptor) { break_receive(descriptor, -ECONNRESET); }
  // Ends a held send: whole, or short.
  void complete_send(int descriptor, std::size_t bytes = SIZE_MAX) {
    Socket& socket = sockets_.at(descriptor);
    GYRE_ASSERT(socket.send != nullptr);
    const std::size_t count = std::min(bytes, socket.sending.size());
    socket.sent.append(socket.sending, 0, count);
    post(*std::exchange(socket.send, nullptr), static_cast<int>(count), false);
  }
  [[nodiscard]] Socket& socket(int descriptor) { return sockets_.at(descriptor); }
  [[nodiscard]] std::size_t open_sockets() const {
    std::size_t count = 0;
    for (const auto& [descriptor, socket] : sockets_) count += socket.is_closed ? 0 : 1;
    return count;
  }
  [[nodiscard]] bool is_listener_closed() const { return is_listener_closed_; }
  // Runs completions until none is left; false if there was none.
  bool run_all() {
    bool has_run = false;
    while (!events_.empty()) {
      const auto event = std::move(events_.front());
      events_.pop_front();
      event();
      has_run = true;
    }
    return has_run;
  }

  // Io
  void submit_accept(int listener, runtime::Completion& completion) override {
    begin(completion);
    listener_ = listener;
    accept_ = &completion;
  }
  void submit_recv(int descriptor, runtime::Completion& completion) override {
    begin(completion);
    Socket& socket = sockets_.at(descriptor);
    GYRE_ASSERT(socket.receive == nullptr);
    GYRE_ASSERT(!socket.is_closed);
    socket.receive = &completion;
    ++socket.receives_submitted;
    if (!socket.waiting.empty()) post_bytes(completion, std::exchange(socket.waiting, {}));
    if (socket.has_peer_ended) end_receive(socket, 0);
  }
  void submit_send(int descriptor, std::span<const iovec> slices,
                   runtime::Completion& completion) override {
    begin(completion);
    Socket& socket = sockets_.at(descriptor);
    GYRE_ASSERT(socket.send == nullptr);
    GYRE_ASSERT(!socket.is_closed);
    GYRE_ASSERT(!slices.empty() && slices.size() <= kSendSlicesMax);
    socket.sending.clear();
    for (const iovec& slice : slices) {
      socket.sending.append(static_cast<const char*>(slice.iov_base), slice.iov_len);
    }
    socket.slices_sending = slices.size();
    socket.send = &completion;
    ++socket.sends_submitted;
    if (socket.is_shut_down) {
      post(*std::exchange(socket.send, nullptr), -EPIPE, false);
    } else if (socket.sends == Sends::kComplete) {
      complete_send(descriptor);
    }
  }
  void submit_read(int, std::uint64_t, std::span<std::uint8_t>, runtime::Completion&) override {
    GYRE_ASSERT(!"connections read no files");
  }
  void cancel(runtime::Completion& completion) override {
    if (accept_ == &completion) post(*std::exchange(accept_, nullptr), -ECANCELED, false);
    for (auto& [descriptor, socket] : sockets_) {
      if (socket.receive == &completion) end_receive(socket, -ECANCELED);
    }
  }
  void shutdown(int descriptor) override {
    Socket& socket = sockets_.at(descriptor);
    GYRE_ASSERT(!socket.is_closed);
    socket.is_shut_down = true;
    if (socket.receive != nullptr) end_receive(socket, 0);
    if (socket.send != nullptr) post(*std::exchange(socket.send, nullptr), -EPIPE, false);
  }
  void close(int descriptor) override {
    if (descriptor == listener_) {
      GYRE_ASSERT(accept_ == nullptr);
      is_listener_closed_ = true;
      return;
    }
    Socket& socket = sockets_.at(descriptor);
    GYRE_ASSERT(!socket.is_closed);
    GYRE_ASSERT(socket.receive == nullptr && socket.send == nullptr);
    socket.is_closed = true;
  }
  runtime::Address peer_address(int descriptor) override { return sockets_.at(descriptor).peer; }
  void wake(ShardId) override {}
  runtime::Waker& waker() override { return waker_; }
  void reap() override {}
  bool run(std::size_t) override { return run_all(); }
  void enter(Wait, std::uint64_t) override {}

 private:
  struct NoWaker final : runtime::Waker {
    void wake() override {}
  };

  static void begin(runtime::Completion& completion) {
    GYRE_ASSERT(!completion.is_armed);
    completion.is_armed = true;
  }
  void post(runtime::Completion& completion, std::int32_t result, bool more) {
    events_.push_back([&completion, result, more] {
      if (!more) completion.is_armed = false;
      completion.handler(completion.owner, {result, more, {}});
    });
  }
  void post_bytes(runtime::Completion& completion, std::string_view bytes) {
    auto block = std::make_shared<std::unique_ptr<std::uint8_t[]>>(
        new std::uint8_t[bytes.size() + kReceivePadding]);
    std::memcpy(block->get(), bytes.data(), bytes.size());
    std::memset(block->get() + bytes.size(), '"', kReceivePadding);
    const std::size_t size = bytes.size();
    events_.push_back([&completion, block, size] {
      completion.handler(completion.owner,
                         {static_cast<std::int32_t>(size), true, {block->get(), size}});
    });
  }
  void end_receive(Socket& socket, std::int32_t result) {
    post(*std::exchange(socket.receive, nullptr), result, false);
  }
  void break_receive(int descriptor, std::int32_t result) {
    Socket& socket = sockets_.at(descriptor);
    socket.has_peer_ended = true;
    if (socket.receive != nullptr) end_receive(socket, result);
  }

  int listener_ = -1;
  bool is_listener_closed_ = false;
  runtime::Completion* accept_ = nullptr;
  std::map<int, Socket> sockets_;
  int next_descriptor_ = 1000;
  std::deque<std::function<void()>> events_;
  NoWaker waker_;
};

}  // namespace gyre::net::test
