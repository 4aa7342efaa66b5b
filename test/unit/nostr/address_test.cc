#include "gyre/nostr/address.h"

#include <gtest/gtest.h>

#include <string>

namespace gyre::nostr {
namespace {

const std::string kKey = "df1e8576a264a06ae937fa8971c0e83feaa226f933a21335b589e76d5b9beb8a";

TEST(Address, IsReadAndWrittenAlike) {
  for (const std::string d : {"", "post", "with:colons::", ":"}) {
    const std::string text = "30023:" + kKey + ":" + d;
    Address address;
    ASSERT_EQ(parse_address(text, address), DecodeError::kNone) << text;
    EXPECT_EQ(address.kind, 30'023);
    EXPECT_EQ(to_hex(address.pubkey.bytes), kKey);
    EXPECT_EQ(address.d, d);
    std::string out;
    append_address(address, out);
    EXPECT_EQ(out, text);
    EXPECT_EQ(out.size(), address_bytes(address));
  }
}

TEST(Address, RefusesEverythingElse) {
  Address address;
  for (const std::string& text :
       {std::string(), std::string("30023"), "30023:" + kKey, ":" + kKey + ":",
        "65536:" + kKey + ":", "-1:" + kKey + ":", "01:" + kKey + ":", "1 :" + kKey + ":",
        "1:" + kKey.substr(1) + "::", "1:" + std::string(64, 'A') + ":", "1:" + kKey + "x:"}) {
    EXPECT_NE(parse_address(text, address), DecodeError::kNone) << text;
  }
}

}  // namespace
}  // namespace gyre::nostr
