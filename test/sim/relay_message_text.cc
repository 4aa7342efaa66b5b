#include "sim/relay_message_text.h"

#include <charconv>

namespace gyre::test {
namespace {

using Type = RelayMessageText::Type;

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool take(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  // Up to the next quote: no text of these messages holds an escaped one.
  bool take_string(std::string_view& out) {
    if (!take("\"")) return false;
    const std::size_t end = rest_.find('"');
    if (end == std::string_view::npos) return false;
    out = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool take_number(std::uint64_t& out) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return error == std::errc();
  }
  bool take_object(std::string_view& out) {
    if (!rest_.starts_with('{') || !rest_.ends_with("}]")) return false;
    out = rest_.substr(0, rest_.size() - 1);
    rest_.remove_prefix(out.size());
    return true;
  }
  bool take_end() { return take("]") && rest_.empty(); }

 private:
  std::string_view rest_;
};

bool read(Reader& reader, RelayMessageText& message) {
  std::string_view command;
  if (!reader.take("[") || !reader.take_string(command) || !reader.take(",")) return false;
  if (command == "NOTICE" || command == "AUTH") {
    message.type = command == "AUTH" ? Type::kAuth : Type::kNotice;
    return reader.take_string(message.text) && reader.take_end();
  }
  if (!reader.take_string(message.id)) return false;
  if (command == "EOSE") {
    message.type = Type::kEose;
    if (reader.take_end()) return true;
    return reader.take(",[") && reader.take_string(message.text) && reader.take("]") &&
           (message.text == "finish" || message.text == "more") && reader.take_end();
  }
  if (!reader.take(",")) return false;
  if (command == "EVENT") {
    message.type = Type::kEvent;
    return reader.take_object(message.event) && reader.take_end();
  }
  if (command == "CLOSED") {
    message.type = Type::kClosed;
    return reader.take_string(message.text) && reader.take_end();
  }
  if (command == "COUNT") {
    message.type = Type::kCount;
    return reader.take("{\"count\":") && reader.take_number(message.count) && reader.take("}") &&
           reader.take_end();
  }
  if (command != "OK") return false;
  message.type = Type::kOk;
  message.is_accepted = reader.take("true");
  if (!message.is_accepted && !reader.take("false")) return false;
  return reader.take(",") && reader.take_string(message.text) && reader.take_end();
}

}  // namespace

std::optional<RelayMessageText> read_relay_message(std::string_view message) {
  Reader reader(message);
  RelayMessageText out;
  if (!read(reader, out)) return std::nullopt;
  return out;
}

}  // namespace gyre::test
