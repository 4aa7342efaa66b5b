#include "gyre/net/websocket.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "simdjson.h"
#include "support/client_frames.h"

namespace gyre::net {
namespace {

using test::client_frame;
using test::kBinary;
using test::kContinuation;
using test::kFinal;
using test::kPing;
using test::kText;
using test::text_frame;

constexpr std::uint32_t kMessageMax = 64 * 1024;

// Writes down what the reader says, one line each.
class Recorder final : public FrameHandler {
 public:
  bool on_text(std::string_view text) override {
    lines.push_back("text " + std::string(text));
    return --stops_after != 0;
  }
  bool on_binary() override {
    lines.push_back("binary");
    return --stops_after != 0;
  }
  void on_ping(std::string_view payload) override { lines.push_back("ping " + hex(payload)); }
  void on_pong(std::string_view payload) override { lines.push_back("pong " + hex(payload)); }
  void on_close(std::uint16_t code) override { lines.push_back("close " + std::to_string(code)); }

  static std::string hex(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
      text.push_back("0123456789abcdef"[static_cast<std::uint8_t>(c) >> 4]);
      text.push_back("0123456789abcdef"[c & 0xf]);
    }
    return text;
  }

  std::vector<std::string> lines;
  int stops_after = -1;  // Messages until consume() is to stop.
};

using Lines = std::vector<std::string>;

// Gives the reader one piece, in a block of its own so that a sanitizer guards both ends.
WebSocketReader::Result give(WebSocketReader& reader, std::string_view piece, Recorder& recorder,
                             std::uint32_t message_bytes_max = kMessageMax) {
  const std::unique_ptr<std::uint8_t[]> block(new std::uint8_t[piece.size() + 64]);
  std::memcpy(block.get(), piece.data(), piece.size());
  std::memset(block.get() + piece.size(), 0xee, 64);
  return reader.consume({block.get(), piece.size()}, message_bytes_max, recorder);
}

// What came of `bytes`, cut into pieces of the sizes that `next_size` returns.
template <typename NextSize>
Lines read_in_pieces(std::string_view bytes, NextSize next_size, std::uint32_t max = kMessageMax) {
  WebSocketReader reader;
  Recorder recorder;
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(next_size(), bytes.size());
    const auto result = give(reader, bytes.substr(0, size), recorder, max);
    if (result.outcome == WebSocketReader::Outcome::kFailed) {
      recorder.lines.push_back("failed " + std::to_string(static_cast<int>(result.failure)));
      return recorder.lines;
    }
    if (result.outcome == WebSocketReader::Outcome::kClosed) return recorder.lines;
    EXPECT_EQ(result.outcome, WebSocketReader::Outcome::kNeedMore);
    EXPECT_EQ(result.consumed, size);
    bytes.remove_prefix(size);
  }
  EXPECT_EQ(reader.held_bytes(), 0u) << "the input ends between messages";
  return recorder.lines;
}

Lines read_whole(std::string_view bytes, std::uint32_t max = kMessageMax) {
  return read_in_pieces(bytes, [] { return SIZE_MAX; }, max);
}

void expect_however_cut(std::string_view bytes, const Lines& expected,
                        std::uint32_t max = kMessageMax) {
  EXPECT_EQ(read_whole(bytes, max), expected);
  EXPECT_EQ(read_in_pieces(bytes, [] { return 1u; }, max), expected) << "byte by byte";
  std::mt19937 random(20260101);
  for (int round = 0; round < 200; ++round) {
    const auto next_size = [&] { return 1 + random() % (1 + random() % 40); };
    EXPECT_EQ(read_in_pieces(bytes, next_size, max), expected) << "round " << round;
  }
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t index = 0; index + 1 < hex.size(); index += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(index, 2)), nullptr, 16)));
  }
  return bytes;
}

const std::string kRequest =  // What the messages of ws.json say.
    R"(["REQ","é",{"ids":["0000000000000000000000000000000000000000000000000000000000000000"]}])";

// The reader's lines that a vector's "expect" demands.
Lines lines_for(simdjson::dom::element expect, std::string_view id) {
  Lines lines;
  if (std::int64_t code = 0; expect["close"].get(code) == simdjson::SUCCESS) {
    return {id == "WS-10" ? "close 1000" : "failed " + std::to_string(code)};
  }
  if (std::string_view pong; expect["pong"].get(pong) == simdjson::SUCCESS) {
    lines.push_back("ping " + std::string(pong));
  }
  if (simdjson::dom::array text; expect["text"].get(text) == simdjson::SUCCESS) {
    if (id == "WS-16") lines.push_back("pong 7a7a");
    const bool is_notice = std::string_view(text.at(0)) == "NOTICE";
    lines.push_back(is_notice ? "binary" : "text " + kRequest);
  }
  if (simdjson::dom::element then; expect["then"].get(then) == simdjson::SUCCESS) {
    const Lines later = lines_for(then, "");
    lines.insert(lines.end(), later.begin(), later.end());
  }
  return lines;
}

TEST(WebSocketReader, MeetsEveryVectorHoweverItIsCut) {
  simdjson::dom::parser parser;
  const simdjson::dom::element file = parser.load(GYRE_TEST_VECTORS "/ws.json");
  std::size_t count = 0;
  for (const simdjson::dom::element vector : simdjson::dom::array(file["vectors"])) {
    const std::string_view id = vector["id"];
    SCOPED_TRACE(id);
    expect_however_cut(from_hex(vector["hex"]), lines_for(vector["expect"], id));
    ++count;
  }
  EXPECT_EQ(count, 16u);
}

TEST(WebSocketReader, RefusesInvalidUtf8OfTheEventVectors) {
  simdjson::dom::parser parser;
  std::size_t count = 0;
  for (const simdjson::dom::element event :
       simdjson::dom::document_stream(parser.load_many(GYRE_TEST_VECTORS "/events.jsonl"))) {
    std::string_view base64;
    if (event["send_b64"].get(base64) != simdjson::SUCCESS) continue;
    std::string text;
    unsigned bits = 0;
    int bit_count = 0;
    static constexpr std::string_view kAlphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (const char c : base64) {
      const std::size_t digit = kAlphabet.find(c);
      if (digit == std::string_view::npos) break;
      bits = bits << 6 | static_cast<unsigned>(digit);
      bit_count += 6;
      if (bit_count < 8) continue;
      bit_count -= 8;
      text.push_back(static_cast<char>(bits >> bit_count));
    }
    EXPECT_EQ(read_whole(text_frame(text)), (Lines{"failed 1007"}));
    ++count;
  }
  EXPECT_EQ(count, 2u);
}

TEST(WebSocketReader, RefusesWhatIsNoUtf8HoweverItIsCut) {
  for (const std::string_view bad : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                     "\xe2\x82", "\x80", "\xf8\x88\x80\x80\x80"}) {
    expect_however_cut(text_frame("abc" + std::string(bad)), {"failed 1007"});
    expect_however_cut(client_frame(kText, "abc" + std::string(bad.substr(0, 1))) +
                           client_frame(kFinal | kContinuation, bad.substr(1)),
                       {"failed 1007"});
  }
}

TEST(WebSocketReader, PassesCharactersCutByFragments) {
  expect_however_cut(client_frame(kText, "\xf0\x9f") + client_frame(kContinuation, "\xa6") +
                         client_frame(kContinuation, "") +
                         client_frame(kFinal | kContinuation, "\xa4"),
                     {"text \xf0\x9f\xa6\xa4"});
}

TEST(WebSocketReader, PassesLengthsOfEveryForm) {
  for (const std::size_t size : {0u, 1u, 7u, 8u, 125u, 126u, 127u, 4096u, 65535u, 65536u}) {
    std::string text(size, '\0');
    for (std::size_t index = 0; index < size; ++index) {
      text[index] = "abcdefghijklmnopqrstuvw"[index % 23];
    }
    const Lines expected{"text " + text};
    EXPECT_EQ(read_whole(text_frame(text)), expected);
    EXPECT_EQ(read_in_pieces(text_frame(text), [] { return 4093u; }), expected);
  }
}

TEST(WebSocketReader, LeavesReadableBytesBehindAMessage) {
  class Prober final : public FrameHandler {
   public:
    bool on_text(std::string_view text) override {
      for (std::size_t index = 0; index < 64; ++index) sum += text.data()[text.size() + index];
      ++count;
      return true;
    }
    bool on_binary() override { return true; }
    void on_ping(std::string_view) override {}
    void on_pong(std::string_view) override {}
    void on_close(std::uint16_t) override {}
    int sum = 0;
    int count = 0;
  };
  for (const std::size_t first_piece : {1u, 3u, 6u, 7u, 300u}) {
    for (const std::size_t size : {0u, 5u, 200u}) {
      const std::string bytes = text_frame(std::string(size, 'x'));
      WebSocketReader reader;
      Prober prober;
      std::string_view rest = bytes;
      while (!rest.empty()) {
        const std::string_view piece = rest.substr(0, first_piece);
        const std::unique_ptr<std::uint8_t[]> block(new std::uint8_t[piece.size() + 64]());
        std::memcpy(block.get(), piece.data(), piece.size());
        const auto result = reader.consume({block.get(), piece.size()}, kMessageMax, prober);
        ASSERT_EQ(result.outcome, WebSocketReader::Outcome::kNeedMore);
        rest.remove_prefix(piece.size());
      }
      EXPECT_EQ(prober.count, 1);
    }
  }
}

TEST(WebSocketReader, HandsOnAWholeMessageWithoutCopyingIt) {
  class Locator final : public FrameHandler {
   public:
    bool on_text(std::string_view text) override {
      place = text.data();
      return true;
    }
    bool on_binary() override { return true; }
    void on_ping(std::string_view) override {}
    void on_pong(std::string_view) override {}
    void on_close(std::uint16_t) override {}
    const char* place = nullptr;
  };
  std::string bytes = text_frame("hello") + std::string(64, '\0');
  WebSocketReader reader;
  Locator locator;
  const auto result = reader.consume(
      {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size() - 64}, kMessageMax, locator);
  EXPECT_EQ(result.outcome, WebSocketReader::Outcome::kNeedMore);
  EXPECT_EQ(locator.place, bytes.data() + 6);
  EXPECT_EQ(reader.held_bytes(), 0u);
}

TEST(WebSocketReader, AllowsMessagesOfExactlyTheLimit) {
  expect_however_cut(text_frame(std::string(300, 'a')), {"text " + std::string(300, 'a')}, 300);
  expect_however_cut(text_frame(std::string(301, 'a')), {"failed 1009"}, 300);
  const std::string fragments = client_frame(kText, std::string(150, 'a')) +
                                client_frame(kContinuation, std::string(100, 'a'));
  expect_however_cut(fragments + client_frame(kFinal | kContinuation, std::string(50, 'a')),
                     {"text " + std::string(300, 'a')}, 300);
  expect_however_cut(fragments + client_frame(kFinal | kContinuation, std::string(51, 'a')),
                     {"failed 1009"}, 300);
  expect_however_cut(client_frame(kFinal | kBinary, std::string(301, 'a')), {"failed 1009"}, 300);
}

TEST(WebSocketReader, JudgesTheProtocolBeforeTheSize) {
  const std::string too_long(400, 'a');
  expect_however_cut(client_frame(kFinal | kContinuation, too_long), {"failed 1002"}, 300);
  expect_however_cut(client_frame(kText, "a") + text_frame(too_long), {"failed 1002"}, 300);
  expect_however_cut(client_frame(0xf0 | kText, too_long), {"failed 1002"}, 300);
}

TEST(WebSocketReader, AllocatesNothingForAnAnnouncedLength) {
  WebSocketReader reader;
  Recorder recorder;
  const std::string frame = text_frame(std::string(60'000, 'a'));
  EXPECT_EQ(give(reader, frame.substr(0, 20), recorder).outcome,
            WebSocketReader::Outcome::kNeedMore);
  EXPECT_LT(reader.held_bytes(), 1024u);
  EXPECT_EQ(give(reader, frame.substr(20, 4096), recorder).outcome,
            WebSocketReader::Outcome::kNeedMore);
  EXPECT_LT(reader.held_bytes(), 10'000u);
}

TEST(WebSocketReader, HoldsNothingOfABinaryMessage) {
  WebSocketReader reader;
  Recorder recorder;
  const std::string frame = client_frame(kFinal | kBinary, std::string(60'000, 'a'));
  EXPECT_EQ(give(reader, frame.substr(0, 50'000), recorder).outcome,
            WebSocketReader::Outcome::kNeedMore);
  EXPECT_LT(reader.held_bytes(), 1024u);
  EXPECT_EQ(give(reader, frame.substr(50'000), recorder).outcome,
            WebSocketReader::Outcome::kNeedMore);
  EXPECT_EQ(recorder.lines, (Lines{"binary"}));
  EXPECT_EQ(reader.held_bytes(), 0u);
}

TEST(WebSocketReader, RefusesCloseCodesThatMayNotBeSent) {
  for (const int code : {0, 999, 1004, 1005, 1006, 1015, 1016, 2000, 2999, 5000, 65535}) {
    EXPECT_EQ(read_whole(test::close_frame(static_cast<std::uint16_t>(code))),
              (Lines{"failed 1002"}))
        << code;
  }
  for (const int code : {1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 4999}) {
    EXPECT_EQ(read_whole(test::close_frame(static_cast<std::uint16_t>(code))),
              (Lines{"close " + std::to_string(code)}));
  }
  EXPECT_EQ(read_whole(client_frame(kFinal | test::kClose, "")), (Lines{"close 1005"}));
  EXPECT_EQ(read_whole(client_frame(kFinal | test::kClose, "\x03\xe8\xff")),
            (Lines{"failed 1007"}));
}

TEST(WebSocketReader, RefusesLengthsThatAreNotMinimal) {
  expect_however_cut(from_hex("81fe0005000000006161616161"), {"failed 1002"});
  expect_however_cut(from_hex("81ff0000000000000005000000006161616161"), {"failed 1002"});
}

TEST(WebSocketReader, RefusesEveryReservedBitAndOpcode) {
  for (const int first :
       {0xc1, 0xa1, 0x91, 0x83, 0x84, 0x85, 0x86, 0x87, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f, 0x08, 0x0a}) {
    expect_however_cut(client_frame(first, "a"), {"failed 1002"});
  }
}

TEST(WebSocketReader, StopsAfterTheMessageWhereTheHandlerSaysSo) {
  const std::string two = text_frame("one") + text_frame("two");
  WebSocketReader reader;
  Recorder recorder;
  recorder.stops_after = 1;
  const auto result = give(reader, two, recorder);
  EXPECT_EQ(result.outcome, WebSocketReader::Outcome::kStopped);
  EXPECT_EQ(result.consumed, text_frame("one").size());
  EXPECT_EQ(give(reader, two.substr(result.consumed), recorder).outcome,
            WebSocketReader::Outcome::kNeedMore);
  EXPECT_EQ(recorder.lines, (Lines{"text one", "text two"}));
}

TEST(WebSocketReader, TakesNothingBehindAClose) {
  WebSocketReader reader;
  Recorder recorder;
  const auto result = give(reader, test::close_frame(1001) + text_frame("late"), recorder);
  EXPECT_EQ(result.outcome, WebSocketReader::Outcome::kClosed);
  EXPECT_EQ(recorder.lines, (Lines{"close 1001"}));
}

TEST(WebSocketReader, AnswersPingsBetweenFragments) {
  expect_however_cut(client_frame(kText, "a") +
                         client_frame(kFinal | kPing, std::string(125, 'p')) +
                         client_frame(kFinal | kContinuation, "b") + text_frame("c"),
                     {"ping " + Recorder::hex(std::string(125, 'p')), "text ab", "text c"});
}

TEST(WebSocketFrames, HaveTheHeadersOfTheRfc) {
  std::uint8_t header[kFrameHeaderBytesMax];
  const auto encoded = [&](std::uint64_t size) {
    const std::size_t bytes = encode_text_header(size, Encoding::kPlain, header);
    return Recorder::hex({reinterpret_cast<const char*>(header), bytes});
  };
  EXPECT_EQ(encoded(0), "8100");
  EXPECT_EQ(encoded(125), "817d");
  EXPECT_EQ(encoded(126), "817e007e");
  EXPECT_EQ(encoded(65535), "817effff");
  EXPECT_EQ(encoded(65536), "817f0000000000010000");
}

TEST(WebSocketFrames, ControlFramesCarryCodeAndReason) {
  std::string out;
  append_ping_frame(out);
  append_pong_frame(out, std::string_view("\0\xff", 2));
  append_close_frame(out, CloseCode::kPolicy, "slow");
  append_close_echo(out, 1000);
  append_close_echo(out, 1005);
  EXPECT_EQ(Recorder::hex(out),
            "8900"
            "8a0200ff"
            "880603f0736c6f77"
            "880203e8"
            "8800");
}

TEST(WebSocketFrames, ACloseReasonIsCutBetweenCharacters) {
  std::string out;
  append_close_frame(out, CloseCode::kPolicy, std::string(122, 'a') + "é");
  const auto frames = test::server_frames(out);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].payload.substr(2), std::string(122, 'a'));
}

}  // namespace
}  // namespace gyre::net
