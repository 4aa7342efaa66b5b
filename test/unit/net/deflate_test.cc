// permessage-deflate (RFC 7692): both directions, against zlib itself.
#include <gtest/gtest.h>
#include <zlib.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "net/deflater.h"
#include "net/inflater.h"
#include "support/pool_fixture.h"

namespace gyre::net {
namespace {

using test::client_frame;
using test::kContinuation;
using test::kDeflated;
using test::kFinal;
using test::kPing;
using test::kText;

constexpr std::uint32_t kMax = 64 * 1024;
constexpr int kDeflatedText = kFinal | kDeflated | kText;

// As a client compresses a message: raw, flushed, without the tail.
std::string deflate_as_client(std::string_view text, int level = 6, int window_bits = 15) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, level, Z_DEFLATED, -window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + text.size() / 100 + 100, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_SYNC_FLUSH), Z_OK);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  EXPECT_TRUE(out.ends_with(std::string_view("\0\0\xff\xff", 4)));
  out.resize(out.size() - 4);
  return out;
}

// As a client with this window inflates a message; "broken" if it cannot.
std::string inflate_as_client(std::string message, int window_bits = 15) {
  message.append("\0\0\xff\xff", 4);
  z_stream z{};
  EXPECT_EQ(inflateInit2(&z, -window_bits), Z_OK);
  std::string out(4 * 1024 * 1024, '\0');
  z.next_in = reinterpret_cast<Bytef*>(message.data());
  z.avail_in = static_cast<uInt>(message.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&z, Z_SYNC_FLUSH);
  out.resize(out.size() - z.avail_out);
  inflateEnd(&z);
  return status == Z_OK && z.avail_in == 0 ? out : "broken";
}

std::string random_text(std::mt19937& random, std::size_t size) {
  std::string text;
  while (text.size() < size) {
    if (random() % 3 == 0 && text.size() > 10) {
      text.append(text.substr(random() % text.size(), 1 + random() % 50));
    } else {
      text.push_back(static_cast<char>(' ' + random() % 90));
    }
  }
  text.resize(size);
  return text;
}

std::string inflated(Inflater& inflater, std::string_view message, std::uint32_t max = kMax) {
  // In a block of its own, so that a sanitizer guards its end.
  const std::vector<std::uint8_t> block(message.begin(), message.end());
  const Inflater::Result result = inflater.inflate(block, max);
  switch (result.outcome) {
    case Inflater::Outcome::kTooBig: return "too big";
    case Inflater::Outcome::kBroken: return "broken";
    case Inflater::Outcome::kDone: break;
  }
  for (std::size_t i = 0; i < Inflater::kPaddingBytes; ++i) {
    EXPECT_EQ(result.bytes.data()[result.bytes.size() + i], 0);
  }
  return std::string(as_text(result.bytes));
}

TEST(Inflater, UndoesWhatClientsDoWhateverTheirLevelAndWindow) {
  Inflater inflater;
  std::mt19937 random(1);
  for (const std::size_t size : {0u, 1u, 100u, 5'000u, 65'536u}) {
    const std::string text = random_text(random, size);
    for (int level = 0; level <= 9; ++level) {
      for (const int bits : {9, 12, 15}) {
        EXPECT_EQ(inflated(inflater, deflate_as_client(text, level, bits)), text);
      }
    }
  }
}

TEST(Inflater, TakesTheExamplesOfTheRfc) {
  Inflater inflater;
  using namespace std::string_view_literals;
  EXPECT_EQ(inflated(inflater, "\xf2\x48\xcd\xc9\xc9\x07\x00"sv), "Hello");      // 7.2.3.1
  EXPECT_EQ(inflated(inflater, "\x00\x05\x00\xfa\xffHello\x00"sv), "Hello");     // 7.2.3.3
  EXPECT_EQ(inflated(inflater, "\xf3\x48\xcd\xc9\xc9\x07\x00\x00"sv), "Hello");  // 7.2.3.4
  EXPECT_EQ(inflated(inflater, "\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00"sv),
            "Hello");                           // 7.2.3.5
  EXPECT_EQ(inflated(inflater, "\x00"sv), "");  // 7.2.3.6
  // 7.2.3.2 refers to the message before it, which was not agreed on.
  EXPECT_EQ(inflated(inflater, "\xf2\x00\x11\x00\x00"sv), "broken");
}

TEST(Inflater, GoesOnAfterABlockThatSaysItIsTheLast) {
  Inflater inflater;
  using namespace std::string_view_literals;
  // The second block refers to what the first one brought: "Hello" by distance 5.
  const std::string both =
      std::string("\xf3\x48\xcd\xc9\xc9\x07\x00"sv) + std::string("\x02\x13\x00\x00"sv);
  EXPECT_EQ(inflated(inflater, both), "HelloHello");
}

TEST(Inflater, StopsAtTheLimit) {
  Inflater inflater;
  for (const std::uint32_t max : {1u, 1'000u, 16'384u, 100'000u}) {
    EXPECT_EQ(inflated(inflater, deflate_as_client(std::string(max, ' ')), max),
              std::string(max, ' '));
    EXPECT_EQ(inflated(inflater, deflate_as_client(std::string(max + 1, ' ')), max), "too big");
  }
  EXPECT_EQ(inflated(inflater, deflate_as_client(std::string(64 << 20, ' '))), "too big");
}

TEST(Inflater, KeepsNothingFromOneMessageToTheNext) {
  Inflater inflater;
  EXPECT_EQ(inflated(inflater, deflate_as_client(std::string(1'000, 'a'))),
            std::string(1'000, 'a'));
  EXPECT_EQ(inflated(inflater, std::string_view("\xff\xff", 2)), "broken");
  EXPECT_EQ(inflated(inflater, deflate_as_client("b")), "b");
}

TEST(Inflater, CallsWhatIsCutShortBroken) {
  Inflater inflater;
  std::mt19937 random(2);
  const std::string text = random_text(random, 2'000);
  const std::string message = deflate_as_client(text);
  for (std::size_t size = 0; size < message.size(); ++size) {
    EXPECT_NE(inflated(inflater, message.substr(0, size)), text) << size;
  }
}

TEST(Deflater, PiecesMakeAMessageThatClientsInflate) {
  Deflater deflater;
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::string body = random_text(random, 256 + random() % 8'000);
    const SharedBytes deflated = deflater.deflate(body);
    ASSERT_FALSE(deflated.is_null());
    EXPECT_LT(deflated.size(), body.size());
    const auto header = Deflater::stored_header(3);
    const std::string stored(header.data(), header.size());
    const std::string message =
        stored + "<a>" + std::string(as_text(deflated.span())) + stored.substr(1) + "<b>" + '\0';
    EXPECT_EQ(inflate_as_client(message), "<a>" + body + "<b>");
  }
}

TEST(Deflater, LeavesAloneWhatIsNotWorthIt) {
  Deflater deflater;
  EXPECT_TRUE(deflater.deflate(std::string(Deflater::kBodyBytesMin - 1, 'a')).is_null());
  EXPECT_FALSE(deflater.deflate(std::string(Deflater::kBodyBytesMin, 'a')).is_null());
  std::mt19937 random(4);
  std::string noise(5'000, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  EXPECT_TRUE(deflater.deflate(noise).is_null());
}

class DeflateTest : public test::PoolFixture {
 protected:
  DeflateTest() { limits_.is_deflate_offered = true; }

  int open_with(std::string_view offer) {
    const int socket = connect();
    std::string request(test::kUpgrade.substr(0, test::kUpgrade.size() - 2));
    give(socket, request.append("Sec-WebSocket-Extensions: ").append(offer).append("\r\n\r\n"));
    return socket;
  }
  int open_deflating() { return open_with("permessage-deflate"); }
  int close_code(int socket) {
    const auto all = frames(socket);
    return all.empty() ? 0 : all.back().close_code();
  }
  // The code that the connection closes with after these frames.
  int code_after(std::initializer_list<std::string> given) {
    const int socket = open_deflating();
    for (const std::string& frame : given) give(socket, frame);
    return close_code(socket);
  }
};

TEST_F(DeflateTest, IsAgreedOnWhenBothWantIt) {
  EXPECT_NE(io_.socket(open_deflating())
                .sent.find("\r\nSec-WebSocket-Extensions: "
                           "permessage-deflate; "),
            std::string::npos);
  EXPECT_EQ(io_.socket(open()).sent.find("Extensions"), std::string::npos);
  limits_.is_deflate_offered = false;
  EXPECT_EQ(io_.socket(open_deflating()).sent.find("Extensions"), std::string::npos);
}

TEST_F(DeflateTest, MessagesAreTakenCompressedOrNot) {
  const int socket = open_deflating();
  give(socket, client_frame(kDeflatedText, deflate_as_client("first")));
  give(socket, test::text_frame("second"));
  give(socket, client_frame(kDeflatedText, deflate_as_client("")));
  EXPECT_EQ(relay_.messages, (std::vector<std::string>{"first", "second", ""}));
}

TEST_F(DeflateTest, FragmentsMayHaveControlFramesBetweenThem) {
  const std::string message = deflate_as_client("one message, whatever the frames");
  std::string bytes = client_frame(kDeflated | kText, message.substr(0, 3));
  bytes += client_frame(kFinal | kPing, "p");
  bytes += client_frame(kContinuation, message.substr(3, 5));
  bytes += client_frame(kContinuation, "");
  bytes += client_frame(kFinal | kContinuation, message.substr(8));
  const int whole = open_deflating();
  give(whole, bytes);
  EXPECT_EQ(frames(whole).size(), 1u);
  const int cut = open_deflating();
  for (const char byte : bytes) give(cut, std::string(1, byte));
  EXPECT_EQ(relay_.messages, (std::vector<std::string>(2, "one message, whatever the frames")));
}

TEST_F(DeflateTest, TheBitInTheWrongPlaceBreaksTheProtocol) {
  const std::string message = deflate_as_client("text");
  EXPECT_EQ(code_after({client_frame(kFinal | kDeflated | kPing, "")}), 1002);
  EXPECT_EQ(code_after({client_frame(kDeflated | kText, message),
                        client_frame(kFinal | kDeflated | kContinuation, "")}),
            1002);
  EXPECT_EQ(code_after({client_frame(kText, "a"),
                        client_frame(kFinal | kDeflated | kContinuation, message)}),
            1002);
  EXPECT_EQ(code_after({client_frame(kFinal | 0x20 | kText, "a")}), 1002) << "RSV2";
  EXPECT_EQ(code_after({client_frame(kFinal | kDeflated | 0x10 | kText, message)}), 1002) << "RSV3";
  const int plain = open();
  give(plain, client_frame(kDeflatedText, message));
  EXPECT_EQ(close_code(plain), 1002) << "not agreed on";
}

TEST_F(DeflateTest, WhatDoesNotInflateToTextIsInvalid) {
  EXPECT_EQ(code_after({client_frame(kDeflatedText, "\xff\xff\xff")}), 1007);
  EXPECT_EQ(code_after({client_frame(kDeflatedText, "")}), 1007);
  EXPECT_EQ(code_after({client_frame(kDeflatedText, deflate_as_client("\xc3("))}), 1007);
}

TEST_F(DeflateTest, TheLimitIsForWhatAMessageInflatesTo) {
  limits_.message_bytes = 10'000;
  const std::string fits(10'000, 'x');
  const int socket = open_deflating();
  give(socket, client_frame(kDeflatedText, deflate_as_client(fits)));
  // Not compressible at all, it takes more bytes than it has.
  give(socket, client_frame(kDeflatedText, deflate_as_client(fits, 0)));
  EXPECT_EQ(relay_.messages, (std::vector<std::string>(2, fits)));
  EXPECT_EQ(code_after({client_frame(kDeflatedText, deflate_as_client(fits + "x"))}), 1009);
  EXPECT_EQ(
      code_after({client_frame(kDeflatedText, deflate_as_client(std::string(64 << 20, ' ')))}),
      1009);
}

TEST_F(DeflateTest, ABombInAThousandFragmentsIsNoBetter) {
  const std::string bomb = deflate_as_client(std::string(64 << 20, ' '));
  limits_.message_bytes = 512 * 1024;
  const int socket = open_deflating();
  const std::size_t step = bomb.size() / 1'000 + 1;
  for (std::size_t at = 0; at < bomb.size(); at += step) {
    const int first = at == 0 ? kDeflated | kText : kContinuation;
    const bool is_last = at + step >= bomb.size();
    give(socket, client_frame(is_last ? first | kFinal : first, bomb.substr(at, step)));
  }
  EXPECT_EQ(close_code(socket), 1009);
  EXPECT_TRUE(relay_.messages.empty());
}

TEST_F(DeflateTest, ABodyIsCompressedOnceForAllThatWantItSo) {
  std::mt19937 random(5);
  for (const std::size_t size : {700u, 40'000u}) {
    const SharedBytes owner = SharedBytes::copy_of(as_bytes(random_text(random, size)));
    SharedBody body{.text = as_text(owner.span()), .owner = &owner};
    std::vector<int> sockets;
    for (const bool is_deflating : {false, true, true}) {
      sockets.push_back(is_deflating ? open_deflating() : open());
      const bool was_null = body.deflated.is_null();
      const std::uint8_t* const before = was_null ? nullptr : body.deflated.data();
      last().send_text_shared("[\"" + std::to_string(sockets.size()) + "\",", body, "]");
      if (!was_null) {
        EXPECT_EQ(body.deflated.data(), before);
      }
      settle();
    }
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      const auto all = frames(sockets[i]);
      ASSERT_EQ(all.size(), 1u);
      EXPECT_EQ(all[0].is_deflated, i > 0);
      const std::string expected =
          "[\"" + std::to_string(i + 1) + "\"," + std::string(body.text) + "]";
      EXPECT_EQ(i > 0 ? inflate_as_client(all[0].payload) : all[0].payload, expected);
      if (i > 0) {
        EXPECT_LT(all[0].payload.size(), expected.size());
      }
    }
  }
}

TEST_F(DeflateTest, SmallMessagesGoAsTheyAre) {
  const int socket = open_deflating();
  const SharedBytes owner = SharedBytes::copy_of(as_bytes(std::string(100, 'a')));
  SharedBody body{.text = as_text(owner.span()), .owner = &owner};
  Connection& connection = last();
  connection.send_text_shared("<", body, ">");
  connection.send_text({std::string(1'000, 'b')});
  settle();
  for (const auto& frame : frames(socket)) EXPECT_FALSE(frame.is_deflated);
}

TEST_F(DeflateTest, NothingRefersFartherBackThanTheClientsWindow) {
  std::mt19937 random(6);
  for (int bits = 9; bits <= 15; ++bits) {
    const int socket =
        open_with("permessage-deflate; server_max_window_bits=" + std::to_string(bits));
    std::size_t deflated_count = 0;
    for (const std::size_t size : {300u, 500u, 900u, 4'000u, 20'000u, 60'000u}) {
      const SharedBytes owner = SharedBytes::copy_of(as_bytes(random_text(random, size)));
      SharedBody body{.text = as_text(owner.span()), .owner = &owner};
      last().send_text_shared("<", body, ">");
      settle();
      const test::ServerFrame frame = frames(socket).back();
      const std::string expected = "<" + std::string(body.text) + ">";
      EXPECT_EQ(frame.is_deflated ? inflate_as_client(frame.payload, bits) : frame.payload,
                expected);
      deflated_count += frame.is_deflated ? 1 : 0;
    }
    EXPECT_GE(deflated_count, bits == 15 ? 6u : 1u) << bits;
  }
}

TEST_F(DeflateTest, ASlotsNextConnectionHasToAskAnew) {
  const int first = open_deflating();
  io_.end_peer(first);
  settle();
  const int second = open();
  give(second, client_frame(kDeflatedText, deflate_as_client("text")));
  EXPECT_EQ(close_code(second), 1002);
}

}  // namespace
}  // namespace gyre::net
