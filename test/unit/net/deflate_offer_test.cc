#include "net/deflate_offer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gyre::net {
namespace {

// The answer to these Sec-WebSocket-Extensions headers; empty if nothing is agreed on.
std::string answer_to(const std::vector<std::string>& headers) {
  HttpRequest request;
  for (const std::string& value : headers) {
    request.headers.push_back({"Sec-WebSocket-Extensions", value});
  }
  const auto agreement = negotiate_deflate(request);
  return agreement ? agreement->to_header_value() : "";
}
std::string answer_to(const std::string& header) { return answer_to(std::vector{header}); }

const std::string kAnswer =
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

TEST(DeflateOffer, WellFormedOnesAreTaken) {
  EXPECT_EQ(answer_to("permessage-deflate"), kAnswer);
  EXPECT_EQ(answer_to("PerMessage-Deflate; Client_Max_Window_Bits"), kAnswer);
  EXPECT_EQ(answer_to("permessage-deflate;client_max_window_bits=8"), kAnswer);
  EXPECT_EQ(answer_to(kAnswer), kAnswer);
  EXPECT_EQ(answer_to("permessage-deflate; server_max_window_bits=15"), kAnswer);
}

TEST(DeflateOffer, TheClientsWindowIsKeptTo) {
  for (int bits = 8; bits < 15; ++bits) {
    const std::string parameter = "; server_max_window_bits=" + std::to_string(bits);
    EXPECT_EQ(answer_to("permessage-deflate" + parameter), kAnswer + parameter);
  }
  EXPECT_EQ(answer_to(R"(permessage-deflate; server_max_window_bits="10")"),
            kAnswer + "; server_max_window_bits=10");
}

TEST(DeflateOffer, MalformedOnesAreDeclined) {
  for (const char* const parameter :
       {"server_max_window_bits", "server_max_window_bits=", "server_max_window_bits=7",
        "server_max_window_bits=16", "server_max_window_bits=08", "server_max_window_bits=-9",
        "server_max_window_bits=100", "server_max_window_bits=1x", "client_max_window_bits=7",
        "client_max_window_bits=16", "client_max_window_bits=", "server_no_context_takeover=1",
        "client_no_context_takeover=true", "level=9", "",
        "server_no_context_takeover; server_no_context_takeover",
        "client_no_context_takeover; client_no_context_takeover",
        "client_max_window_bits; client_max_window_bits=9",
        "server_max_window_bits=9; server_max_window_bits=9"}) {
    EXPECT_EQ(answer_to("permessage-deflate; " + std::string(parameter)), "") << parameter;
  }
}

TEST(DeflateOffer, OtherExtensionsAreDeclined) {
  EXPECT_EQ(answer_to("x-webkit-deflate-frame"), "");
  EXPECT_EQ(answer_to("permessage-bzip2"), "");
  EXPECT_EQ(answer_to(""), "");
  EXPECT_EQ(answer_to(std::vector<std::string>{}), "");
}

TEST(DeflateOffer, TheFirstGoodOneOfSeveralIsTaken) {
  EXPECT_EQ(answer_to("x-a, permessage-deflate; what, permessage-deflate; "
                      "server_max_window_bits=9, permessage-deflate"),
            kAnswer + "; server_max_window_bits=9");
  EXPECT_EQ(answer_to({"x-a", "permessage-deflate; server_max_window_bits=20",
                       "permessage-deflate; server_max_window_bits=12"}),
            kAnswer + "; server_max_window_bits=12");
}

}  // namespace
}  // namespace gyre::net
