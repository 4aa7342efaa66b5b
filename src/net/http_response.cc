#include "gyre/net/http.h"

#include <algorithm>

#include "gyre/base/assert.h"
#include "net/http_text.h"

namespace gyre::net {

namespace {

std::string_view reason_phrase(std::uint16_t status) {
  switch (status) {
    case 200: return "OK";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 426: return "Upgrade Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "";  // Optional (RFC 9112 4).
  }
}

bool may_have_body(std::uint16_t status) { return status >= 200 && status != 204 && status != 304; }

void append_header(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string format_response(const HttpResponse& response, bool head_only) {
  GYRE_ASSERT_CMP(response.status, >=, 200);
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + " ";
  text.append(reason_phrase(response.status)).append("\r\n");
  for (const auto& [name, value] : response.headers) append_header(text, name, value);
  // RFC 9110 7.8: who sends Upgrade names it in Connection.
  const bool offers_upgrade =
      std::any_of(response.headers.begin(), response.headers.end(),
                  [](const auto& header) { return equals_ignoring_case(header.first, "upgrade"); });
  append_header(text, "Connection", offers_upgrade ? "upgrade, close" : "close");
  if (!may_have_body(response.status)) return text.append("\r\n");
  if (!response.content_type.empty()) append_header(text, "Content-Type", response.content_type);
  append_header(text, "Content-Length", std::to_string(response.body.size()));
  text.append("\r\n");
  if (!head_only) text.append(response.body);
  return text;
}

HttpResponse plain_response(std::uint16_t status, std::string_view text) {
  HttpResponse response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  // Browsers' scripts may read why (NIP-11 asks for the same on the document).
  response.headers.emplace_back("Access-Control-Allow-Origin", "*");
  if (status == 405) response.headers.emplace_back("Allow", "GET, HEAD, POST, OPTIONS");
  if (status == 426) {
    response.headers.emplace_back("Upgrade", "websocket");
    response.headers.emplace_back("Sec-WebSocket-Version", "13");
  }
  response.body = text.empty() ? reason_phrase(status) : text;
  response.body.push_back('\n');
  return response;
}

}  // namespace gyre::net
