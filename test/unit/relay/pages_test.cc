#include "relay/pages.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gyre/nostr/json_text.h"

namespace gyre::relay {
namespace {

// Walks JSON without white space, which is what the relay writes; anything else fails.
class JsonWalk {
 public:
  explicit JsonWalk(std::string_view text) : rest_(text) {}

  // The members of an object, each with its value as text; nothing if the text is no such object.
  static std::optional<std::map<std::string, std::string>> members(std::string_view text) {
    JsonWalk walk(text);
    std::map<std::string, std::string> found;
    if (!walk.object(&found) || !walk.rest_.empty()) return std::nullopt;
    return found;
  }

 private:
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool string(std::string* out) {
    if (!take('"')) return false;
    const std::string_view begin = rest_;
    while (!rest_.empty() && rest_.front() != '"') {
      if (static_cast<unsigned char>(rest_.front()) < 0x20) return false;
      rest_.remove_prefix(rest_.front() == '\\' && rest_.size() > 1 ? 2 : 1);
    }
    if (out != nullptr) *out = nostr::unescape(begin.substr(0, begin.size() - rest_.size()));
    return take('"');
  }
  bool number() {
    const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (digits == 0 || (digits > 1 && rest_.front() == '0')) return false;
    rest_.remove_prefix(digits);
    return true;
  }
  bool array() {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!value()) return false;
    } while (take(','));
    return take(']');
  }
  bool object(std::map<std::string, std::string>* found) {
    if (!take('{')) return false;
    if (take('}')) return true;
    do {
      std::string name;
      if (!string(&name) || !take(':')) return false;
      const std::string_view begin = rest_;
      if (!value()) return false;
      const std::string text(begin.substr(0, begin.size() - rest_.size()));
      if (found != nullptr && !found->emplace(name, text).second) return false;
    } while (take(','));
    return take('}');
  }
  bool value() {
    if (rest_.empty()) return false;
    switch (rest_.front()) {
      case '{': return object(nullptr);
      case '[': return array();
      case '"': return string(nullptr);
      case 't': return word("true");
      case 'f': return word("false");
      default: return number();
    }
  }

  std::string_view rest_;
};

std::map<std::string, std::string> members(std::string_view text) {
  const auto found = JsonWalk::members(text);
  EXPECT_TRUE(found.has_value()) << text;
  return found.value_or(std::map<std::string, std::string>());
}

net::HttpRequest request(std::string_view method, std::string_view path,
                         std::string_view accept = {}) {
  net::HttpRequest request;
  request.method = method;
  request.path = path;
  if (!accept.empty()) request.headers.push_back({"Accept", accept});
  return request;
}

std::string header(const net::HttpResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

void expect_cors(const net::HttpResponse& response) {
  EXPECT_EQ(header(response, "Access-Control-Allow-Origin"), "*");
  EXPECT_THAT(header(response, "Access-Control-Allow-Headers"),
              testing::AllOf(testing::HasSubstr("Authorization"), testing::HasSubstr("Accept"),
                             testing::HasSubstr("Content-Type")));
  EXPECT_THAT(header(response, "Access-Control-Allow-Methods"),
              testing::AllOf(testing::HasSubstr("GET"), testing::HasSubstr("OPTIONS")));
}

TEST(Pages, InformationDocumentHasEveryMemberThatIsSet) {
  Settings settings;
  settings.name = "Reef \"q\" \\ é\n";
  settings.description = "line\ttab \x01";
  settings.contact = "mailto:a@relay.test";
  settings.pubkey = std::string(64, 'a');
  settings.icon = "https://relay.test/i.png";
  settings.software = "https://relay.test/gyre";
  settings.version = "1.2.3";
  const auto document = members(Pages(settings).information_document());
  const auto text = [&](const char* name) {
    const std::string& raw = document.at(name);
    return nostr::unescape(std::string_view(raw).substr(1, raw.size() - 2));
  };
  EXPECT_EQ(text("name"), settings.name);
  EXPECT_EQ(text("description"), settings.description);
  EXPECT_EQ(text("contact"), settings.contact);
  EXPECT_EQ(text("pubkey"), settings.pubkey);
  EXPECT_EQ(text("icon"), settings.icon);
  EXPECT_EQ(text("software"), settings.software);
  EXPECT_EQ(text("version"), settings.version);
  EXPECT_TRUE(document.contains("supported_nips"));
  EXPECT_TRUE(document.contains("limitation"));
}

TEST(Pages, WhatIsNotSetIsLeftOut) {
  const auto document = members(Pages(Settings()).information_document());
  for (const char* const name :
       {"description", "contact", "pubkey", "icon", "software", "self", "banner", "fees",
        "retention", "relay_countries", "language_tags", "tags", "posting_policy"}) {
    EXPECT_FALSE(document.contains(name)) << name;
  }
}

TEST(Pages, SupportedNipsAreSortedNumbersWithoutTheMergedOnes) {
  std::string list = members(Pages(Settings()).information_document()).at("supported_nips");
  EXPECT_EQ(list.front(), '[');
  std::vector<int> nips;
  for (std::size_t at = 1; at < list.size();) {
    std::size_t digits = 0;
    nips.push_back(std::stoi(list.substr(at), &digits));
    at += digits + 1;
  }
  EXPECT_TRUE(std::ranges::is_sorted(nips));
  for (const int nip : {1, 9, 11, 40, 42, 45, 59, 62, 70})
    EXPECT_TRUE(std::ranges::count(nips, nip));
  for (const int nip : {12, 15, 16, 20, 22, 33, 50, 77})
    EXPECT_FALSE(std::ranges::count(nips, nip));
}

TEST(Pages, LimitationShowsTheLimitsThatAreEnforced) {
  Settings settings;
  settings.limits.net.message_bytes = 1001;
  settings.limits.subscriptions = 12;
  settings.limits.filter_limit_max = 13;
  settings.limits.filter_limit_default = 14;
  settings.limits.message.subscription_id_chars_max = 15;
  settings.limits.message.event_tags_max = 16;
  settings.limits.message.content_chars_max = 17;
  settings.limits.created_at_past_s = 18;
  settings.limits.created_at_future_s = 19;
  settings.is_auth_required = true;
  const std::string document = Pages(settings).information_document();
  const std::map<std::string, std::string> expected = {
      {"max_message_length", "1001"},
      {"max_subscriptions", "12"},
      {"max_limit", "13"},
      {"default_limit", "14"},
      {"max_subid_length", "15"},
      {"max_event_tags", "16"},
      {"max_content_length", "17"},
      {"min_pow_difficulty", "0"},
      {"created_at_lower_limit", "18"},
      {"created_at_upper_limit", "19"},
      {"auth_required", "true"},
      {"payment_required", "false"},
      {"restricted_writes", "false"},
  };
  EXPECT_EQ(members(members(document).at("limitation")), expected);
}

TEST(Pages, TheLowerAgeLimitIsTheOneThatCounts) {
  const auto shown = [](std::int64_t window_s, std::uint64_t kept_s) {
    Settings settings;
    settings.limits.created_at_past_s = window_s;
    settings.retention.max_age_s = kept_s;
    return members(members(Pages(settings).information_document()).at("limitation"))
        .at("created_at_lower_limit");
  };
  EXPECT_EQ(shown(18, 0), "18");
  EXPECT_EQ(shown(0, 19), "19");
  EXPECT_EQ(shown(18, 19), "18");
  EXPECT_EQ(shown(20, 19), "19");
}

TEST(Pages, LimitsThatAreOffAreNotShown) {
  Settings settings;
  settings.limits.created_at_past_s = 0;
  settings.limits.created_at_future_s = 0;
  const auto limitation = members(members(Pages(settings).information_document()).at("limitation"));
  EXPECT_FALSE(limitation.contains("created_at_lower_limit"));
  EXPECT_FALSE(limitation.contains("created_at_upper_limit"));
}

TEST(Pages, DocumentIsServedToThoseWhoAskForIt) {
  const Pages pages{Settings()};
  for (const char* const accept :
       {"application/nostr+json", "application/json, application/nostr+json;q=0.9, */*"}) {
    for (const char* const method : {"GET", "HEAD"}) {
      const net::HttpResponse response = pages.answer(request(method, "/", accept));
      EXPECT_EQ(response.status, 200);
      EXPECT_EQ(response.content_type, "application/nostr+json");
      EXPECT_EQ(response.body, pages.information_document());
      EXPECT_EQ(header(response, "Vary"), "Accept");
      expect_cors(response);
    }
  }
}

TEST(Pages, OthersGetALandingPageWithTheNameEscaped) {
  Settings settings;
  settings.name = "<script>\"&";
  settings.description = "<b>";
  const net::HttpResponse response =
      Pages(settings).answer(request("GET", "/", "text/html,*/*;q=0.8"));
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.content_type, testing::StartsWith("text/html"));
  EXPECT_THAT(response.body, testing::HasSubstr("&lt;script&gt;&quot;&amp;"));
  EXPECT_THAT(response.body, testing::HasSubstr("&lt;b&gt;"));
  EXPECT_THAT(response.body, testing::Not(testing::HasSubstr("<script>\"&")));
  EXPECT_EQ(header(response, "Vary"), "Accept");
  expect_cors(response);
}

TEST(Pages, PreflightIsAnsweredEverywhere) {
  for (const char* const path : {"/", "/x", "*"}) {
    const net::HttpResponse response = Pages(Settings()).answer(request("OPTIONS", path));
    EXPECT_EQ(response.status, 204);
    EXPECT_TRUE(response.body.empty());
    expect_cors(response);
  }
}

TEST(Pages, OtherPathsAndMethodsAreRefused) {
  const Pages pages{Settings()};
  EXPECT_EQ(pages.answer(request("GET", "/x", "application/nostr+json")).status, 404);
  const net::HttpResponse response = pages.answer(request("POST", "/"));
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(header(response, "Allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(pages.answer(request("GET", "/healthz")).status, 200);
}

TEST(Pages, BasePathIsTheOneThatIsServed) {
  Settings settings;
  settings.limits.net.base_path = "/relay";
  const Pages pages(settings);
  EXPECT_EQ(pages.answer(request("GET", "/relay", "application/nostr+json")).status, 200);
  EXPECT_EQ(pages.answer(request("GET", "/", "application/nostr+json")).status, 404);
}

}  // namespace
}  // namespace gyre::relay
