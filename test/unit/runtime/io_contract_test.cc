// The contract of gyre/runtime/io.h, which both the kernel's Io and the simulated one keep.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gyre/base/random.h"
#include "gyre/runtime/io.h"
#include "io_harness.h"

namespace gyre::runtime {
namespace {

struct Kind {
  const char* name;
  std::function<std::unique_ptr<IoHarness>()> make;
};

class IoContract : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override { acceptor_.start(); }
  // By the end every socket is closed as an owner must: nothing armed any more.
  void TearDown() override {
    acceptor_.cancel();
    EXPECT_TRUE(harness_->turn_until([&] { return !acceptor_.is_armed(); }));
    for (const auto& socket : acceptor_.sockets) close(*socket);
  }

  ServerSocket& accept_one() {
    const std::size_t before = acceptor_.sockets.size();
    EXPECT_TRUE(harness_->turn_until([&] { return acceptor_.sockets.size() > before; }));
    return *acceptor_.sockets.back();
  }
  void close(ServerSocket& socket) {
    if (closed_.contains(socket.descriptor)) return;
    if (socket.is_receiving() || socket.is_sending()) io().shutdown(socket.descriptor);
    EXPECT_TRUE(
        harness_->turn_until([&] { return !socket.is_receiving() && !socket.is_sending(); }));
    io().close(socket.descriptor);
    closed_.insert(socket.descriptor);
  }
  Io& io() { return harness_->io(); }

  std::unique_ptr<IoHarness> harness_ = GetParam().make();
  Acceptor acceptor_{*harness_};
  std::set<int> closed_;
};

TEST_P(IoContract, AcceptsEverybodyAndKnowsTheirAddresses) {
  std::set<std::uint16_t> ports;
  for (int i = 0; i < 20; ++i) ports.insert(harness_->address(harness_->connect()).port);
  ASSERT_TRUE(harness_->turn_until([&] { return acceptor_.sockets.size() == 20; }));
  EXPECT_TRUE(acceptor_.is_armed());
  std::set<std::uint16_t> seen;
  for (const auto& socket : acceptor_.sockets) {
    const Address peer = io().peer_address(socket->descriptor);
    EXPECT_EQ(peer.ip, harness_->address(0).ip);
    seen.insert(peer.port);
  }
  EXPECT_EQ(seen, ports);
}

TEST_P(IoContract, CancelledAcceptEndsOnceAndCanBeArmedAgain) {
  acceptor_.cancel();
  acceptor_.cancel();
  ASSERT_TRUE(harness_->turn_until([&] { return acceptor_.ends == 1; }));
  EXPECT_EQ(acceptor_.result, -ECANCELED);  // Nobody has come that the last call could bring.
  EXPECT_FALSE(acceptor_.is_armed());
  acceptor_.cancel();  // Nothing to cancel: nothing happens.
  harness_->connect();
  for (int i = 0; i < 20; ++i) harness_->turn();
  EXPECT_EQ(acceptor_.ends, 1);
  EXPECT_TRUE(acceptor_.sockets.empty());
  acceptor_.start();
  accept_one();
}

TEST_P(IoContract, ReceivesAllBytesInOrderHoweverTheyAreCut) {
  const int client = harness_->connect();
  ServerSocket& socket = accept_one();
  socket.receive();
  const std::string bytes = patterned(300'000, 1);
  SeededRandom random(2);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const std::size_t count = 1 + random.next_u64() % 9'000;
    harness_->write(client, std::string_view(bytes).substr(sent, count));
    sent += count;
    harness_->turn();
  }
  ASSERT_TRUE(harness_->turn_until([&] { return socket.received.size() >= bytes.size(); }));
  EXPECT_TRUE(socket.received == bytes);
  EXPECT_TRUE(socket.is_receiving());
}

TEST_P(IoContract, PeersEndComesAfterItsLastByte) {
  const int client = harness_->connect();
  ServerSocket& socket = accept_one();
  socket.receive();
  harness_->write(client, "last words");
  harness_->finish(client);
  ASSERT_TRUE(harness_->turn_until([&] { return socket.receive_ends == 1; }));
  EXPECT_EQ(socket.received, "last words");
  EXPECT_EQ(socket.receive_result, 0);
  EXPECT_FALSE(socket.is_receiving());
  socket.send({"but still listening"});
  std::string got;
  ASSERT_TRUE(harness_->turn_until([&] {
    got += harness_->read(client);
    return got == "but still listening";
  }));
  ASSERT_TRUE(harness_->turn_until([&] { return socket.send_ends == 1; }));
}

TEST_P(IoContract, ResetEndsAReceive) {
  const int client = harness_->connect();
  ServerSocket& socket = accept_one();
  socket.receive();
  for (int i = 0; i < 10; ++i) harness_->turn();
  EXPECT_EQ(socket.receive_ends, 0);
  harness_->reset(client);
  ASSERT_TRUE(harness_->turn_until([&] { return socket.receive_ends == 1; }));
  EXPECT_EQ(socket.receive_result, -ECONNRESET);
}

TEST_P(IoContract, HandlersRunInRunAlone) {
  const int client = harness_->connect();
  ServerSocket& socket = accept_one();
  harness_->write(client, "hello");
  socket.receive();
  socket.send({"hello"});
  for (int i = 0; i < 20; ++i) {
    io().enter(Io::Wait::kPoll, 0);
    io().reap();
  }
  EXPECT_EQ(socket.send_ends, 0);
  EXPECT_EQ(socket.received, "");
  ASSERT_TRUE(harness_->turn_until([&] { return socket.send_ends == 1; }));
  ASSERT_TRUE(harness_->turn_until([&] { return socket.received == "hello"; }));
}

TEST_P(IoContract, RunKeepsToItsBudget) {
  for (int i = 0; i < 8; ++i) harness_->connect();
  std::size_t most_left = 0;
  ASSERT_TRUE(harness_->turn_until([&] {
    io().enter(Io::Wait::kPoll, 0);
    io().reap();
    std::size_t calls = 0;
    for (bool has_more = true; has_more; ++calls) {
      const std::size_t before = acceptor_.sockets.size();
      has_more = io().run(1);
      EXPECT_LE(acceptor_.sockets.size(), before + 1);
    }
    most_left = std::max(most_left, calls);
    return acceptor_.sockets.size() == 8;
  }));
  EXPECT_GT(most_left, 1u);
}

TEST_P(IoContract, SlicesArriveInOrder) {
  const int client = harness_->connect();
  ServerSocket& socket = accept_one();
  std::vector<std::string> parts;
  std::string whole;
  for (std::size_t i = 0; i < Io::kSendSlicesMax; ++i) {
    parts.push_back(patterned(1 + i * 37 % 500, i));
    whole += parts.back();
  }
  socket.send(parts);
  ASSERT_TRUE(harness_->turn_until([&] { return socket.send_ends == 1; }));
  EXPECT_EQ(socket.send_result, static_cast<int>(whole.size()));
  std::string got;
  ASSERT_TRUE(harness_->turn_until([&] {
    got += harness_->read(client);
    return got.size() >= whole.size();
  }));
  EXPECT_TRUE(got == whole);
}

TEST_P(IoContract, LargeSendWaitsForASlowReaderAndCompletesWhole) {
  const int client = harness_->connect();
  harness_->stop_reading(client);
  ServerSocket& socket = accept_one();
  const std::string first = patterned(8'000'000, 3);
  const std::string second = patterned(8'000'000, 4);
  socket.send({first, second});
  for (int i = 0; i < 100; ++i) harness_->turn();
  EXPECT_EQ(socket.send_ends, 0);
  harness_->resume_reading(client);
  std::string got;
  ASSERT_TRUE(harness_->turn_until([&] {
    got += harness_->read(client);
    return got.size() >= first.size() + second.size();
  }));
  EXPECT_TRUE(got == first + second);
  ASSERT_TRUE(harness_->turn_until([&] { return socket.send_ends == 1; }));
  EXPECT_EQ(socket.send_result, 16'000'000);
}

TEST_P(IoContract, ShutdownEndsAReceiveAndASendInFlight) {
  const int client = harness_->connect();
  harness_->stop_reading(client);
  ServerSocket& socket = accept_one();
  socket.receive();
  socket.send({patterned(16'000'000, 5)});
  for (int i = 0; i < 50; ++i) harness_->turn();
  io().shutdown(socket.descriptor);
  ASSERT_TRUE(
      harness_->turn_until([&] { return socket.receive_ends == 1 && socket.send_ends == 1; }));
  EXPECT_EQ(socket.receive_result, 0);
  EXPECT_LT(socket.send_result, 16'000'000);
  close(socket);
  harness_->resume_reading(client);
  EXPECT_TRUE(harness_->turn_until([&] { return harness_->is_ended(client); }));
}

TEST_P(IoContract, ResetEndsASendInFlightShort) {
  const int client = harness_->connect();
  harness_->stop_reading(client);
  ServerSocket& socket = accept_one();
  socket.send({patterned(16'000'000, 6)});
  for (int i = 0; i < 50; ++i) harness_->turn();
  EXPECT_EQ(socket.send_ends, 0);
  harness_->reset(client);
  ASSERT_TRUE(harness_->turn_until([&] { return socket.send_ends == 1; }));
  EXPECT_LT(socket.send_result, 16'000'000);
}

TEST_P(IoContract, ClosingTellsTheClient) {
  const int client = harness_->connect();
  close(accept_one());
  EXPECT_TRUE(harness_->turn_until([&] { return harness_->is_ended(client); }));
}

TEST_P(IoContract, CancelInsideTheHandlerEndsTheReceiveOnce) {
  const int client = harness_->connect();
  ServerSocket& socket = accept_one();
  socket.cancels_when_called = true;
  socket.receive();
  harness_->write(client, patterned(100'000, 7));
  ASSERT_TRUE(harness_->turn_until([&] { return socket.receive_ends == 1; }));
  EXPECT_FALSE(socket.is_receiving());
  EXPECT_FALSE(socket.received.empty());
  for (int i = 0; i < 50; ++i) harness_->turn();
  EXPECT_EQ(socket.receive_ends, 1);
}

TEST_P(IoContract, CancelRightBehindTheSubmitEndsTheReceiveOnce) {
  const int client = harness_->connect();
  ServerSocket& socket = accept_one();
  const std::string bytes = patterned(200'000, 10);
  std::size_t sent = 0;
  int arms = 0;
  while (sent < bytes.size()) {
    harness_->write(client, std::string_view(bytes).substr(sent, 1'000));
    sent += 1'000;
    socket.receive();
    socket.cancel_receive();
    ++arms;
    ASSERT_TRUE(harness_->turn_until([&] { return !socket.is_receiving(); })) << arms;
    ASSERT_EQ(socket.receive_ends, arms);
  }
  socket.receive();
  ASSERT_TRUE(harness_->turn_until([&] { return socket.received.size() >= bytes.size(); }));
  EXPECT_TRUE(socket.received == bytes);
}

// Pausing and resuming a reader at any moment, as back-pressure does, loses and repeats nothing.
TEST_P(IoContract, CancellingWithDataInFlightLosesNothing) {
  const int client = harness_->connect();
  ServerSocket& socket = accept_one();
  const std::string bytes = patterned(2'000'000, 8);
  SeededRandom random(9);
  int arms = 0;
  std::size_t sent = 0;
  ASSERT_TRUE(harness_->turn_until([&] {
    const std::uint64_t dice = random.next_u64();
    if (!socket.is_receiving()) {
      EXPECT_EQ(socket.receive_ends, arms);
      // The last call may have brought bytes.
      EXPECT_TRUE(arms == 0 || socket.receive_result > 0 || socket.receive_result == -ECANCELED);
      socket.receive();
      ++arms;
    } else if (dice % 3 == 0) {
      socket.cancel_receive();
    }
    if (sent < bytes.size()) {
      const std::size_t count = dice >> 50;
      harness_->write(client, std::string_view(bytes).substr(sent, count));
      sent += count;
    }
    return socket.received.size() >= bytes.size();
  }));
  EXPECT_TRUE(socket.received == bytes);
  EXPECT_GT(arms, 10);
}

TEST_P(IoContract, AWakeUpEndsTheSleepEvenIfItCameFirst) {
  harness_->turn();
  io().waker().wake();
  io().reap();
  io().run(256);
  io().enter(Io::Wait::kSleep, UINT64_MAX);
  io().waker().wake();
  io().enter(Io::Wait::kSleep, UINT64_MAX);
}

// A file without a name, and one read of it.
class FileRead {
 public:
  FileRead(Io& io, std::string_view content) : io_(io), file_(memfd_create("read", MFD_CLOEXEC)) {
    EXPECT_EQ(write(file_, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  }
  FileRead(const FileRead&) = delete;
  FileRead& operator=(const FileRead&) = delete;
  ~FileRead() { ::close(file_); }

  void start(std::uint64_t offset, std::size_t bytes) {
    buffer_.assign(bytes, 0);
    io_.submit_read(file_, offset, buffer_, completion_);
  }
  [[nodiscard]] bool is_armed() const { return completion_.is_armed; }
  [[nodiscard]] std::string bytes() const {
    return {buffer_.begin(), buffer_.begin() + std::max(result, 0)};
  }

  int result = -1;
  int ends = 0;

 private:
  void on_read(const CompletionResult& completed) {
    EXPECT_FALSE(completed.more);
    result = completed.result;
    ++ends;
  }

  Io& io_;
  const int file_;
  std::vector<std::uint8_t> buffer_;
  Completion completion_ = bind<&FileRead::on_read>(*this);
};

TEST_P(IoContract, ReadsAPartOfAFile) {
  FileRead read(io(), "0123456789");
  read.start(3, 4);
  EXPECT_TRUE(read.is_armed());
  EXPECT_EQ(read.ends, 0) << "a handler ran inside the submit call";
  ASSERT_TRUE(harness_->turn_until([&] { return !read.is_armed(); }));
  EXPECT_EQ(read.bytes(), "3456");
  EXPECT_EQ(read.ends, 1);
}

TEST_P(IoContract, AReadGetsNoMoreThanTheFileHas) {
  FileRead read(io(), "0123456789");
  read.start(8, 100);
  ASSERT_TRUE(harness_->turn_until([&] { return !read.is_armed(); }));
  EXPECT_EQ(read.bytes(), "89");
  read.start(10, 100);
  ASSERT_TRUE(harness_->turn_until([&] { return !read.is_armed(); }));
  EXPECT_EQ(read.result, 0);
}

TEST_P(IoContract, ManyReadsOfOneFileAreUnderWayAtOnce) {
  std::vector<std::unique_ptr<FileRead>> reads;
  for (std::size_t i = 0; i < 300; ++i) {
    reads.push_back(std::make_unique<FileRead>(io(), patterned(5'000, i)));
    reads.back()->start(i, 4'096);
  }
  const auto are_done = [&] {
    return std::ranges::none_of(reads, [](const auto& read) { return read->is_armed(); });
  };
  ASSERT_TRUE(harness_->turn_until(are_done));
  for (std::size_t i = 0; i < reads.size(); ++i) {
    EXPECT_EQ(reads[i]->bytes(), patterned(5'000, i).substr(i, 4'096)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, IoContract,
                         ::testing::Values(Kind{"Uring", [] { return make_uring_harness(); }},
                                           Kind{"Sim", [] { return make_sim_harness(); }}),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace gyre::runtime
