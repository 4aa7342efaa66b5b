#include "gyre/net/http.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "gyre/net/http.h"
#include "net/http_text.h"

namespace gyre::net {

namespace {

// 8 KiB of head hold far fewer real headers; more only feed the parser.
constexpr std::size_t kHeadersMax = 100;
constexpr std::size_t kMethodBytesMax = 32;
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

HttpParse bad(std::uint16_t status) {
  HttpParse parse;
  parse.outcome = HttpOutcome::kBad;
  parse.status = status;
  return parse;
}

bool is_target_character(char c) { return c > ' ' && c < '\x7f' && c != '#'; }

// RFC 9110 5.5: visible characters, blanks, and bytes of 0x80 and above.
bool is_value_character(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
}

// The part behind "http://authority" of an absolute-form target (RFC 9112 3.2.2); nothing if it is
// none.
std::optional<std::string_view> strip_origin(std::string_view target) {
  const std::size_t scheme_end = target.find("://");
  if (scheme_end == std::string_view::npos) return std::nullopt;
  const std::string_view scheme = target.substr(0, scheme_end);
  const bool is_ours = equals_ignoring_case(scheme, "http") ||
                       equals_ignoring_case(scheme, "https") ||
                       equals_ignoring_case(scheme, "ws") || equals_ignoring_case(scheme, "wss");
  const std::string_view behind = target.substr(scheme_end + 3);
  const std::size_t authority_end = std::min(behind.find_first_of("/?"), behind.size());
  if (!is_ours || authority_end == 0) return std::nullopt;
  return behind.substr(authority_end);
}

bool parse_target(std::string_view target, HttpRequest& request) {
  if (target.empty() || !std::all_of(target.begin(), target.end(), is_target_character)) {
    return false;
  }
  if (target == "*") {
    request.path = target;
    return request.method == "OPTIONS";
  }
  if (target.front() != '/' && target.front() != '?') {
    const auto behind = strip_origin(target);
    if (!behind) return false;
    target = *behind;
  }
  const std::size_t path_end = std::min(target.find('?'), target.size());
  request.path = path_end == 0 ? std::string_view("/") : target.substr(0, path_end);
  request.query = target.substr(std::min(path_end + 1, target.size()));
  return true;
}

// The status that the line deserves; 0 if it is fine.
std::uint16_t parse_request_line(std::string_view line, HttpRequest& request) {
  const std::size_t method_end = line.find(' ');
  const std::size_t target_end = line.rfind(' ');
  if (method_end == std::string_view::npos || target_end == method_end) return 400;
  request.method = line.substr(0, method_end);
  const std::string_view version = line.substr(target_end + 1);
  if (!is_token(request.method) || request.method.size() > kMethodBytesMax) return 400;
  if (version.size() != 8 || !version.starts_with("HTTP/") || version[6] != '.' ||
      !is_digits(version.substr(5, 1)) || !is_digits(version.substr(7))) {
    return 400;
  }
  if (version[5] != '1') return 505;
  request.minor_version = static_cast<std::uint8_t>(version[7] - '0');
  if (request.method == "CONNECT") return 405;
  const auto target = line.substr(method_end + 1, target_end - method_end - 1);
  return parse_target(target, request) ? 0 : 400;
}

bool parse_header(std::string_view line, HttpRequest& request) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  // A folded line begins with a blank, and a blank before the colon is no token either.
  const HttpHeader header{line.substr(0, colon), trim_blanks(line.substr(colon + 1))};
  if (!is_token(header.name) ||
      !std::all_of(header.value.begin(), header.value.end(), is_value_character)) {
    return false;
  }
  request.headers.push_back(header);
  return true;
}

std::size_t count_headers(const HttpRequest& request, std::string_view lower_name) {
  return static_cast<std::size_t>(std::count_if(
      request.headers.begin(), request.headers.end(),
      [&](const HttpHeader& header) { return equals_ignoring_case(header.name, lower_name); }));
}

// What the headers say about the message itself (RFC 9112 3.2, 6).
std::uint16_t check_framing(HttpRequest& request) {
  const std::size_t hosts = count_headers(request, "host");
  if (hosts > 1 || (hosts == 0 && request.minor_version > 0)) return 400;
  const std::size_t lengths = count_headers(request, "content-length");
  if (lengths > 1) return 400;
  if (request.find("transfer-encoding")) return lengths > 0 ? 400 : 501;
  if (lengths == 0) return 0;
  const std::string_view text = *request.find("content-length");
  if (!is_digits(text)) return 400;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), request.body_bytes);
  if (error != std::errc() || end != text.data() + text.size()) return 400;
  const bool is_bodiless = request.method == "GET" || request.method == "HEAD";
  return is_bodiless && request.body_bytes > 0 ? 400 : 0;
}

// What can be said before the head has ended: enough to turn away other protocols and endless heads
// at once.
HttpParse judge_unfinished(std::string_view text, std::size_t head_bytes_max) {
  const std::size_t line_end = std::min(text.find(kLineEnd), text.size());
  const std::string_view method = text.substr(0, std::min(text.find(' '), line_end));
  if (text.starts_with(kLineEnd)) return bad(400);
  if (!method.empty() && (!is_token(method) || method.size() > kMethodBytesMax)) return bad(400);
  if (text.size() < head_bytes_max) return {};
  return bad(line_end == text.size() ? 414 : 431);
}

// True if a parameter among `parameters` is q=0 (RFC 9110 12.4.2): "not acceptable".
bool is_weightless(std::optional<std::string_view> parameters) {
  while (const auto parameter = next_element(parameters, ';')) {
    if (!parameter->starts_with("q=") && !parameter->starts_with("Q=")) continue;
    const std::string_view weight = parameter->substr(2);
    return !weight.empty() && weight.find_first_not_of("0.") == std::string_view::npos;
  }
  return false;
}

}  // namespace

HttpParse parse_request(std::string_view text, std::size_t head_bytes_max) {
  const std::size_t end = text.substr(0, head_bytes_max).find(kHeadEnd);
  if (end == std::string_view::npos) return judge_unfinished(text, head_bytes_max);
  HttpParse parse;
  HttpRequest& request = parse.request;
  request.head_bytes = end + kHeadEnd.size();
  // Every line with its end but for the blank one.
  std::string_view lines = text.substr(0, end + kLineEnd.size());
  const std::size_t first_end = lines.find(kLineEnd);
  if (const auto status = parse_request_line(lines.substr(0, first_end), request); status != 0) {
    return bad(status);
  }
  lines.remove_prefix(first_end + kLineEnd.size());
  while (!lines.empty()) {
    const std::size_t line_end = lines.find(kLineEnd);
    if (request.headers.size() == kHeadersMax) return bad(431);
    if (!parse_header(lines.substr(0, line_end), request)) return bad(400);
    lines.remove_prefix(line_end + kLineEnd.size());
  }
  if (const auto status = check_framing(request); status != 0) return bad(status);
  parse.outcome = HttpOutcome::kRequest;
  return parse;
}

std::optional<std::string_view> HttpRequest::find(std::string_view lower_name) const {
  for (const HttpHeader& header : headers) {
    if (equals_ignoring_case(header.name, lower_name)) return header.value;
  }
  return std::nullopt;
}

bool HttpRequest::has_token(std::string_view lower_name, std::string_view lower_token) const {
  for (const HttpHeader& header : headers) {
    if (!equals_ignoring_case(header.name, lower_name)) continue;
    std::optional<std::string_view> rest = header.value;
    while (const auto element = next_element(rest, ',')) {
      if (equals_ignoring_case(*element, lower_token)) return true;
    }
  }
  return false;
}

bool HttpRequest::accepts(std::string_view media_type) const {
  for (const HttpHeader& header : headers) {
    if (!equals_ignoring_case(header.name, "accept")) continue;
    std::optional<std::string_view> ranges = header.value;
    while (const auto range = next_element(ranges, ',')) {
      std::optional<std::string_view> parts = range;
      const auto name = next_element(parts, ';');
      if (equals_ignoring_case(*name, media_type) && !is_weightless(parts)) return true;
    }
  }
  return false;
}

}  // namespace gyre::net
