// Poller: epoll with an index for each connection.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <span>
#include <vector>

namespace gyre::load {

class Poller {
 public:
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Reports `index` when the socket can be read; also when it can be written if `wants_write`.
  enum class Interest : std::uint8_t { kRead, kReadAndWrite };
  void add(int fd, std::uint32_t index);
  void change(int fd, std::uint32_t index, Interest interest);
  void remove(int fd);

  // Indices of sockets that are ready, at most 512; empty after `timeout_ms`.
  std::span<const std::uint32_t> wait(int timeout_ms);

 private:
  int fd_;
  std::vector<epoll_event> events_;
  std::vector<std::uint32_t> ready_;
};

}  // namespace gyre::load
