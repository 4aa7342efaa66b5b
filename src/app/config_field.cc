#include "app/config_field.h"

#include <algorithm>
#include <charconv>

namespace gyre::app {
namespace {

std::optional<std::uint16_t> parse_kind(std::string_view text) {
  std::uint16_t kind = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), kind);
  const bool is_kind = error == std::errc{} && end == text.data() + text.size();
  return is_kind ? std::optional(kind) : std::nullopt;
}

}  // namespace

bool is_plain_text(std::string_view text) {
  if (text.size() > kTextBytesMax) return false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) return false;
  }
  return true;
}

std::string toml_list(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) {
    if (out.size() > 1) out += ", ";
    out += item;
  }
  return out + "]";
}

std::optional<std::vector<Config::Retention::KindAge>> parse_kind_ages(const TextTable& table) {
  std::vector<Config::Retention::KindAge> ages;
  for (const auto& [kinds, text] : table) {
    const std::string_view range(kinds);
    const std::size_t dash = range.find('-');
    const auto first = parse_kind(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_kind(range.substr(dash + 1));
    const auto age = parse_age(text);
    if (!first || !last || !age || *first > *last) return std::nullopt;
    ages.push_back({*first, *last, *age});
  }
  std::ranges::sort(ages, {}, &Config::Retention::KindAge::first);
  for (std::size_t i = 1; i < ages.size(); ++i) {
    if (ages[i].first <= ages[i - 1].last) return std::nullopt;
  }
  return ages;
}

std::string kind_ages_text(const std::vector<Config::Retention::KindAge>& ages) {
  std::string out = "{";
  for (const Config::Retention::KindAge& entry : ages) {
    out += out.size() == 1 ? " " : ", ";
    out += std::to_string(entry.first);
    if (entry.last != entry.first) out += "-" + std::to_string(entry.last);
    out += " = " + toml_quoted(age_text(entry.max_age_s));
  }
  return out + (ages.empty() ? "}" : " }");
}

}  // namespace gyre::app
