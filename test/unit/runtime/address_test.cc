#include "gyre/runtime/address.h"

#include <gtest/gtest.h>

#include <string>

namespace gyre::runtime {
namespace {

std::string round_trip(std::string_view text) {
  const auto address = IpAddress::parse(text);
  return address ? address->to_string() : "none";
}

TEST(IpAddress, PrintsWhatItParsed) {
  EXPECT_EQ(round_trip("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(round_trip("0.0.0.0"), "0.0.0.0");
  EXPECT_EQ(round_trip("255.255.255.255"), "255.255.255.255");
  EXPECT_EQ(round_trip("2001:db8::1"), "2001:db8::1");
  EXPECT_EQ(round_trip("2001:DB8:0:0:0:0:0:1"), "2001:db8::1");
  EXPECT_EQ(round_trip("[2001:db8::1]"), "2001:db8::1");
  EXPECT_EQ(round_trip("::"), "::");
  EXPECT_EQ(round_trip("2001:db8:1111:2222:3333:4444:5555:6666"),
            "2001:db8:1111:2222:3333:4444:5555:6666");
}

TEST(IpAddress, MappedFormIsTheSameAddress) {
  EXPECT_EQ(IpAddress::parse("::ffff:192.0.2.1"), IpAddress::parse("192.0.2.1"));
  EXPECT_EQ(round_trip("::ffff:192.0.2.1"), "192.0.2.1");
}

TEST(IpAddress, RefusesEverythingElse) {
  for (const std::string_view text :
       {"",
        "[",
        "]",
        "[]",
        "1",
        "1.2.3",
        "1.2.3.4.5",
        "256.1.1.1",
        "01.2.3.4",
        "1.2.3.4 ",
        " 1.2.3.4",
        "[1.2.3.4]",
        "1.2.3.4:80",
        "::1%lo",
        "::g",
        "1::2::3",
        "[::1",
        "::1]",
        "[[::1]]",
        "localhost",
        "1.2.3.-4",
        "1,2,3,4",
        "0x7f.0.0.1",
        "2130706433",
        "2001:db8:1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa"}) {
    EXPECT_EQ(round_trip(text), "none") << text;
  }
  EXPECT_EQ(round_trip(std::string_view("::1\0::2", 7)), "none");
  EXPECT_EQ(round_trip(std::string_view("1.2.3.4\0", 8)), "none");
}

std::string address_round_trip(std::string_view text) {
  const auto address = Address::parse(text);
  return address ? address->to_string() : "none";
}

TEST(Address, PrintsWhatItParsed) {
  for (const std::string text : {"127.0.0.1:7447", "[::1]:7447", "0.0.0.0:0", "[::]:65535"}) {
    EXPECT_EQ(address_round_trip(text), text);
  }
}

TEST(Address, RefusesEverythingElse) {
  for (const std::string_view text :
       {"", ":", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:99999999999",
        "127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1:080", "127.0.0.1:80 ", "127.0.0.1:8o", "::1:80",
        "[::1]", "[::1]80", "[127.0.0.1]:80", "localhost:80"}) {
    EXPECT_EQ(address_round_trip(text), "none") << text;
  }
}

bool contains(std::string_view prefix, std::string_view address) {
  return IpPrefix::parse(prefix).value().contains(IpAddress::parse(address).value());
}

TEST(IpPrefix, ContainsWhatSharesItsLeadingBits) {
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.1.2"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(contains("192.168.16.0/20", "192.168.31.255"));
  EXPECT_FALSE(contains("192.168.16.0/20", "192.168.32.0"));
  EXPECT_TRUE(contains("192.0.2.7", "192.0.2.7"));
  EXPECT_FALSE(contains("192.0.2.7", "192.0.2.6"));
  EXPECT_TRUE(contains("192.0.2.6/31", "192.0.2.7"));
  EXPECT_TRUE(contains("2001:db8::/33", "2001:db8:7fff::"));
  EXPECT_FALSE(contains("2001:db8::/33", "2001:db8:8000::"));
  EXPECT_TRUE(contains("::1", "::1"));
  EXPECT_FALSE(contains("::1", "::2"));
}

TEST(IpPrefix, IgnoresBitsBehindItsLength) {
  EXPECT_TRUE(contains("10.1.2.3/8", "10.9.9.9"));
  EXPECT_TRUE(contains("2001:db8::ffff/32", "2001:db8::1"));
}

TEST(IpPrefix, EverythingOfOneFamilyIsNothingOfTheOther) {
  EXPECT_TRUE(contains("0.0.0.0/0", "203.0.113.9"));
  EXPECT_FALSE(contains("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(contains("::/0", "2001:db8::1"));
  EXPECT_FALSE(contains("::/0", "203.0.113.9"));
  EXPECT_TRUE(contains("::ffff:0:0/96", "203.0.113.9"));
}

TEST(IpPrefix, RefusesEverythingElse) {
  for (const std::string_view text :
       {"", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/08",
        "10.0.0.0/8/8", "10.0.0/8", "ten/8", "10.0.0.0/ 8"}) {
    EXPECT_FALSE(IpPrefix::parse(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace gyre::runtime
