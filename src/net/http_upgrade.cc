// The opening handshake of WebSocket (RFC 6455 4.2).
#include "gyre/net/http.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "gyre/base/assert.h"
#include "net/http_text.h"

namespace gyre::net {

namespace {

constexpr std::string_view kKeySuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455 1.3.

bool is_base64_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/';
}

// 16 bytes in base64: 22 characters and two of padding.
bool is_key(std::string_view key) {
  return key.size() == 24 && key.substr(22) == "==" &&
         std::all_of(key.begin(), key.begin() + 22, is_base64_character);
}

std::string accept_value(std::string_view key) {
  const std::string text = std::string(key).append(kKeySuffix);
  std::array<unsigned char, 20> digest;
  unsigned int digest_bytes = 0;
  const int status =
      EVP_Digest(text.data(), text.size(), digest.data(), &digest_bytes, EVP_sha1(), nullptr);
  GYRE_ASSERT_CMP(status, ==, 1);
  GYRE_ASSERT_CMP(digest_bytes, ==, digest.size());
  std::array<unsigned char, 28 + 1> base64;  // Four for every three bytes begun, and a zero.
  const int size = EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
  return {reinterpret_cast<const char*>(base64.data()), static_cast<std::size_t>(size)};
}

bool is_repeated(const HttpRequest& request, std::string_view lower_name) {
  return std::count_if(request.headers.begin(), request.headers.end(),
                       [&](const HttpHeader& header) {
                         return equals_ignoring_case(header.name, lower_name);
                       }) > 1;
}

UpgradeCheck refuse(std::uint16_t status, std::string_view reason) {
  UpgradeCheck check;
  check.is_upgrade = true;
  check.status = status;
  check.reason = reason;
  return check;
}

}  // namespace

UpgradeCheck check_upgrade(const HttpRequest& request, std::string_view base_path) {
  if (request.minor_version == 0 || !request.has_token("upgrade", "websocket")) return {};
  if (request.path != base_path) return refuse(404, "The relay is not at this path.");
  if (request.method != "GET") return refuse(400, "Only GET can be upgraded.");
  if (!request.has_token("connection", "upgrade")) {
    return refuse(400, "Connection: upgrade is missing; a proxy may have removed it.");
  }
  const auto version = request.find("sec-websocket-version");
  if (!version) return refuse(400, "Sec-WebSocket-Version is missing.");
  if (*version != "13") return refuse(426, "Only version 13 is spoken.");
  const auto key = request.find("sec-websocket-key");
  if (!key || !is_key(*key) || is_repeated(request, "sec-websocket-key")) {
    return refuse(400, "Sec-WebSocket-Key must be 16 bytes in base64, once.");
  }
  UpgradeCheck check;
  check.is_upgrade = true;
  check.status = 101;
  check.accept = accept_value(*key);
  return check;
}

std::string upgrade_response(std::string_view accept, std::string_view extensions) {
  std::string text =
      "HTTP/1.1 101 Switching Protocols\r\n"
      "Upgrade: websocket\r\n"
      "Connection: Upgrade\r\n"
      "Sec-WebSocket-Accept: ";
  text.append(accept).append("\r\n");
  if (!extensions.empty()) {
    text.append("Sec-WebSocket-Extensions: ").append(extensions).append("\r\n");
  }
  return text.append("\r\n");
}

}  // namespace gyre::net
