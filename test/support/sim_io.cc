#include "support/sim_io.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include "gyre/base/assert.h"

namespace gyre::test {
namespace {

using runtime::Completion;
using runtime::CompletionResult;

// Apart from each other and from what a process has, so that none passes for another. Descriptors
// are not used twice: whoever keeps one too long is caught.
constexpr int kListenersBegin = 1'000'000;
constexpr int kSocketsBegin = 2'000'000;
constexpr std::size_t kReceivesPerReapMax = 3;

}  // namespace

// Connections.

bool SimNetwork::Connection::is_broken() const { return is_client_reset || is_server_closed; }

bool SimNetwork::Connection::has_input_ended() const {
  return to_server.empty() && ((is_client_finished && unsent.empty()) || is_server_shut);
}

std::size_t SimNetwork::Connection::send_bytes() const {
  std::size_t sum = 0;
  for (const iovec& slice : slices) sum += slice.iov_len;
  return sum;
}

// The network and its clients.

SimNetwork::SimNetwork(std::uint32_t shard_count, Random& random)
    : SimNetwork(shard_count, random, Options()) {}

SimNetwork::SimNetwork(std::uint32_t shard_count, Random& random, const Options& options)
    : random_(random), options_(options) {
  for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
    ios_.push_back(std::make_unique<SimIo>(*this, static_cast<ShardId>(shard)));
  }
}

SimNetwork::~SimNetwork() = default;

runtime::Io& SimNetwork::io(ShardId shard) { return *ios_.at(shard); }

int SimNetwork::listener(ShardId shard) const { return kListenersBegin + shard; }

int SimNetwork::connect(ShardId shard) {
  // 10.0.0.0/8 by handle: every client has an address of its own.
  const std::size_t number = connections_.size();
  runtime::Address peer;
  peer.ip.bytes[10] = 0xff;
  peer.ip.bytes[11] = 0xff;
  peer.ip.bytes[12] = 10;
  peer.ip.bytes[13] = static_cast<std::uint8_t>(number >> 16);
  peer.ip.bytes[14] = static_cast<std::uint8_t>(number >> 8);
  peer.ip.bytes[15] = static_cast<std::uint8_t>(number);
  peer.port = static_cast<std::uint16_t>(40'000 + number % 20'000);
  return connect(shard, peer);
}

int SimNetwork::connect(ShardId shard, const runtime::Address& peer) {
  auto connection = std::make_unique<Connection>();
  connection->shard = shard;
  connection->peer = peer;
  SimIo& io = *ios_.at(shard);
  if (io.is_listening_) {
    io.line_.push_back(connection.get());
  } else {
    connection->is_server_closed = true;
    connection->is_server_reset = true;
  }
  connections_.push_back(std::move(connection));
  return static_cast<int>(connections_.size()) - 1;
}

void SimNetwork::write(int handle, std::string_view bytes) {
  Connection& connection = client(handle);
  GYRE_ASSERT(!connection.is_client_finished);
  if (!connection.is_broken()) connection.unsent.append(bytes);
}

std::size_t SimNetwork::unsent_bytes(int handle) const { return client(handle).unsent.size(); }

std::string SimNetwork::read(int handle) { return std::exchange(client(handle).inbox, {}); }

void SimNetwork::stop_reading(int handle) { client(handle).is_client_reading = false; }

void SimNetwork::resume_reading(int handle) { client(handle).is_client_reading = true; }

void SimNetwork::finish(int handle) { client(handle).is_client_finished = true; }

void SimNetwork::close(int handle) {
  Connection& connection = client(handle);
  connection.is_client_finished = true;
  connection.is_client_closed = true;
}

void SimNetwork::reset(int handle) {
  Connection& connection = client(handle);
  connection.is_client_finished = true;
  connection.is_client_closed = true;
  connection.is_client_reset = true;
  connection.unsent.clear();
  connection.to_server.clear();
  connection.to_client.clear();
}

bool SimNetwork::is_accepted(int handle) const { return client(handle).descriptor >= 0; }

bool SimNetwork::is_ended(int handle) const {
  const Connection& connection = client(handle);
  if (connection.is_server_reset) return true;
  return (connection.is_server_shut || connection.is_server_closed) && connection.to_client.empty();
}

bool SimNetwork::is_reset(int handle) const { return client(handle).is_server_reset; }

void SimNetwork::fail_accepts(ShardId shard, std::size_t count, int error) {
  ios_.at(shard)->accept_failures_ = count;
  ios_.at(shard)->accept_error_ = error;
}

bool SimNetwork::is_quiet() const {
  for (std::size_t shard = 0; shard < ios_.size(); ++shard) {
    if (has_work_for(static_cast<ShardId>(shard))) return false;
  }
  return true;
}

bool SimNetwork::has_work_for(ShardId shard) const {
  const SimIo& io = *ios_.at(shard);
  if (!io.reaped_.empty() || !io.file_reads_.empty() || io.is_ready_to_accept() ||
      io.waker_.is_woken.load(std::memory_order_acquire)) {
    return true;
  }
  return std::ranges::any_of(connections_, [this, shard](const auto& connection) {
    return connection->shard == shard &&
           (can_move(*connection) || SimIo::is_ready_to_receive(*connection) ||
            SimIo::is_ready_to_send(*connection));
  });
}

std::size_t SimNetwork::open_socket_count(ShardId shard) const {
  return static_cast<std::size_t>(std::ranges::count_if(sockets_, [shard](const Connection* c) {
    return c->shard == shard && !c->is_server_closed;
  }));
}

std::size_t SimNetwork::wake_count(ShardId shard) const { return ios_.at(shard)->wake_count_; }

std::size_t SimNetwork::read_count(ShardId shard) const {
  return ios_.at(shard)->file_reads_.size();
}

std::size_t SimNetwork::below(std::size_t bound) { return random_.next_u64() % bound; }

bool SimNetwork::chance(unsigned percent) { return below(100) < percent; }

SimNetwork::Connection& SimNetwork::client(int handle) {
  return *connections_.at(static_cast<std::size_t>(handle));
}

const SimNetwork::Connection& SimNetwork::client(int handle) const {
  return *connections_.at(static_cast<std::size_t>(handle));
}

SimNetwork::Connection& SimNetwork::socket(ShardId shard, int descriptor) {
  GYRE_ASSERT_CMP(descriptor, >=, kSocketsBegin);
  Connection& connection = *sockets_.at(static_cast<std::size_t>(descriptor - kSocketsBegin));
  GYRE_ASSERT_CMP(connection.shard, ==, shard);
  GYRE_ASSERT(!connection.is_server_closed);
  return connection;
}

bool SimNetwork::can_move(const Connection& connection) const {
  const bool has_send = connection.send != nullptr && !connection.is_broken() &&
                        !connection.is_server_shut &&
                        connection.sent_bytes < connection.send_bytes();
  const std::size_t capacity = options_.socket_buffer_bytes;
  return (!connection.unsent.empty() && connection.to_server.size() < capacity) ||
         (!connection.to_client.empty() && connection.is_client_reading) ||
         (has_send && connection.to_client.size() < capacity);
}

void SimNetwork::move_bytes(Connection& connection) {
  if (!can_move(connection)) return;
  const std::size_t capacity = options_.socket_buffer_bytes;
  const auto in = std::min(connection.unsent.size(), capacity - connection.to_server.size());
  connection.to_server.append(connection.unsent, 0, in);
  connection.unsent.erase(0, in);

  if (connection.send != nullptr && !connection.is_broken() && !connection.is_server_shut) {
    std::size_t begin = 0;  // Of the slice, counted from the first.
    for (const iovec& slice : connection.slices) {
      const std::size_t end = begin + slice.iov_len;
      const std::size_t room = capacity - connection.to_client.size();
      if (connection.sent_bytes < end && room > 0) {
        const std::size_t skipped = connection.sent_bytes - begin;
        const std::size_t count = std::min(slice.iov_len - skipped, room);
        connection.to_client.append(static_cast<const char*>(slice.iov_base) + skipped, count);
        connection.sent_bytes += count;
      }
      begin = end;
    }
  }
  if (connection.is_client_closed) {
    // Nobody is there to read: the client's kernel answers with a reset.
    if (!connection.to_client.empty()) connection.is_client_reset = true;
    connection.to_client.clear();
  } else if (connection.is_client_reading && !connection.to_client.empty()) {
    const std::size_t out = 1 + below(connection.to_client.size());
    connection.inbox.append(connection.to_client, 0, out);
    connection.to_client.erase(0, out);
  }
}

// Io: submitting.

SimIo::SimIo(SimNetwork& network, ShardId self) : network_(network), self_(self) {}

void SimIo::begin(Completion& completion, Completion::Operation operation, int descriptor) {
  GYRE_ASSERT(!completion.is_armed);
  GYRE_ASSERT(completion.handler != nullptr);
  completion.is_armed = true;
  completion.operation = operation;
  completion.is_cancelled = false;
  completion.descriptor = descriptor;
}

void SimIo::submit_accept(int listener, Completion& completion) {
  GYRE_ASSERT_CMP(listener, ==, network_.listener(self_));
  GYRE_ASSERT(is_listening_ && accept_ == nullptr);
  begin(completion, Completion::Operation::kAccept, listener);
  accept_ = &completion;
}

void SimIo::submit_recv(int socket, Completion& completion) {
  Connection& connection = network_.socket(self_, socket);
  GYRE_ASSERT(connection.receive == nullptr);
  begin(completion, Completion::Operation::kReceive, socket);
  connection.receive = &completion;
}

void SimIo::submit_send(int socket, std::span<const iovec> slices, Completion& completion) {
  GYRE_ASSERT(!slices.empty());
  GYRE_ASSERT_CMP(slices.size(), <=, kSendSlicesMax);
  Connection& connection = network_.socket(self_, socket);
  GYRE_ASSERT(connection.send == nullptr);
  begin(completion, Completion::Operation::kSend, socket);
  connection.send = &completion;
  connection.slices = slices;
  connection.sent_bytes = 0;
}

void SimIo::submit_read(int file, std::uint64_t offset, std::span<std::uint8_t> out,
                        Completion& completion) {
  GYRE_ASSERT(network_.file_reader_);
  begin(completion, Completion::Operation::kRead, file);
  file_reads_.push_back({&completion, offset, out});
}

void SimIo::cancel(Completion& completion) {
  if (completion.is_armed) completion.is_cancelled = true;
}

void SimIo::shutdown(int socket) { network_.socket(self_, socket).is_server_shut = true; }

void SimIo::close(int descriptor) {
  if (descriptor == network_.listener(self_)) {
    GYRE_ASSERT(is_listening_ && accept_ == nullptr);
    is_listening_ = false;
    for (Connection* const connection : line_) {
      connection->is_server_closed = true;
      connection->is_server_reset = true;
    }
    line_.clear();
    return;
  }
  Connection& connection = network_.socket(self_, descriptor);
  GYRE_ASSERT(connection.receive == nullptr && connection.send == nullptr);
  GYRE_ASSERT(std::ranges::none_of(reaped_, [descriptor](const Reaped& reaped) {
    return reaped.completion->descriptor == descriptor;
  }));
  connection.is_server_closed = true;
  // As TCP has it: closing over unread input resets, and may destroy output on its way.
  if (!connection.to_server.empty() || !connection.unsent.empty()) {
    connection.is_server_reset = true;
    if (network_.chance(50)) connection.to_client.clear();
  }
  connection.to_server.clear();
  connection.unsent.clear();
}

runtime::Address SimIo::peer_address(int socket) { return network_.socket(self_, socket).peer; }

void SimIo::wake(ShardId shard) {
  SimIo& target = *network_.ios_.at(shard);
  ++target.wake_count_;
  target.waker_.wake();
}

// Io: the steps of a turn.

void SimIo::reap() {
  std::vector<std::function<void()>> steps;
  if (is_ready_to_accept()) steps.emplace_back([this] { reap_accept(); });
  for (const auto& owned : network_.connections_) {
    Connection& connection = *owned;
    if (connection.shard != self_) continue;
    network_.move_bytes(connection);
    if (connection.is_server_closed) continue;
    if (is_ready_to_receive(connection)) {
      steps.emplace_back([this, &connection] { reap_receive(connection); });
    }
    if (is_ready_to_send(connection)) {
      steps.emplace_back([this, &connection] { reap_send(connection); });
    }
  }
  for (std::size_t i = steps.size(); i > 1; --i) std::swap(steps[i - 1], steps[network_.below(i)]);
  for (const auto& step : steps) {
    if (!network_.chance(network_.options_.delay_percent)) step();
  }
  reap_file_reads();
}

void SimIo::reap_file_reads() {
  std::vector<FileRead> later;
  while (!file_reads_.empty()) {
    std::swap(file_reads_[network_.below(file_reads_.size())], file_reads_.back());
    FileRead read = file_reads_.back();
    file_reads_.pop_back();
    if (network_.chance(network_.options_.read_delay_percent)) {
      later.push_back(read);
      continue;
    }
    if (network_.chance(network_.options_.read_error_percent)) {
      ++network_.failed_read_count_;
      post(read.completion, -EIO);
      continue;
    }
    const bool is_short = network_.chance(network_.options_.short_read_percent);
    if (is_short) read.out = read.out.first(1 + network_.below(read.out.size()));
    const int file = read.completion->descriptor;
    post(read.completion, network_.file_reader_(file, read.offset, read.out));
  }
  file_reads_ = std::move(later);
}

// The last completion of an operation.
void SimIo::post(Completion*& completion, std::int32_t result) {
  reaped_.push_back({std::exchange(completion, nullptr), result, false, {}});
}

bool SimIo::is_ready_to_accept() const {
  return accept_ != nullptr && (accept_->is_cancelled || !line_.empty());
}

void SimIo::reap_accept() {
  const bool is_cancelled = accept_->is_cancelled;
  if (is_cancelled && (line_.empty() || network_.chance(50))) return post(accept_, -ECANCELED);
  if (accept_failures_ > 0) {
    --accept_failures_;
    return post(accept_, -accept_error_);
  }
  const std::size_t count = is_cancelled ? 1 : 1 + network_.below(line_.size());
  for (std::size_t i = 0; i < count; ++i) {
    Connection& connection = *line_.front();
    line_.pop_front();
    connection.descriptor = kSocketsBegin + static_cast<int>(network_.sockets_.size());
    network_.sockets_.push_back(&connection);
    reaped_.push_back({accept_, connection.descriptor, !is_cancelled, {}});
  }
  if (is_cancelled) accept_ = nullptr;
}

bool SimIo::is_ready_to_receive(const Connection& connection) {
  return connection.receive != nullptr &&
         (connection.receive->is_cancelled || connection.is_client_reset ||
          !connection.to_server.empty() || connection.has_input_ended());
}

void SimIo::reap_receive(Connection& connection) {
  if (connection.is_client_reset) return post(connection.receive, -ECONNRESET);
  // Bytes may come before a cancellation takes effect.
  const bool is_cancelled_now = connection.receive->is_cancelled && network_.chance(50);
  if (!connection.to_server.empty() && !is_cancelled_now) return post_some_input(connection);
  if (connection.receive->is_cancelled) return post(connection.receive, -ECANCELED);
  if (connection.has_input_ended()) post(connection.receive, 0);
}

void SimIo::post_some_input(Connection& connection) {
  const std::size_t pieces = 1 + network_.below(kReceivesPerReapMax);
  for (std::size_t i = 0; i < pieces && !connection.to_server.empty(); ++i) {
    const std::size_t most =
        std::min(connection.to_server.size(), network_.options_.receive_bytes_max);
    const std::size_t count = network_.chance(50) ? most : 1 + network_.below(most);
    reaped_.push_back({connection.receive, static_cast<std::int32_t>(count), true,
                       connection.to_server.substr(0, count)});
    connection.to_server.erase(0, count);
  }
  if (connection.receive->is_cancelled && network_.chance(50)) {
    reaped_.back().more = false;
    connection.receive = nullptr;
  }
}

bool SimIo::is_ready_to_send(const Connection& connection) {
  return connection.send != nullptr &&
         (connection.send->is_cancelled || connection.is_client_reset ||
          connection.is_server_shut || connection.sent_bytes == connection.send_bytes());
}

void SimIo::reap_send(Connection& connection) {
  std::int32_t result = static_cast<std::int32_t>(connection.sent_bytes);
  if (connection.sent_bytes < connection.send_bytes() && connection.sent_bytes == 0) {
    result = connection.is_client_reset ? -ECONNRESET : -EPIPE;
    if (connection.send->is_cancelled) result = -ECANCELED;
  }
  connection.slices = {};
  post(connection.send, result);
}

bool SimIo::run(std::size_t budget) {
  for (; budget > 0 && !reaped_.empty(); --budget) {
    Reaped reaped = std::move(reaped_.front());
    reaped_.pop_front();
    deliver(reaped);
  }
  return !reaped_.empty();
}

void SimIo::deliver(Reaped& reaped) {
  CompletionResult result{reaped.result, reaped.more, {}};
  // A block of its own, so that reading behind the padding, or after the return, is seen.
  std::unique_ptr<std::uint8_t[]> block;
  if (!reaped.bytes.empty()) {
    block = std::make_unique<std::uint8_t[]>(reaped.bytes.size() + kReceivePadding);
    std::memcpy(block.get(), reaped.bytes.data(), reaped.bytes.size());
    result.bytes = {block.get(), reaped.bytes.size()};
  }
  Completion& completion = *reaped.completion;
  GYRE_ASSERT(completion.is_armed);
  if (!result.more) completion.is_armed = false;
  ++counters_.completions;
  completion.handler(completion.owner, result);
}

void SimIo::enter(Wait /*wait*/, std::uint64_t /*deadline_ns*/) {
  ++counters_.enters;
  waker_.is_woken.store(false, std::memory_order_release);
}

}  // namespace gyre::test
