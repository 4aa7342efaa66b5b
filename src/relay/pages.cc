#include "relay/pages.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gyre/nostr/json_text.h"

namespace gyre::relay {
namespace {

// What the relay side implements whatever the settings (nips.md 11-04, 11-06), and by a setting.
constexpr int kSupportedNips[] = {1, 2, 4, 9, 11, 17, 40, 42, 45, 59, 62, 70};
constexpr int kEoseHints = 67;

std::vector<int> supported_nips(const Settings& settings) {
  std::vector<int> nips(std::begin(kSupportedNips), std::end(kSupportedNips));
  if (settings.has_eose_hints) nips.push_back(kEoseHints);
  std::ranges::sort(nips);
  return nips;
}

class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  void text(std::string_view name, std::string_view value) {
    key(name);
    out_ += '"';
    nostr::append_escaped(value, out_);
    out_ += '"';
  }
  void text_if_set(std::string_view name, std::string_view value) {
    if (!value.empty()) text(name, value);
  }
  void number(std::string_view name, std::uint64_t value) {
    key(name);
    absl::StrAppend(&out_, value);
  }
  void boolean(std::string_view name, bool value) {
    key(name);
    out_ += value ? "true" : "false";
  }
  void key(std::string_view name) {
    if (!is_first_) out_ += ',';
    out_ += '"';
    out_ += name;
    out_ += "\":";
    is_first_ = false;
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool is_first_ = true;
};

// NIP-11 has one number for all kinds; kinds with a retention of their own may have another.
std::uint64_t lowest_age_limit_s(const Settings& settings) {
  const auto window_s = static_cast<std::uint64_t>(settings.limits.created_at_past_s);
  const std::uint64_t kept_s = settings.retention.max_age_s;
  if (window_s == 0 || kept_s == 0) return std::max(window_s, kept_s);
  return std::min(window_s, kept_s);
}

void append_limitation(const Settings& settings, std::string& out) {
  const Limits& limits = settings.limits;
  JsonObject object(out);
  object.number("max_message_length", limits.net.message_bytes);
  object.number("max_subscriptions", limits.subscriptions);
  object.number("max_limit", limits.filter_limit_max);
  object.number("default_limit", limits.filter_limit_default);
  object.number("max_subid_length", limits.message.subscription_id_chars_max);
  object.number("max_event_tags", limits.message.event_tags_max);
  object.number("max_content_length", limits.message.content_chars_max);
  object.number("min_pow_difficulty", 0);
  object.boolean("auth_required", settings.is_auth_required);
  object.boolean("payment_required", false);
  object.boolean("restricted_writes", false);
  if (const std::uint64_t age_s = lowest_age_limit_s(settings); age_s > 0) {
    object.number("created_at_lower_limit", age_s);
  }
  if (limits.created_at_future_s > 0) {
    object.number("created_at_upper_limit", static_cast<std::uint64_t>(limits.created_at_future_s));
  }
  object.end();
}

std::string make_document(const Settings& settings) {
  std::string out;
  JsonObject object(out);
  object.text("name", settings.name);
  object.text_if_set("description", settings.description);
  object.text_if_set("icon", settings.icon);
  object.text_if_set("pubkey", settings.pubkey);
  object.text_if_set("contact", settings.contact);
  object.key("supported_nips");
  out += '[';
  bool is_first = true;
  for (const int nip : supported_nips(settings)) {
    absl::StrAppend(&out, is_first ? "" : ",", nip);
    is_first = false;
  }
  out += ']';
  object.text_if_set("software", settings.software);
  object.text("version", settings.version);
  object.key("limitation");
  append_limitation(settings, out);
  object.end();
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string make_landing_page(const Settings& settings) {
  const std::string name = escape_html(settings.name);
  const std::string description = escape_html(settings.description);
  std::string nips;
  for (const int nip : supported_nips(settings))
    absl::StrAppend(&nips, nips.empty() ? "" : ", ", nip);
  return absl::StrCat(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>",
      name,
      "</title><style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;"
      "max-width:40rem;margin:12vh auto;padding:0 1rem}code{background:#8882;padding:.1em .3em;"
      "border-radius:.3em}small{opacity:.7}</style></head><body><h1>",
      name, "</h1>", description.empty() ? "" : absl::StrCat("<p>", description, "</p>"),
      "<p>This is a Nostr relay. Add its address to a Nostr client to read and publish here: "
      "<code id=\"url\"></code></p><p><small>Supported NIPs: ",
      nips, ". Runs gyre ", escape_html(settings.version),
      ".</small></p><script>document.getElementById('url').textContent="
      "(location.protocol==='https:'?'wss://':'ws://')+location.host+location.pathname;"
      "</script></body></html>\n");
}

void add_cors(net::HttpResponse& response) {
  // nips.md 11-02: any origin; `*` does not cover Authorization, so it is named.
  response.headers.emplace_back("Access-Control-Allow-Origin", "*");
  response.headers.emplace_back("Access-Control-Allow-Headers",
                                "*, Authorization, Accept, Content-Type");
  response.headers.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
}

net::HttpResponse text_response(std::uint16_t status, std::string text) {
  net::HttpResponse response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(text);
  return response;
}

}  // namespace

Pages::Pages(const Settings& settings)
    : base_path_(settings.limits.net.base_path),
      document_(make_document(settings)),
      landing_page_(make_landing_page(settings)) {}

net::HttpResponse Pages::answer(const net::HttpRequest& request) const {
  net::HttpResponse response;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (request.method == "OPTIONS") {
    response.status = 204;
  } else if (!reads) {
    response = text_response(405, "This relay answers GET, HEAD and OPTIONS here.\n");
    response.headers.emplace_back("Allow", "GET, HEAD, OPTIONS");
  } else if (request.path == "/healthz") {
    response = text_response(200, "ok\n");
  } else if (request.path != base_path_) {
    response = text_response(404, "Nothing is served at this path.\n");
  } else if (request.accepts("application/nostr+json")) {
    response.content_type = "application/nostr+json";
    response.body = document_;
    response.headers.emplace_back("Vary", "Accept");
  } else {
    response.content_type = "text/html; charset=utf-8";
    response.body = landing_page_;
    response.headers.emplace_back("Vary", "Accept");
  }
  add_cors(response);
  return response;
}

}  // namespace gyre::relay
