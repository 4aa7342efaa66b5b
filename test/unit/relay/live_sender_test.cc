#include "relay/live_sender.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/pool_fixture.h"

namespace gyre::relay {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

class LiveSenderTest : public net::test::PoolFixture {
 protected:
  struct Reader {
    int socket;
    std::string prefix;
    LiveStream live;
  };

  // The fixture's turn, with the sender's step in its place.
  void live_turn() {
    (void)sender_.work();
    pool_.flush();
  }
  Reader& add_reader(const std::string& id) {
    auto reader = std::make_unique<Reader>(Reader{open(), "[\"EVENT\",\"" + id + "\",", {}});
    reader->live.connection = &last();
    reader->live.prefix = reader->prefix;
    readers_.push_back(std::move(reader));
    return *readers_.back();
  }
  void publish(std::string_view json, std::initializer_list<Reader*> to) {
    const SharedBytes event = SharedBytes::copy_of(as_bytes(json));
    sender_.begin_event(event, as_text(event.span()));
    for (Reader* const reader : to) sender_.add(reader->live);
  }
  std::vector<std::string> received(const Reader& reader) {
    settle();
    return texts(reader.socket);
  }
  void pass_ms(std::uint64_t ms) { clock_.now_ns += ms * kMs; }

  std::uint32_t gather_us_ = 2'000;
  LiveSender sender_{clock_, gather_us_};
  std::vector<std::unique_ptr<Reader>> readers_;
};

using Texts = std::vector<std::string>;

TEST_F(LiveSenderTest, SendsTheFirstEventOfAQuietStreamInTheSameTurn) {
  Reader& reader = add_reader("a");
  publish("{1}", {&reader});
  EXPECT_EQ(sender_.next_due_ns(), UINT64_MAX);
  live_turn();
  EXPECT_EQ(received(reader), Texts{R"(["EVENT","a",{1}])"});
  EXPECT_EQ(sender_.held_event_count(), 0u);
}

TEST_F(LiveSenderTest, GathersWhatComesSoonAfterIntoOneSend) {
  Reader& reader = add_reader("a");
  publish("{1}", {&reader});
  live_turn();
  settle();
  const int sends_before = io_.socket(reader.socket).sends_submitted;
  for (const char* const json : {"{2}", "{3}", "{4}"}) {
    publish(json, {&reader});
    live_turn();
  }
  EXPECT_EQ(received(reader).size(), 1u);
  EXPECT_LE(sender_.next_due_ns(), clock_.now_ns + 3 * kMs);
  clock_.now_ns = sender_.next_due_ns();
  live_turn();
  EXPECT_EQ(received(reader), (Texts{R"(["EVENT","a",{1}])", R"(["EVENT","a",{2}])",
                                     R"(["EVENT","a",{3}])", R"(["EVENT","a",{4}])"}));
  EXPECT_EQ(io_.socket(reader.socket).sends_submitted, sends_before + 1);
  EXPECT_EQ(sender_.next_due_ns(), UINT64_MAX);
}

TEST_F(LiveSenderTest, LetsNoQuietStreamWaitForABusyOne) {
  Reader& busy = add_reader("busy");
  Reader& quiet = add_reader("quiet");
  publish("{1}", {&busy});
  live_turn();
  publish("{2}", {&busy, &quiet});
  live_turn();
  EXPECT_EQ(received(busy).size(), 1u);
  EXPECT_EQ(received(quiet), Texts{R"(["EVENT","quiet",{2}])"});
}

TEST_F(LiveSenderTest, NeverWaitsWhenGatheringIsOff) {
  gather_us_ = 0;
  Reader& reader = add_reader("a");
  for (std::size_t i = 1; i <= 3; ++i) {
    publish("{}", {&reader});
    live_turn();
    EXPECT_EQ(received(reader).size(), i);
  }
}

TEST_F(LiveSenderTest, LetsABusyStreamGatherLongerButNotForEver) {
  Reader& reader = add_reader("a");
  publish("{}", {&reader});
  live_turn();
  for (std::size_t i = 0; i < LiveSender::kBusyEvents; ++i) publish("{}", {&reader});
  pass_ms(3);
  live_turn();
  EXPECT_EQ(received(reader).size(), 1u);
  pass_ms(6);
  live_turn();
  EXPECT_EQ(received(reader).size(), 1 + LiveSender::kBusyEvents);
}

TEST_F(LiveSenderTest, SendsAtOnceWhenEnoughIsGathered) {
  Reader& reader = add_reader("a");
  publish("{}", {&reader});
  live_turn();
  publish(std::string(LiveSender::kGatheredBytesMax / 2, 'x'), {&reader});
  live_turn();
  EXPECT_EQ(received(reader).size(), 1u);
  publish(std::string(LiveSender::kGatheredBytesMax / 2, 'y'), {&reader});
  live_turn();
  EXPECT_EQ(received(reader).size(), 3u);
  EXPECT_EQ(sender_.held_event_count(), 0u);
}

TEST_F(LiveSenderTest, WritesAFewStreamsInEachTurnAndAllInTheEnd) {
  std::vector<Reader*> readers;
  for (std::size_t i = 0; i < 3 * LiveSender::kStreamsPerTurn - 1; ++i) {
    readers.push_back(&add_reader(std::to_string(i)));
  }
  const SharedBytes event = SharedBytes::copy_of(as_bytes("{}"));
  sender_.begin_event(event, as_text(event.span()));
  for (Reader* const reader : readers) sender_.add(reader->live);
  EXPECT_TRUE(sender_.work());
  EXPECT_TRUE(sender_.work());
  EXPECT_FALSE(sender_.work());
  pool_.flush();
  for (const Reader* const reader : readers) EXPECT_EQ(received(*reader).size(), 1u);
}

TEST_F(LiveSenderTest, WritesEverythingDueWhenTooMuchIsHeld) {
  std::vector<Reader*> readers;
  for (std::size_t i = 0; i < 2 * LiveSender::kStreamsPerTurn; ++i) {
    readers.push_back(&add_reader(std::to_string(i)));
  }
  for (std::size_t i = 0; i <= LiveSender::kEventsMax; ++i) {
    const SharedBytes event = SharedBytes::copy_of(as_bytes("{}"));
    sender_.begin_event(event, as_text(event.span()));
    for (Reader* const reader : readers) sender_.add(reader->live);
  }
  EXPECT_FALSE(sender_.work());
  EXPECT_EQ(sender_.held_event_count(), 0u);
  pool_.flush();
  for (const Reader* const reader : readers) {
    EXPECT_EQ(received(*reader).size(), LiveSender::kEventsMax + 1);
  }
}

TEST_F(LiveSenderTest, SendsWhatWaitsBeforeAStreamEnds) {
  Reader& reader = add_reader("a");
  publish("{1}", {&reader});
  live_turn();
  publish("{2}", {&reader});
  live_turn();
  sender_.send(reader.live);
  EXPECT_EQ(received(reader).size(), 2u);
  pass_ms(100);
  live_turn();
  EXPECT_EQ(received(reader).size(), 2u);
  EXPECT_EQ(sender_.held_event_count(), 0u);
}

TEST_F(LiveSenderTest, SendsWhatGathersAndWhatIsDueBeforeAShutdown) {
  Reader& gathering = add_reader("a");
  Reader& due = add_reader("b");
  publish("{1}", {&gathering});
  live_turn();
  publish("{2}", {&gathering, &due});
  sender_.send_all();
  pool_.flush();
  EXPECT_EQ(received(gathering).size(), 2u);
  EXPECT_EQ(received(due).size(), 1u);
  EXPECT_EQ(sender_.next_due_ns(), UINT64_MAX);
}

TEST_F(LiveSenderTest, ForgetsStreamsThatGatherAndStreamsThatAreDue) {
  Reader& gathering = add_reader("a");
  Reader& due = add_reader("b");
  Reader& other = add_reader("c");
  publish("{1}", {&gathering});
  live_turn();
  publish("{2}", {&gathering, &due, &other});
  sender_.forget(gathering.live);
  sender_.forget(due.live);
  pass_ms(100);
  live_turn();
  EXPECT_EQ(received(gathering).size(), 1u);
  EXPECT_TRUE(received(due).empty());
  EXPECT_EQ(received(other).size(), 1u);
  EXPECT_EQ(sender_.held_event_count(), 0u);
}

TEST_F(LiveSenderTest, WaitsForNobodyOnceTheLastStreamHasLeft) {
  Reader& reader = add_reader("a");
  publish("{1}", {&reader});
  live_turn();
  publish("{2}", {&reader});
  sender_.forget(reader.live);
  pass_ms(100);
  live_turn();
  EXPECT_EQ(sender_.next_due_ns(), UINT64_MAX);
}

// Each reader must get what was published to it, in order, whatever is forgotten, due or gathered
// meanwhile.
TEST_F(LiveSenderTest, DeliversEverythingOnceAndInOrderWhateverHappens) {
  std::minstd_rand random(7);
  std::map<Reader*, Texts> expected;
  for (int i = 0; i < 40; ++i) add_reader(std::to_string(i));
  for (int step = 0; step < 4'000; ++step) {
    switch (random() % 8) {
      case 0: clock_.now_ns += random() % (4 * kMs); break;
      case 1: sender_.send(readers_[random() % readers_.size()]->live); break;
      case 2: live_turn(); break;
      default: {
        std::string json(random() % 3'000, 'x');
        json.append(std::to_string(step));
        const SharedBytes event = SharedBytes::copy_of(as_bytes(json));
        sender_.begin_event(event, as_text(event.span()));
        for (const auto& reader : readers_) {
          if (random() % 4 != 0) continue;
          sender_.add(reader->live);
          expected[reader.get()].push_back(reader->prefix + json + "]");
        }
      }
    }
    if (step % 50 == 0) settle();
  }
  while (sender_.held_event_count() > 0) {
    pass_ms(1);
    live_turn();
  }
  for (const auto& reader : readers_) EXPECT_EQ(received(*reader), expected[reader.get()]);
}

}  // namespace
}  // namespace gyre::relay
