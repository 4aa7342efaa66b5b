// A network in memory: virtual listeners, sockets and clients, and an Io for each shard, so that a
// whole relay runs on one thread from one seed.
//
// What the kernel may do, this does at random: bytes arrive cut anywhere, completions come in any
// order that keeps each operation's own, and come late; sends of more than a socket buffer end when
// the client has read. What the kernel forbids is asserted: a second send in flight, a closed
// descriptor, closing under an armed operation. Received bytes live in a block of their own until
// the handler returns, and slices to send are read as late as the contract allows, so that the
// address sanitizer sees who holds them too short or too long.
//
// Files are read as set_file_reader() says: in any order, late, in pieces, and now and then the
// disk fails. Buffers are filled as late as the contract allows.
//
// Everything happens in reap(): nothing moves while the shards do not turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/ids.h"
#include "gyre/base/random.h"
#include "gyre/runtime/io.h"

namespace gyre::test {

class SimIo;

class SimNetwork {
 public:
  struct Options {
    std::size_t socket_buffer_bytes = 64 * 1024;  // Each direction of a connection.
    std::size_t receive_bytes_max = 4096;         // One completion.
    unsigned delay_percent = 25;                  // Of the completions that could come at a reap.
    unsigned read_delay_percent = 50;             // The same, of reads of files.
    unsigned short_read_percent = 0;              // Of reads that get a part only.
    unsigned read_error_percent = 0;              // Of reads that fail with EIO.
  };

  // `random` outlives the network.
  SimNetwork(std::uint32_t shard_count, Random& random);
  SimNetwork(std::uint32_t shard_count, Random& random, const Options& options);
  ~SimNetwork();

  [[nodiscard]] runtime::Io& io(ShardId shard);
  // The descriptor to accept on.
  [[nodiscard]] int listener(ShardId shard) const;

  // Clients. A handle stays good for ever. Addresses are made up unless given.
  int connect(ShardId shard);
  int connect(ShardId shard, const runtime::Address& peer);
  // Sent as the socket buffer takes it; unsent_bytes() tells what it has not taken yet.
  void write(int client, std::string_view bytes);
  [[nodiscard]] std::size_t unsent_bytes(int client) const;
  // Takes all that has arrived.
  [[nodiscard]] std::string read(int client);
  // A slow client: bytes stay in the socket buffer, and senders wait.
  void stop_reading(int client);
  void resume_reading(int client);
  void finish(int client);  // Ends its own direction behind all that was written (FIN).
  void close(int client);   // That, and reads no more: what arrives now is answered by a reset.
  void reset(int client);   // Breaks the connection; what was on its way is lost.
  [[nodiscard]] bool is_accepted(int client) const;
  [[nodiscard]] bool is_ended(int client) const;  // The server's last byte arrived, or a reset.
  [[nodiscard]] bool is_reset(int client) const;  // By the server.

  // What reads of files give: bytes read, or -errno.
  using FileReader =
      std::function<std::int32_t(int file, std::uint64_t offset, std::span<std::uint8_t> out)>;
  void set_file_reader(FileReader reader) { file_reader_ = std::move(reader); }
  // Reads of files that are under way.
  [[nodiscard]] std::size_t read_count(ShardId shard) const;
  // Reads that failed with EIO so far.
  [[nodiscard]] std::size_t failed_read_count() const { return failed_read_count_; }

  // The next `count` accepts of the shard fail with `error` (EMFILE); the clients stay in line.
  void fail_accepts(ShardId shard, std::size_t count, int error);

  // Nothing can happen until a client or a program acts.
  [[nodiscard]] bool is_quiet() const;
  // A turn of this shard would find something to do, or move some bytes.
  [[nodiscard]] bool has_work_for(ShardId shard) const;
  // Descriptors that the shard accepted and has not closed.
  [[nodiscard]] std::size_t open_socket_count(ShardId shard) const;
  // How often other shards woke this one.
  [[nodiscard]] std::size_t wake_count(ShardId shard) const;

 private:
  friend class SimIo;

  struct Connection {
    ShardId shard = 0;
    int descriptor = -1;  // -1: in line at the listener.
    runtime::Address peer;
    // A byte's way: unsent -> to_server -> a completion; the sender's slices -> to_client -> inbox.
    std::string unsent;
    std::string to_server;
    std::string to_client;
    std::string inbox;
    bool is_client_reading = true;
    bool is_client_finished = false;
    bool is_client_closed = false;
    bool is_client_reset = false;
    bool is_server_shut = false;
    bool is_server_closed = false;
    bool is_server_reset = false;
    runtime::Completion* receive = nullptr;
    runtime::Completion* send = nullptr;
    std::span<const iovec> slices;
    std::size_t sent_bytes = 0;

    [[nodiscard]] bool is_broken() const;
    [[nodiscard]] bool has_input_ended() const;
    [[nodiscard]] std::size_t send_bytes() const;
  };

  [[nodiscard]] std::size_t below(std::size_t bound);
  [[nodiscard]] bool chance(unsigned percent);
  [[nodiscard]] Connection& client(int handle);
  [[nodiscard]] const Connection& client(int handle) const;
  [[nodiscard]] Connection& socket(ShardId shard, int descriptor);
  [[nodiscard]] bool can_move(const Connection& connection) const;
  void move_bytes(Connection& connection);

  Random& random_;
  const Options options_;
  FileReader file_reader_;
  std::size_t failed_read_count_ = 0;
  std::vector<std::unique_ptr<SimIo>> ios_;
  std::vector<std::unique_ptr<Connection>> connections_;  // By client handle.
  std::vector<Connection*> sockets_;                      // By descriptor - kSocketsBegin.
};

class SimIo final : public runtime::Io {
 public:
  SimIo(SimNetwork& network, ShardId self);

  void submit_accept(int listener, runtime::Completion& completion) override;
  void submit_recv(int socket, runtime::Completion& completion) override;
  void submit_send(int socket, std::span<const iovec> slices,
                   runtime::Completion& completion) override;
  void submit_read(int file, std::uint64_t offset, std::span<std::uint8_t> out,
                   runtime::Completion& completion) override;
  void cancel(runtime::Completion& completion) override;
  void shutdown(int socket) override;
  void close(int descriptor) override;
  [[nodiscard]] runtime::Address peer_address(int socket) override;
  void wake(ShardId shard) override;
  [[nodiscard]] runtime::Waker& waker() override { return waker_; }
  void reap() override;
  bool run(std::size_t budget) override;
  void enter(Wait wait, std::uint64_t deadline_ns) override;
  [[nodiscard]] runtime::IoCounters counters() const override { return counters_; }

 private:
  friend class SimNetwork;
  using Connection = SimNetwork::Connection;

  struct SimWaker final : runtime::Waker {
    void wake() override { is_woken.store(true, std::memory_order_release); }
    std::atomic<bool> is_woken{false};
  };
  struct Reaped {
    runtime::Completion* completion;
    std::int32_t result;
    bool more;
    std::string bytes;
  };

  struct FileRead {
    runtime::Completion* completion;
    std::uint64_t offset;
    std::span<std::uint8_t> out;
  };

  void begin(runtime::Completion& completion, runtime::Completion::Operation operation,
             int descriptor);
  void post(runtime::Completion*& completion, std::int32_t result);
  void reap_accept();
  void reap_receive(Connection& connection);
  void reap_send(Connection& connection);
  void reap_file_reads();
  void post_some_input(Connection& connection);
  [[nodiscard]] bool is_ready_to_accept() const;
  [[nodiscard]] static bool is_ready_to_receive(const Connection& connection);
  [[nodiscard]] static bool is_ready_to_send(const Connection& connection);
  void deliver(Reaped& reaped);

  SimNetwork& network_;
  const ShardId self_;
  SimWaker waker_;
  bool is_listening_ = true;
  runtime::Completion* accept_ = nullptr;
  std::deque<Connection*> line_;  // Connected, not yet accepted.
  std::size_t accept_failures_ = 0;
  int accept_error_ = 0;
  std::vector<FileRead> file_reads_;
  std::deque<Reaped> reaped_;
  std::size_t wake_count_ = 0;
  runtime::IoCounters counters_;
};

}  // namespace gyre::test
