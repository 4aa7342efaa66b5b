#include "gyre/nostr/nip44.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <optional>
#include <string>
#include <vector>

#include "gyre/nostr/base64.h"
#include "gyre/nostr/verify.h"
#include "nostr/message_keys.h"
#include "support/allocation_counter.h"

namespace gyre::nostr {
namespace {

using simdjson::dom::element;

Bytes32 from_hex(std::string_view hex) {
  Bytes32 bytes;
  EXPECT_TRUE(hex_decode(hex, bytes.bytes.data()));
  return bytes;
}

std::optional<ConversationKey> derive(std::string_view secret, std::string_view public_key) {
  std::optional<SecretKey> key;
  if (SecretKey::parse(secret, key) != DecodeError::kNone) return std::nullopt;
  return ConversationKey::derive(*key, from_hex(public_key));
}

// The error that the vectors' notes speak of.
DecodeError error_named(std::string_view note) {
  if (note.starts_with("unknown encryption version")) return DecodeError::kBadVersion;
  if (note == "invalid base64") return DecodeError::kBadBase64;
  if (note == "invalid MAC") return DecodeError::kBadMac;
  return DecodeError::kBadPadding;
}

class Nip44Vectors : public ::testing::Test {
 protected:
  Nip44Vectors() : vectors_(parser_.load(std::string(GYRE_TEST_VECTORS) + "/nip44.json").value()) {}

  static std::string_view text(element value, const char* name) {
    return value[name].get_string().value();
  }
  static ConversationKey key(element value) {
    return ConversationKey(from_hex(text(value, "conversation_key")));
  }

  simdjson::dom::parser parser_;
  element vectors_;
  Nip44 nip44_;
};

TEST_F(Nip44Vectors, ConversationKeys) {
  int count = 0;
  for (const char* const part : {"valid", "derived"}) {
    for (const element vector : vectors_[part]["get_conversation_key"].get_array()) {
      const auto made = derive(text(vector, "sec1"), text(vector, "pub2"));
      ASSERT_TRUE(made.has_value());
      EXPECT_EQ(to_hex(made->bytes().bytes), text(vector, "conversation_key"));
      ++count;
    }
  }
  EXPECT_EQ(count, 19);
  for (const element vector : vectors_["invalid"]["get_conversation_key"].get_array()) {
    EXPECT_FALSE(derive(text(vector, "sec1"), text(vector, "pub2")).has_value())
        << text(vector, "note");
  }
}

TEST_F(Nip44Vectors, MessageKeys) {
  for (const element vector : vectors_["derived"]["get_message_keys"].get_array()) {
    MessageKeys keys;
    expand_message_keys(from_hex(text(vector, "conversation_key")), from_hex(text(vector, "nonce")),
                        keys);
    EXPECT_EQ(to_hex(keys.chacha_key.bytes), text(vector, "chacha_key"));
    EXPECT_EQ(to_hex(keys.chacha_iv), "00000000" + std::string(text(vector, "chacha_nonce")));
    EXPECT_EQ(to_hex(keys.hmac_key.bytes), text(vector, "hmac_key"));
  }
}

TEST_F(Nip44Vectors, PaddedLengths) {
  for (const element pair : vectors_["valid"]["calc_padded_len"].get_array()) {
    EXPECT_EQ(nip44_padded_bytes(pair.at(0).get_uint64().value()), pair.at(1).get_uint64().value());
  }
}

TEST_F(Nip44Vectors, BothDirections) {
  int count = 0;
  for (const element vector : vectors_["valid"]["encrypt_decrypt"].get_array()) {
    std::optional<SecretKey> other;
    ASSERT_EQ(SecretKey::parse(text(vector, "sec2"), other), DecodeError::kNone);
    const auto made = derive(text(vector, "sec1"), to_hex(other->public_key().bytes));
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(to_hex(made->bytes().bytes), text(vector, "conversation_key"));
    std::string payload;
    ASSERT_EQ(nip44_.encrypt_with_nonce(*made, text(vector, "plaintext"),
                                        from_hex(text(vector, "nonce")), payload),
              DecodeError::kNone);
    EXPECT_EQ(payload, text(vector, "payload"));
    EXPECT_EQ(payload.size(), nip44_payload_chars(text(vector, "plaintext").size()));
    std::string back;
    ASSERT_EQ(nip44_.decrypt(*made, payload, back), DecodeError::kNone);
    EXPECT_EQ(back, text(vector, "plaintext"));
    ++count;
  }
  EXPECT_EQ(count, 10);
}

TEST_F(Nip44Vectors, LongTexts) {
  for (const element vector : vectors_["derived"]["encrypt_long"].get_array()) {
    std::string whole;
    for (std::uint64_t i = vector["repeat"].get_uint64().value(); i != 0; --i) {
      whole += text(vector, "pattern");
    }
    EXPECT_EQ(to_hex(sha256(as_bytes(whole)).bytes), text(vector, "plaintext_sha256"));
    std::string payload;
    ASSERT_EQ(
        nip44_.encrypt_with_nonce(key(vector), whole, from_hex(text(vector, "nonce")), payload),
        DecodeError::kNone);
    EXPECT_EQ(to_hex(sha256(as_bytes(payload)).bytes), text(vector, "payload_sha256"));
    std::string back;
    ASSERT_EQ(nip44_.decrypt(key(vector), payload, back), DecodeError::kNone);
    EXPECT_EQ(back, whole);
  }
}

TEST_F(Nip44Vectors, EachFaultIsNamed) {
  int count = 0;
  for (const element vector : vectors_["invalid"]["decrypt"].get_array()) {
    std::string back;
    EXPECT_EQ(nip44_.decrypt(key(vector), text(vector, "payload"), back),
              error_named(text(vector, "note")))
        << text(vector, "note");
    ++count;
  }
  EXPECT_EQ(count, 8);
}

TEST_F(Nip44Vectors, LengthsOutsideTheBoundsAreRefused) {
  const ConversationKey some{Bytes32{}};
  SeededRandom random(1);
  std::string out;
  for (const element length : vectors_["invalid"]["encrypt_msg_lengths"].get_array()) {
    EXPECT_NE(nip44_.encrypt(some, std::string(length.get_uint64().value(), 'x'), random, out),
              DecodeError::kNone);
  }
  for (const element length : vectors_["invalid"]["decrypt_msg_lengths"].get_array()) {
    EXPECT_NE(nip44_.decrypt(some, std::string(length.get_uint64().value(), 'x'), out),
              DecodeError::kNone);
  }
  EXPECT_EQ(nip44_.decrypt(some, std::string(131, 'A'), out), DecodeError::kTooShort);
  EXPECT_EQ(nip44_.decrypt(some, std::string(87'473, 'A'), out), DecodeError::kTooLong);
  EXPECT_EQ(nip44_payload_chars(1), kNip44PayloadCharsMin);
  EXPECT_EQ(nip44_payload_chars(kNip44TextBytesMax), kNip44PayloadCharsMax);
}

TEST(Nip44, EveryChangedByteIsNoticed) {
  const ConversationKey key{Bytes32{}};
  SeededRandom random(2);
  Nip44 nip44;
  std::string payload;
  ASSERT_EQ(nip44.encrypt(key, "hello", random, payload), DecodeError::kNone);
  std::vector<std::uint8_t> bytes(base64_bytes_max(payload.size()));
  bytes.resize(*parse_base64(payload, bytes.data()));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] ^= 1;
    write_base64(bytes, payload.data());
    std::string text;
    EXPECT_EQ(nip44.decrypt(key, payload, text),
              at == 0 ? DecodeError::kBadVersion : DecodeError::kBadMac);
    bytes[at] ^= 1;
  }
  write_base64(bytes, payload.data());
  std::string text;
  EXPECT_EQ(nip44.decrypt(key, payload, text), DecodeError::kNone);
  EXPECT_EQ(text, "hello");
}

TEST(Nip44, APayloadOfOddSizeIsTooShort) {
  // 132 characters, of which the last stand for less than three bytes: 97 and 98 bytes.
  std::vector<std::uint8_t> bytes(99, 2);
  Nip44 nip44;
  std::string text;
  for (const std::size_t size : {97u, 98u}) {
    std::string payload(base64_chars(size), '\0');
    write_base64(ByteSpan(bytes).first(size), payload.data());
    ASSERT_EQ(payload.size(), 132u);
    EXPECT_EQ(nip44.decrypt(ConversationKey(Bytes32{}), payload, text), DecodeError::kTooShort);
  }
}

TEST(Nip44, UsedAgainItAllocatesNothing) {
  const ConversationKey key{Bytes32{}};
  SeededRandom random(3);
  Nip44 nip44;
  std::string payload;
  std::string text;
  const auto work = [&] {
    EXPECT_EQ(nip44.encrypt(key, "a text of some length", random, payload), DecodeError::kNone);
    EXPECT_EQ(nip44.decrypt(key, payload, text), DecodeError::kNone);
  };
  work();
  EXPECT_EQ(test::allocations_of(work).count, 0u);
}

}  // namespace
}  // namespace gyre::nostr
