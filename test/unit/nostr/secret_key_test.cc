#include "gyre/nostr/secret_key.h"

#include <gtest/gtest.h>

#include <array>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gyre/nostr/key_search.h"

namespace gyre::nostr {
namespace {

Bytes32 from_hex(std::string_view hex) {
  Bytes32 bytes;
  EXPECT_TRUE(hex_decode(hex, bytes.bytes.data()));
  return bytes;
}

SecretKey key_from(std::string_view text) {
  std::optional<SecretKey> key;
  EXPECT_EQ(SecretKey::parse(text, key), DecodeError::kNone) << text;
  return *std::move(key);
}

constexpr std::string_view kOrder =
    "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

// Vectors 0 to 3 of BIP-340.
TEST(SecretKey, SignsAsBip340Says) {
  struct Vector {
    std::string_view secret, public_key, auxiliary, message, signature;
  };
  const std::vector<Vector> vectors = {
      {"0000000000000000000000000000000000000000000000000000000000000003",
       "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9",
       "0000000000000000000000000000000000000000000000000000000000000000",
       "0000000000000000000000000000000000000000000000000000000000000000",
       "e907831f80848d1069a5371b402410364bdf1c5f8307b0084c55f1ce2dca8215"
       "25f66a4a85ea8b71e482a74f382d2ce5ebeee8fdb2172f477df4900d310536c0"},
      {"b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef",
       "dff1d77f2a671c5f36183726db2341be58feae1da2deced843240f7b502ba659",
       "0000000000000000000000000000000000000000000000000000000000000001",
       "243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89",
       "6896bd60eeae296db48a229ff71dfe071bde413e6d43f917dc8dcf8c78de3341"
       "8906d11ac976abccb20b091292bff4ea897efcb639ea871cfa95f6de339e4b0a"},
      {"c90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b14e5c9",
       "dd308afec5777e13121fa72b9cc1b7cc0139715309b086c960e18fd969774eb8",
       "c87aa53824b4d7ae2eb035a2b5bbbccc080e76cdc6d1692c4b0b62d798e6d906",
       "7e2d58d8b3bcdf1abadec7829054f90dda9805aab56c77333024b9d0a508b75c",
       "5831aaeed7b44bb74e5eab94ba9d4294c49bcf2a60728d8b4c200f50dd313c1b"
       "ab745879a5ad954a72c45a91c3a51d3c7adea98d82f8481e0e1e03674a6f3fb7"},
      {"0b432b2677937381aef05bb02a66ecd012773062cf3fa2549e44f58ed2401710",
       "25d1dff95105f5253c4022f628a996ad3a0d95fbf21d468a1b33f8c160d8f517",
       "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
       "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
       "7eb0509757e246f19449885651611cb965ecc1a187dd51b64fda1edc9637d5ec"
       "97582b9cb13db3933705b32ba982af5af25fd78881ebb32771fc5922efc66ea3"},
  };
  for (const Vector& vector : vectors) {
    const SecretKey key = key_from(vector.secret);
    EXPECT_EQ(to_hex(key.public_key().bytes), vector.public_key);
    EXPECT_EQ(to_hex(key.bytes().bytes), vector.secret);
    const Bytes32 message = from_hex(vector.message);
    const Signature signature = key.sign(message, from_hex(vector.auxiliary));
    EXPECT_EQ(to_hex(signature), vector.signature);
    EXPECT_TRUE(verify_signature(key.public_key(), message, signature));
    EXPECT_FALSE(verify_signature(key.public_key(), key.public_key(), signature));
  }
}

TEST(SecretKey, ReadsHexAndNsec) {
  const SecretKey key = key_from("nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5");
  EXPECT_EQ(to_hex(key.bytes().bytes),
            "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa");
  EXPECT_EQ(to_hex(key.public_key().bytes),
            "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e");
}

TEST(SecretKey, RefusesWhatIsNone) {
  using enum DecodeError;
  const std::vector<std::pair<std::string, DecodeError>> cases = {
      {std::string(64, '0'), kBadKey},
      {std::string(kOrder), kBadKey},
      {std::string(64, 'f'), kBadKey},
      {std::string(63, '1'), kBadHex},
      {std::string(64, 'A'), kBadHex},
      {"npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg", kBadHex},
      {"nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe6", kBadChecksum},
      {"", kBadHex},
  };
  for (const auto& [text, expected] : cases) {
    std::optional<SecretKey> key;
    EXPECT_EQ(SecretKey::parse(text, key), expected) << text;
    EXPECT_FALSE(key.has_value());
  }
  std::string last(kOrder);
  last.back() = '0';
  EXPECT_NE(to_hex(key_from(last).public_key().bytes), "");
}

TEST(SecretKey, LeavesNothingBehind) {
  alignas(SecretKey) std::array<std::uint8_t, sizeof(SecretKey)> memory;
  SeededRandom random(1);
  SecretKey* const key = new (memory.data()) SecretKey(SecretKey::generate(random));
  const std::string secret = to_hex(key->bytes().bytes);
  EXPECT_NE(to_hex(memory).find(secret), std::string::npos);
  SecretKey moved(std::move(*key));
  EXPECT_EQ(to_hex(memory), std::string(2 * memory.size(), '0'));
  *key = std::move(moved);
  EXPECT_NE(to_hex(memory).find(secret), std::string::npos);
  key->~SecretKey();
  EXPECT_EQ(to_hex(memory), std::string(2 * memory.size(), '0'));
}

TEST(SecretKey, SignsEvents) {
  SeededRandom random(2);
  const SecretKey key = SecretKey::generate(random);
  Event event{.created_at = 5, .kind = 1, .tags = {{"t", "x"}}, .content = "hello"};
  key.sign(event, random);
  EXPECT_EQ(event.pubkey, key.public_key());
  EXPECT_TRUE(has_right_id(event));
  EXPECT_TRUE(has_valid_signature(event));
  const Signature first = event.sig;
  key.sign(event, random);
  EXPECT_NE(event.sig, first);
  EXPECT_TRUE(has_valid_signature(event));
}

TEST(SecretKey, BothSidesShareOneX) {
  SeededRandom random(3);
  const SecretKey a = SecretKey::generate(random);
  const SecretKey b = SecretKey::generate(random);
  EXPECT_EQ(a.shared_x(b.public_key()), b.shared_x(a.public_key()));
  EXPECT_NE(a.shared_x(b.public_key()), a.shared_x(a.public_key()));
  // With the secret 1 the product is the point itself.
  std::string one(64, '0');
  one.back() = '1';
  EXPECT_EQ(key_from(one).shared_x(a.public_key()), a.public_key());
  Bytes32 none;
  none.bytes.fill(0xff);
  EXPECT_EQ(a.shared_x(none), std::nullopt);
  EXPECT_EQ(a.shared_x(Bytes32{}), std::nullopt);
}

TEST(KeySearch, EachStepHasItsSecret) {
  SeededRandom random(4);
  KeySearch search(random);
  std::vector<Bytes32> seen;
  for (int i = 0; i < 20; ++i) {
    const Bytes32 public_key = search.next();
    EXPECT_EQ(search.secret_key().public_key(), public_key);
    for (const Bytes32& other : seen) EXPECT_NE(other, public_key);
    seen.push_back(public_key);
  }
}

}  // namespace
}  // namespace gyre::nostr
