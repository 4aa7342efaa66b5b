#include "gyre/net/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "gyre/base/assert.h"

namespace gyre::net {

namespace {

using runtime::Address;

constexpr int kBacklog = 4096;  // The kernel cuts it to net.core.somaxconn.
// Unsent bytes that the kernel takes for a socket before it calls it full: enough for a round trip
// on any path, small enough that a slow client shows in its queue and not in the kernel's memory.
constexpr int kUnsentBytesMax = 128 * 1024;
constexpr int kUnacknowledgedMs = 60'000;  // Data without an ACK for so long: the peer is gone.

// Closes the descriptor unless it is taken.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] int take() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

bool is_ipv4(const Address& address) {
  const auto& bytes = address.ip.bytes;
  return std::all_of(bytes.begin(), bytes.begin() + 10, [](auto byte) { return byte == 0; }) &&
         bytes[10] == 0xff && bytes[11] == 0xff;
}

bool is_any_ipv6(const Address& address) { return address.ip == runtime::IpAddress{}; }

SocketAddress to_socket_address(const Address& address) {
  SocketAddress result;
  if (is_ipv4(address)) {
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(address.port);
    std::memcpy(&ipv4.sin_addr, address.ip.bytes.data() + 12, sizeof ipv4.sin_addr);
    std::memcpy(&result.storage, &ipv4, sizeof ipv4);
    result.size = sizeof ipv4;
  } else {
    sockaddr_in6 ipv6{};
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(address.port);
    std::memcpy(&ipv6.sin6_addr, address.ip.bytes.data(), sizeof ipv6.sin6_addr);
    std::memcpy(&result.storage, &ipv6, sizeof ipv6);
    result.size = sizeof ipv6;
  }
  return result;
}

std::string_view cure(int error) {
  switch (error) {
    case EADDRINUSE: return "another process listens there: stop it or set net.listen";
    case EADDRNOTAVAIL: return "no interface of this machine has it: set net.listen";
    case EACCES:
    case EPERM:
      return "ports below 1024 need CAP_NET_BIND_SERVICE: choose another port in net.listen or "
             "raise net.ipv4.ip_unprivileged_port_start";
    case EMFILE:
    case ENFILE: return "too few file descriptors: raise RLIMIT_NOFILE";
    case EAFNOSUPPORT: return "the kernel has no such address family: set net.listen";
    default: return "see the cause";
  }
}

absl::Status failure(const Address& address, std::string_view step, int error) {
  std::string text = "cannot listen on " + address.to_string() + ": ";
  text.append(step).append(": ").append(std::strerror(error));
  text.append("; ").append(cure(error));
  return absl::UnavailableError(text);
}

int set_option(int socket, int level, int option, int value) {
  return ::setsockopt(socket, level, option, &value, sizeof value) == 0 ? 0 : errno;
}

struct Option {
  int level;
  int name;
  int value;
};

absl::Status set_options(int socket, const Address& address) {
  const int v6_only = is_any_ipv6(address) ? 0 : 1;
  const Option options[] = {
      {SOL_SOCKET, SO_REUSEADDR, 1},  // Old connections in TIME_WAIT do not block a restart.
      {IPPROTO_TCP, TCP_NODELAY, 1},
      {IPPROTO_TCP, TCP_NOTSENT_LOWAT, kUnsentBytesMax},
      {IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMs},
      {IPPROTO_IPV6, IPV6_V6ONLY, v6_only},
  };
  for (const Option& option : options) {
    if (option.level == IPPROTO_IPV6 && is_ipv4(address)) continue;
    const int error = set_option(socket, option.level, option.name, option.value);
    if (error != 0) return failure(address, "setsockopt", error);
  }
  return absl::OkStatus();
}

enum class Sharing : std::uint8_t { kAlone, kWithOurOthers };

absl::StatusOr<int> bind_socket(const Address& address, Sharing sharing) {
  const int family = is_ipv4(address) ? AF_INET : AF_INET6;
  // Blocking: io_uring polls by itself, and a non-blocking listener would return EAGAIN instead.
  Socket socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return failure(address, "socket", errno);
  if (auto status = set_options(socket.get(), address); !status.ok()) return status;
  if (sharing == Sharing::kWithOurOthers) {
    const int error = set_option(socket.get(), SOL_SOCKET, SO_REUSEPORT, 1);
    if (error != 0) return failure(address, "setsockopt", error);
  }
  const SocketAddress bound = to_socket_address(address);
  if (::bind(socket.get(), bound.get(), bound.size) != 0) return failure(address, "bind", errno);
  return socket.take();
}

// With SO_REUSEPORT a second relay of the same user would bind without an error and take half of
// the clients. A socket without it tells.
absl::Status check_unused(const Address& address) {
  if (address.port == 0) return absl::OkStatus();
  auto probe = bind_socket(address, Sharing::kAlone);
  if (!probe.ok()) return probe.status();
  ::close(*probe);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<int>> open_listeners(const Address& address, std::size_t count) {
  GYRE_ASSERT_CMP(count, >, 0u);
  if (auto status = check_unused(address); !status.ok()) return status;
  Address bound = address;
  std::vector<int> listeners;
  absl::Status status;
  while (listeners.size() < count && status.ok()) {
    auto socket = bind_socket(bound, Sharing::kWithOurOthers);
    status = socket.status();
    if (!socket.ok()) break;
    listeners.push_back(*socket);
    if (::listen(*socket, kBacklog) != 0) status = failure(bound, "listen", errno);
    bound.port = local_address(*socket).port;
  }
  if (status.ok()) return listeners;
  for (const int listener : listeners) ::close(listener);
  return status;
}

Address local_address(int listener) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  const int status = ::getsockname(listener, reinterpret_cast<sockaddr*>(&storage), &size);
  GYRE_ASSERT_CMP(status, ==, 0);
  Address address;
  if (storage.ss_family == AF_INET) {
    sockaddr_in ipv4;
    std::memcpy(&ipv4, &storage, sizeof ipv4);
    address.ip.bytes[10] = address.ip.bytes[11] = 0xff;
    std::memcpy(address.ip.bytes.data() + 12, &ipv4.sin_addr, sizeof ipv4.sin_addr);
    address.port = ntohs(ipv4.sin_port);
  } else {
    sockaddr_in6 ipv6;
    std::memcpy(&ipv6, &storage, sizeof ipv6);
    std::memcpy(address.ip.bytes.data(), &ipv6.sin6_addr, sizeof ipv6.sin6_addr);
    address.port = ntohs(ipv6.sin6_port);
  }
  return address;
}

}  // namespace gyre::net
