// The PROXY protocol: a line (version 1) or a binary header (version 2) that a proxy puts in front
// of the connection it passes on.
#include "gyre/net/http.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "net/http_text.h"

namespace gyre::net {

namespace {

using runtime::IpAddress;

constexpr std::string_view kV1Start = "PROXY ";
constexpr std::size_t kV1BytesMax = 107;  // The longest line that version 1 can make.
constexpr std::string_view kV2Start("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::size_t kV2FixedBytes = 16;
// Addresses take 36 bytes at most; the rest is room for TLVs (certificate names and such).
constexpr std::size_t kV2BodyBytesMax = 2048;

ProxyParse bad() { return {.outcome = HttpOutcome::kBad}; }

ProxyParse present(std::size_t consumed, std::optional<IpAddress> source) {
  return {
      .outcome = HttpOutcome::kRequest, .is_present = true, .consumed = consumed, .source = source};
}

bool is_port(std::string_view text) { return is_digits(text) && text.size() <= 5; }

ProxyParse parse_v1(std::string_view text) {
  const std::size_t end = text.substr(0, kV1BytesMax).find("\r\n");
  if (end == std::string_view::npos) return text.size() < kV1BytesMax ? ProxyParse{} : bad();
  const std::size_t consumed = end + 2;
  const std::string_view line = text.substr(kV1Start.size(), end - kV1Start.size());
  if (line == "UNKNOWN" || line.starts_with("UNKNOWN ")) return present(consumed, {});
  // family, source, destination, source port, destination port
  std::array<std::string_view, 5> fields;
  std::optional<std::string_view> rest = line;
  for (std::string_view& field : fields) field = next_element(rest, ' ').value_or("");
  const auto source = IpAddress::parse(fields[1]);
  const bool is_sound = !rest && (fields[0] == "TCP4" || fields[0] == "TCP6") && source &&
                        IpAddress::parse(fields[2]) && is_port(fields[3]) && is_port(fields[4]);
  return is_sound ? present(consumed, source) : bad();
}

std::uint8_t byte_at(std::string_view text, std::size_t index) {
  return static_cast<std::uint8_t>(text[index]);
}

std::optional<IpAddress> v2_source(std::uint8_t family, std::string_view body) {
  IpAddress address;
  if (family == 0x1 && body.size() >= 12) {  // AF_INET: two addresses, two ports.
    address.bytes[10] = address.bytes[11] = 0xff;
    std::memcpy(address.bytes.data() + 12, body.data(), 4);
    return address;
  }
  if (family == 0x2 && body.size() >= 36) {  // AF_INET6
    std::memcpy(address.bytes.data(), body.data(), 16);
    return address;
  }
  return std::nullopt;
}

ProxyParse parse_v2(std::string_view text) {
  if (text.size() < kV2FixedBytes) return {};
  const std::uint8_t version = byte_at(text, 12) >> 4;
  const std::uint8_t command = byte_at(text, 12) & 0xf;
  const std::uint8_t family = byte_at(text, 13) >> 4;
  const std::size_t body_bytes =
      static_cast<std::size_t>(byte_at(text, 14)) << 8 | byte_at(text, 15);
  if (version != 2 || command > 1 || family > 3 || body_bytes > kV2BodyBytesMax) return bad();
  if (text.size() < kV2FixedBytes + body_bytes) return {};
  const std::size_t consumed = kV2FixedBytes + body_bytes;
  const bool is_local = command == 0;                  // The proxy's own, such as a health check.
  const bool is_unnamed = family == 0 || family == 3;  // Unspecified, or a Unix socket.
  if (is_local || is_unnamed) return present(consumed, {});
  const auto source = v2_source(family, text.substr(kV2FixedBytes, body_bytes));
  return source ? present(consumed, source) : bad();
}

bool begins_alike(std::string_view text, std::string_view start) {
  const std::size_t size = std::min(text.size(), start.size());
  return text.substr(0, size) == start.substr(0, size);
}

}  // namespace

ProxyParse parse_proxy_header(std::string_view text) {
  for (const std::string_view start : {kV1Start, kV2Start}) {
    if (!begins_alike(text, start)) continue;
    if (text.size() < start.size()) return {};
    return start == kV1Start ? parse_v1(text) : parse_v2(text);
  }
  return {.outcome = HttpOutcome::kRequest};
}

}  // namespace gyre::net
