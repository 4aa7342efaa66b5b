#include "relay_answer.h"

#include <string>

#include "failure.h"

namespace gyre::load {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : whole_(text), rest_(text) {}

  bool take(std::string_view token) {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) malformed();
  }
  // A string without regard to what its escapes mean.
  std::string_view string() {
    expect("\"");
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2U : 1U;
    if (end >= rest_.size()) malformed();
    const std::string_view content = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return content;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[noreturn]] void malformed() const {
    fail("malformed message: " + std::string(whole_.substr(0, 300)));
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
  }

  std::string_view whole_;
  std::string_view rest_;
};

Answer read_ok(Scanner& scanner) {
  Answer answer;
  answer.kind = AnswerKind::kOk;
  scanner.expect(",");
  answer.id = scanner.string();
  scanner.expect(",");
  answer.is_accepted = scanner.take("true");
  if (!answer.is_accepted) scanner.expect("false");
  scanner.expect(",");
  const std::string_view text = scanner.string();
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) answer.word = text.substr(0, colon);
  scanner.expect("]");
  return answer;
}

Answer read_event(Scanner& scanner) {
  static constexpr std::string_view kIdKey = "\"id\":";
  Answer answer;
  answer.kind = AnswerKind::kEvent;
  scanner.expect(",");
  answer.subscription = scanner.string();
  // Looked for at the start, where most relays have it, then anywhere; no id of another event can
  // come before it, for that would stand in a string, where the quotes are escaped.
  const std::size_t found = scanner.rest().find(kIdKey);
  if (found == std::string_view::npos) scanner.malformed();
  Scanner id(scanner.rest().substr(found + kIdKey.size()));
  answer.id = id.string();
  return answer;
}

}  // namespace

Answer read_answer(std::string_view text) {
  Scanner scanner(text);
  scanner.expect("[");
  const std::string_view command = scanner.string();
  if (command == "OK") return read_ok(scanner);
  if (command == "EVENT") return read_event(scanner);
  Answer answer;
  if (command == "EOSE") {
    answer.kind = AnswerKind::kEose;
    scanner.expect(",");
    answer.subscription = scanner.string();
  }
  if (command == "CLOSED") answer.kind = AnswerKind::kClosed;
  return answer;
}

}  // namespace gyre::load
