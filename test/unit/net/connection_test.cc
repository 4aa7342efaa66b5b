#include "gyre/net/connection.h"

#include <gtest/gtest.h>

#include <string>

#include "support/pool_fixture.h"

namespace gyre::net {
namespace {

using test::client_frame;
using test::close_frame;
using test::kFinal;
using test::kUpgrade;
using test::text_frame;
using Strings = std::vector<std::string>;

class ConnectionTest : public test::PoolFixture {
 protected:
  void echo_messages() {
    relay_.message = [](Connection& connection, std::string_view text) {
      connection.send_text({"[\"", text, "\"]"});
    };
  }
};

TEST_F(ConnectionTest, UpgradesAndAnswersMessagesInOrder) {
  echo_messages();
  const int client = open();
  EXPECT_EQ(pool_.open_count(), 1u);
  give(client, text_frame("a") + text_frame("b"));
  EXPECT_EQ(texts(client), (Strings{R"(["a"])", R"(["b"])"}));
  EXPECT_EQ(pool_.counters().messages_received, 2u);
  EXPECT_EQ(pool_.counters().accepted, 1u);
}

TEST_F(ConnectionTest, TakesFramesThatCameWithTheUpgrade) {
  echo_messages();
  relay_.opened = [](Connection& connection) { connection.send_text({"hello"}); };
  const int client = connect();
  give(client, std::string(kUpgrade) + text_frame("p"));
  EXPECT_EQ(texts(client), (Strings{"hello", R"(["p"])"}));
  const int other = connect();
  const std::string frame = text_frame("q");
  give(other, std::string(kUpgrade) + frame.substr(0, 3));
  give(other, frame.substr(3));
  EXPECT_EQ(texts(other), (Strings{"hello", R"(["q"])"}));
  const int third = connect();
  give(third, std::string(kUpgrade) + text_frame("r") + close_frame(1000));
  EXPECT_EQ(texts(third), (Strings{"hello", R"(["r"])"}));
  EXPECT_EQ(frames(third).back().close_code(), 1000);
  EXPECT_TRUE(is_closed(third));
}

TEST_F(ConnectionTest, TakesTheUpgradeByteByByte) {
  echo_messages();
  const int client = connect();
  for (const char c : std::string(kUpgrade) + text_frame("p")) give(client, {&c, 1});
  EXPECT_EQ(texts(client), (Strings{R"(["p"])"}));
}

TEST_F(ConnectionTest, SendsOnceATurnHoweverMuchIsQueued) {
  relay_.message = [](Connection& connection, std::string_view) {
    for (int count = 0; count < 100; ++count) connection.send_text({"event"});
  };
  const int client = open();
  const int before = io_.socket(client).sends_submitted;
  give(client, text_frame("go"));
  EXPECT_EQ(io_.socket(client).sends_submitted, before + 1);
  EXPECT_EQ(io_.socket(client).slices_sending, 1u);
  EXPECT_EQ(texts(client).size(), 100u);
}

TEST_F(ConnectionTest, SendsLargeBodiesByReference) {
  const std::string body(10'000, 'b');
  const SharedBytes shared = SharedBytes::copy_of(as_bytes(body));
  relay_.message = [&](Connection& connection, std::string_view) {
    SharedBody whole{.text = as_text(shared.span()), .owner = &shared};
    SharedBody start{.text = as_text(shared.span()).substr(0, 10), .owner = &shared};
    connection.send_text_shared("<", whole, ">");
    connection.send_text_shared("(", start, ")");
  };
  const int client = open();
  give(client, text_frame("go"));
  EXPECT_EQ(io_.socket(client).slices_sending, 3u);
  EXPECT_EQ(texts(client), (Strings{"<" + body + ">", "(bbbbbbbbbb)"}));
}

TEST_F(ConnectionTest, AnswersPingsWithTheirPayload) {
  const int client = open();
  give(client, client_frame(kFinal | test::kPing, "otter"));
  ASSERT_EQ(frames(client).size(), 1u);
  EXPECT_EQ(frames(client)[0].opcode, test::kPong);
  EXPECT_EQ(frames(client)[0].payload, "otter");
}

TEST_F(ConnectionTest, TellsTheRelayOfBinaryMessages) {
  const int client = open();
  give(client, client_frame(kFinal | test::kBinary, "\x01\x02"));
  EXPECT_EQ(texts(client), (Strings{R"(["NOTICE","invalid: binary"])"}));
  EXPECT_TRUE(last().is_open());
}

TEST_F(ConnectionTest, EchoesThePeersCloseAndEndsTheConnection) {
  for (const int code : {1000, 1001, 3999}) {
    const int client = open();
    give(client, close_frame(static_cast<std::uint16_t>(code)));
    EXPECT_EQ(frames(client).back().close_code(), code);
    EXPECT_TRUE(is_closed(client));
  }
  const int client = open();
  give(client, client_frame(kFinal | test::kClose, ""));
  EXPECT_EQ(frames(client).back().payload, "");
  EXPECT_TRUE(is_closed(client));
  EXPECT_EQ(relay_.closed_count(), 4);
}

TEST_F(ConnectionTest, EndsWithTheCodeOfWhatThePeerDidWrong) {
  const std::pair<std::string, int> cases[] = {
      {client_frame(0xc1, "a"), 1002},
      {text_frame("\xff"), 1007},
      {text_frame(std::string(limits_.message_bytes + 1, 'a')), 1009},
  };
  for (const auto& [bytes, code] : cases) {
    const int client = open();
    give(client, bytes);
    EXPECT_EQ(frames(client).back().close_code(), code);
    give(client, text_frame("ignored"));
    EXPECT_FALSE(is_closed(client)) << "a reset would destroy the Close frame";
    pass_s(2);
    EXPECT_TRUE(is_closed(client));
  }
  EXPECT_EQ(relay_.messages, Strings{});
  EXPECT_EQ(pool_.counters().protocol_errors, 3u);
}

TEST_F(ConnectionTest, EndsAtOnceWhenThePeerEndsAfterAFailure) {
  const int client = open();
  give(client, client_frame(0xc1, "a"));
  io_.end_peer(client);
  settle();
  EXPECT_TRUE(is_closed(client));
}

TEST_F(ConnectionTest, KeepsDiscardingInputUntilTheCloseTimeout) {
  const int client = open();
  give(client, client_frame(0xc1, "a"));
  for (int step = 0; step < 16; ++step) {
    if (is_closed(client)) break;
    give(client, "more and more");
    pass_s(0.3);
  }
  EXPECT_FALSE(is_closed(client));
  pass_s(1);
  EXPECT_TRUE(is_closed(client)) << "5 s in all, however much comes";
}

TEST_F(ConnectionTest, WaitsForThePeersCloseAfterItsOwn) {
  const int client = open();
  last().send_text({"last words"});
  last().close(CloseCode::kPolicy, "enough");
  last().send_text({"too late"});
  settle();
  EXPECT_EQ(texts(client), Strings{"last words"});
  EXPECT_EQ(frames(client).back().close_code(), 1008);
  EXPECT_EQ(frames(client).back().payload.substr(2), "enough");
  EXPECT_EQ(relay_.closed_count(), 1);
  EXPECT_FALSE(is_closed(client));
  give(client, client_frame(kFinal | test::kPing, "x") + text_frame("ignored"));
  EXPECT_FALSE(is_closed(client));
  give(client, close_frame(1008));
  EXPECT_TRUE(is_closed(client));
  EXPECT_EQ(frames(client).size(), 2u) << "nothing behind the Close frame";
  EXPECT_EQ(relay_.messages, Strings{});
}

TEST_F(ConnectionTest, StopsWaitingForThePeersClose) {
  const int client = open();
  last().close(CloseCode::kPolicy, "");
  pass_s(4.8);
  EXPECT_FALSE(is_closed(client));
  pass_s(0.4);
  EXPECT_TRUE(is_closed(client));
}

TEST_F(ConnectionTest, EndsWhenThePeerEndsOrResets) {
  const int one = open();
  const int two = open();
  io_.end_peer(one);
  io_.reset_peer(two);
  settle();
  EXPECT_TRUE(is_closed(one));
  EXPECT_TRUE(is_closed(two));
  EXPECT_EQ(relay_.closed_count(), 2);
}

TEST_F(ConnectionTest, SendsItsAnswersToAPeerThatHasEndedItsSide) {
  relay_.message = [](Connection& connection, std::string_view) {
    connection.send_text({"answer"});
  };
  const int client = open();
  io_.socket(client).sends = test::FakeIo::Sends::kHold;
  io_.deliver(client, text_frame("question"));
  io_.end_peer(client);
  turn();
  EXPECT_FALSE(is_closed(client));
  io_.complete_send(client);
  settle();
  EXPECT_EQ(texts(client), Strings{"answer"});
  EXPECT_EQ(frames(client).size(), 1u) << "no Close where none came";
  EXPECT_TRUE(is_closed(client));
}

TEST_F(ConnectionTest, HandsOnWhatWasKeptBeforeThePeerEnded) {
  relay_.message = [](Connection& connection, std::string_view) { connection.pause_reading(); };
  const int client = open();
  io_.deliver(client, text_frame("one") + text_frame("two"));
  io_.end_peer(client);
  settle();
  EXPECT_EQ(relay_.messages, Strings{"one"});
  EXPECT_FALSE(is_closed(client));
  relay_.message = nullptr;
  last().resume_reading();
  settle();
  EXPECT_EQ(relay_.messages, (Strings{"one", "two"}));
  EXPECT_TRUE(is_closed(client));
}

TEST_F(ConnectionTest, EndsWhenASendIsCutShort) {
  const int client = open();
  io_.socket(client).sends = test::FakeIo::Sends::kHold;
  last().send_text({"hello"});
  settle();
  io_.complete_send(client, 3);
  settle();
  EXPECT_TRUE(is_closed(client));
}

TEST_F(ConnectionTest, WaitsForTheSendBeforeItClosesADroppedSocket) {
  const int client = open();
  io_.socket(client).sends = test::FakeIo::Sends::kHold;
  last().send_text({"hello"});
  turn();
  last().drop();
  pool_.flush();
  EXPECT_FALSE(is_closed(client)) << "the kernel may still read the buffers";
  settle();
  EXPECT_TRUE(is_closed(client));
}

TEST_F(ConnectionTest, IsFoundUntilItsSlotIsFree) {
  const int client = open();
  const ConnectionId id = relay_.ids.back();
  EXPECT_NE(pool_.find(id), nullptr);
  EXPECT_EQ(pool_.find({id.slot, id.generation + 1}), nullptr);
  EXPECT_EQ(pool_.find({99'999, 1}), nullptr);
  give(client, close_frame(1000));
  EXPECT_EQ(pool_.find(id), nullptr);
  open();
  EXPECT_EQ(pool_.find(id), nullptr) << "the slot serves another";
  EXPECT_EQ(relay_.ids.back().slot, id.slot);
}

TEST_F(ConnectionTest, DropsASlowClientAtItsLimitAndNobodyElse) {
  limits_.send_queue_bytes = 100'000;
  const std::string event(4000, 'x');
  const int slow = open();
  Connection& slow_connection = last();
  const int other = open();
  Connection& other_connection = last();
  io_.socket(slow).sends = test::FakeIo::Sends::kHold;
  std::uint64_t most = 0;
  for (int count = 0; count < 200; ++count) {
    slow_connection.send_text({event});
    other_connection.send_text({event});
    most = std::max(most, slow_connection.queued_bytes());
    turn();
  }
  settle();
  EXPECT_LE(most, 100'000u + 4004u);
  EXPECT_TRUE(is_closed(slow));
  EXPECT_EQ(pool_.counters().slow_client_drops, 1u);
  EXPECT_EQ(texts(other).size(), 200u);
  EXPECT_EQ(relay_.closed_count(), 1);
}

TEST_F(ConnectionTest, SendsAMessageLargerThanTheLimitToAnIdleClient) {
  limits_.send_queue_bytes = 1000;
  const int client = open();
  last().send_text({std::string(5000, 'x')});
  settle();
  EXPECT_EQ(texts(client).size(), 1u);
  EXPECT_TRUE(last().is_open());
}

TEST_F(ConnectionTest, DropsAClientWhoseSendTakesTooLong) {
  const int client = open();
  io_.socket(client).sends = test::FakeIo::Sends::kHold;
  last().send_text({"hello"});
  settle();
  limits_.ping_s = 1000;
  pass_s(29);
  EXPECT_FALSE(is_closed(client));
  pass_s(1.5);
  EXPECT_TRUE(is_closed(client));
  EXPECT_EQ(pool_.counters().slow_client_drops, 1u);
}

TEST_F(ConnectionTest, SaysWhenALongQueueHasDrained) {
  const int client = open();
  io_.socket(client).sends = test::FakeIo::Sends::kHold;
  last().send_text({std::string(50'000, 'x')});
  settle();
  last().send_text({std::string(50'000, 'x')});
  settle();
  EXPECT_EQ(last().queued_bytes(), 100'008u);
  io_.socket(client).sends = test::FakeIo::Sends::kComplete;
  io_.complete_send(client);
  settle();
  EXPECT_EQ(relay_.drained, 1);
  EXPECT_EQ(last().queued_bytes(), 0u);
}

TEST_F(ConnectionTest, PausedReadingDeliversNothingAndLosesNothing) {
  const int client = open();
  relay_.message = [](Connection& connection, std::string_view text) {
    if (text == "stop") connection.pause_reading();
  };
  give(client, text_frame("a") + text_frame("stop") + text_frame("b") + text_frame("stop"));
  EXPECT_EQ(relay_.messages, (Strings{"a", "stop"}));
  EXPECT_TRUE(last().is_reading_paused());
  EXPECT_EQ(io_.socket(client).receive, nullptr) << "the receive has been cancelled";
  give(client, text_frame("c"));
  EXPECT_EQ(relay_.messages.size(), 2u);
  last().resume_reading();
  settle();
  EXPECT_EQ(relay_.messages, (Strings{"a", "stop", "b", "stop"})) << "stops again in mid-replay";
  last().resume_reading();
  settle();
  EXPECT_EQ(relay_.messages, (Strings{"a", "stop", "b", "stop", "c"}));
}

TEST_F(ConnectionTest, KeepsBytesThatWereUnderWayWhenReadingWasPaused) {
  const int client = open();
  last().pause_reading();
  io_.deliver(client, text_frame("late"));
  settle();
  EXPECT_EQ(relay_.messages, Strings{});
  last().resume_reading();
  settle();
  EXPECT_EQ(relay_.messages, Strings{"late"});
}

TEST_F(ConnectionTest, ResumingBeforeTheCancelHasCompletedReceivesAgain) {
  const int client = open();
  last().pause_reading();
  last().resume_reading();
  last().pause_reading();
  last().resume_reading();
  settle();
  give(client, text_frame("a"));
  EXPECT_EQ(relay_.messages, Strings{"a"});
}

TEST_F(ConnectionTest, GivesOthersTheirTurnAmongManySmallMessages) {
  const int busy = open();
  const int quiet = open();
  std::string many;
  for (int count = 0; count < 500; ++count) many += text_frame("busy");
  io_.deliver(busy, many);
  io_.deliver(quiet, text_frame("quiet"));
  turn();
  EXPECT_LE(relay_.messages.size(), 2 * Connection::kMessagesPerPass + 1)
      << "one receive, one work()";
  EXPECT_NE(std::find(relay_.messages.begin(), relay_.messages.end(), "quiet"),
            relay_.messages.end());
  settle();
  EXPECT_EQ(relay_.messages.size(), 501u);
}

TEST_F(ConnectionTest, BoundsWhatItKeeps) {
  const int client = open();
  std::string many;
  for (int count = 0; count < 600; ++count) many += text_frame("");
  for (int piece = 0; piece < 40; ++piece) io_.deliver(client, many);
  turn();
  const int receives = io_.socket(client).receives_submitted;
  EXPECT_EQ(io_.socket(client).receive, nullptr) << "over the limit the socket is not read";
  settle();
  EXPECT_EQ(relay_.messages.size(), 40u * 600u);
  EXPECT_NE(io_.socket(client).receive, nullptr);
  EXPECT_EQ(io_.socket(client).receives_submitted, receives + 1);
}

TEST_F(ConnectionTest, IsPingedWhenNothingWasSentAndDroppedWithoutAnswer) {
  const int client = open();
  pass_s(29.5);
  EXPECT_EQ(frames(client).size(), 0u);
  pass_s(1);
  ASSERT_EQ(frames(client).size(), 1u);
  EXPECT_EQ(frames(client)[0].opcode, test::kPing);
  pass_s(29);
  EXPECT_FALSE(is_closed(client));
  pass_s(1);
  EXPECT_TRUE(is_closed(client));
  EXPECT_EQ(pool_.counters().pong_timeouts, 1u);
}

TEST_F(ConnectionTest, ThatAnswersPingsLivesForEver) {
  const int client = open();
  std::size_t answered = 0;
  for (int step = 0; step < 360; ++step) {
    pass_s(10);
    if (frames(client).size() == answered) continue;
    answered = frames(client).size();
    give(client, client_frame(kFinal | test::kPong, ""));
  }
  EXPECT_FALSE(is_closed(client));
  EXPECT_GE(answered, 90u) << "an hour of pings, no more than 40 s apart";
}

TEST_F(ConnectionTest, ThatVanishedIsDroppedEvenWhileEventsAreSentToIt) {
  const int client = open();
  Connection& connection = last();
  for (int second = 0; second < 62 && !is_closed(client); ++second) {
    connection.send_text({"event"});
    pass_s(1);
  }
  EXPECT_TRUE(is_closed(client)) << "ping interval and pong timeout are 60 s";
  EXPECT_EQ(pool_.counters().pong_timeouts, 1u);
}

TEST_F(ConnectionTest, ThatIsPausedIsNotTakenForDead) {
  const int client = open();
  last().pause_reading();
  pass_s(300);
  EXPECT_FALSE(is_closed(client));
  last().resume_reading();
  pass_s(29);
  EXPECT_FALSE(is_closed(client));
}

TEST_F(ConnectionTest, TrafficMovesNoTimer) {
  const int client = open();
  const std::uint64_t deadline = timers_.next_deadline_ns();
  for (int count = 0; count < 20; ++count) {
    clock_.now_ns += 500'000'000;
    give(client, text_frame("a"));
    last().send_text({"b"});
    settle();
  }
  EXPECT_LE(timers_.next_deadline_ns(), deadline + runtime::TimerWheel::kTickNs);
}

TEST_F(ConnectionTest, IsSafeToEndFromWithinAMessage) {
  const Strings words = {"close", "drop", "pause", "closeall", "dropall"};
  relay_.message = [this](Connection& connection, std::string_view text) {
    if (text == "close") connection.close(CloseCode::kPolicy, "x");
    if (text == "drop") connection.drop();
    if (text == "pause") connection.pause_reading();
    if (text == "closeall") pool_.close_all(CloseCode::kGoingAway, "");
    if (text == "dropall") pool_.drop_all();
    connection.send_text({"said ", text});
  };
  for (const std::string& word : words) {
    relay_.messages.clear();
    const int client = open();
    give(client, text_frame(word) + text_frame("next"));
    EXPECT_EQ(relay_.messages, Strings{word});
    // The same from kept input.
    const int paused = open();
    last().pause_reading();
    give(paused, text_frame(word) + text_frame("next"));
    relay_.messages.clear();
    last().resume_reading();
    settle();
    EXPECT_EQ(relay_.messages, Strings{word});
    pool_.drop_all();
    settle();
  }
}

TEST_F(ConnectionTest, MayBeEndedFromOnOpen) {
  relay_.opened = [](Connection& connection) { connection.close(CloseCode::kTryAgainLater, ""); };
  const int client = open();
  EXPECT_EQ(frames(client).back().close_code(), 1013);
  relay_.opened = [](Connection& connection) { connection.drop(); };
  const int dropped = connect();
  give(dropped, std::string(kUpgrade) + text_frame("a"));
  EXPECT_TRUE(is_closed(dropped));
  EXPECT_EQ(relay_.messages, Strings{});
}

TEST_F(ConnectionTest, ClosesAllForAShutdown) {
  const int one = open();
  const int two = open();
  const int greeting = connect();
  pool_.stop_listening();
  pool_.close_all(CloseCode::kGoingAway, "restart");
  settle();
  EXPECT_EQ(frames(one).back().close_code(), 1001);
  EXPECT_TRUE(is_closed(greeting));
  EXPECT_FALSE(pool_.is_empty());
  give(one, close_frame(1001));
  EXPECT_TRUE(is_closed(one));
  pass_s(5.1);
  EXPECT_TRUE(is_closed(two));
  EXPECT_TRUE(pool_.is_empty());
}

TEST_F(ConnectionTest, VisitsOpenConnections) {
  open();
  connect();
  const int gone = open();
  give(gone, close_frame(1000));
  open();
  std::size_t count = 0;
  pool_.for_each_open([&](Connection& connection) {
    EXPECT_TRUE(connection.is_open());
    ++count;
  });
  EXPECT_EQ(count, 2u);
}

TEST_F(ConnectionTest, GrowsOverManySlots) {
  limits_.connections_per_ip = 0;
  for (int count = 0; count < 700; ++count) open();
  EXPECT_EQ(pool_.open_count(), 700u);
}

}  // namespace
}  // namespace gyre::net
