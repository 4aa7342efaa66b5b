#include "poller.h"

#include <unistd.h>

#include <cerrno>

#include "failure.h"

namespace gyre::load {
namespace {

constexpr std::size_t kEventsMax = 512;

void control(int poller, int operation, int fd, std::uint32_t index, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u32 = index;
  if (epoll_ctl(poller, operation, fd, &event) != 0) fail_errno("epoll_ctl");
}

}  // namespace

Poller::Poller() : fd_(epoll_create1(EPOLL_CLOEXEC)), events_(kEventsMax) {
  if (fd_ < 0) fail_errno("epoll_create1");
  ready_.reserve(kEventsMax);
}

Poller::~Poller() { close(fd_); }

void Poller::add(int fd, std::uint32_t index) { control(fd_, EPOLL_CTL_ADD, fd, index, EPOLLIN); }

void Poller::change(int fd, std::uint32_t index, Interest interest) {
  const std::uint32_t events = interest == Interest::kRead ? EPOLLIN : EPOLLIN | EPOLLOUT;
  control(fd_, EPOLL_CTL_MOD, fd, index, events);
}

void Poller::remove(int fd) { control(fd_, EPOLL_CTL_DEL, fd, 0, 0); }

std::span<const std::uint32_t> Poller::wait(int timeout_ms) {
  ready_.clear();
  const int count = epoll_wait(fd_, events_.data(), static_cast<int>(events_.size()), timeout_ms);
  if (count < 0 && errno != EINTR) fail_errno("epoll_wait");
  for (int i = 0; i < count; ++i) ready_.push_back(events_[static_cast<std::size_t>(i)].data.u32);
  return ready_;
}

}  // namespace gyre::load
