// Fields: how one member of Config is checked, assigned, printed and copied.
//
// The builders are templates on the members' addresses, so that the table in config_key.cc names
// each member once and needs no code of its own.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "app/age_text.h"
#include "app/config.h"
#include "app/config_source.h"
#include "app/size_text.h"

namespace gyre::app {

struct ConfigField {
  std::string allowed;  // Completes "must be ..." in messages and "Allowed: ..." in the file.
  // False, and the Config unchanged, if the value is not allowed.
  std::function<bool(const SettingValue&, Config&)> assign;
  std::function<std::string(const Config&)> print;  // In TOML notation.
  std::function<void(const Config& from, Config& to)> copy;
};

// What a text must be. `accepts` sees no control characters and at most kTextBytesMax.
struct TextRule {
  std::string_view description;
  bool (*accepts)(std::string_view text);
};
inline constexpr std::size_t kTextBytesMax = 4096;

// True for what any text of a configuration may be: UTF-8 (toml++ sees to it) in one line or
// several, without other control characters.
[[nodiscard]] bool is_plain_text(std::string_view text);

// `items` in TOML notation.
[[nodiscard]] std::string toml_list(const std::vector<std::string>& items);

inline constexpr std::string_view kAgeDescription =
    "a number with s, m, h, d, w or y, as \"90d\", or \"forever\"";
// Sorted by kind. Nothing if a key or a value is wrong, or a kind stands in two entries.
[[nodiscard]] std::optional<std::vector<Config::Retention::KindAge>> parse_kind_ages(
    const TextTable& table);
[[nodiscard]] std::string kind_ages_text(const std::vector<Config::Retention::KindAge>& ages);

namespace internal {

template <auto kSection, auto kMember>
auto& member(Config& config) {
  return config.*kSection.*kMember;
}
template <auto kSection, auto kMember>
const auto& member(const Config& config) {
  return config.*kSection.*kMember;
}
template <auto kSection, auto kMember>
void copy_member(const Config& from, Config& to) {
  member<kSection, kMember>(to) = member<kSection, kMember>(from);
}
template <auto kSection, auto kMember>
using MemberType =
    std::remove_cvref_t<decltype(member<kSection, kMember>(std::declval<Config&>()))>;

}  // namespace internal

template <auto kSection, auto kMember>
ConfigField integer_field(std::uint64_t min, std::uint64_t max, std::string_view remark = "") {
  using T = internal::MemberType<kSection, kMember>;
  std::string allowed =
      "an integer from " + std::to_string(min) + " to " + std::to_string(max) + std::string(remark);
  return {std::move(allowed),
          [min, max](const SettingValue& value, Config& config) {
            const auto* number = std::get_if<std::int64_t>(&value);
            if (number == nullptr || *number < 0) return false;
            const auto unsigned_number = static_cast<std::uint64_t>(*number);
            if (unsigned_number < min || unsigned_number > max) return false;
            internal::member<kSection, kMember>(config) = static_cast<T>(unsigned_number);
            return true;
          },
          [](const Config& config) {
            return std::to_string(internal::member<kSection, kMember>(config));
          },
          internal::copy_member<kSection, kMember>};
}

// Bytes: an integer, or a text such as "128 MiB".
template <auto kSection, auto kMember>
ConfigField size_field(std::uint64_t min, std::uint64_t max) {
  ConfigField field = integer_field<kSection, kMember>(min, max);
  field.allowed += " (" + size_text(min) + " to " + size_text(max) + ", also written so)";
  field.assign = [assign_integer = std::move(field.assign)](const SettingValue& value,
                                                            Config& config) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return assign_integer(value, config);
    const std::optional<std::uint64_t> bytes = parse_size(*text);
    return bytes && assign_integer(static_cast<std::int64_t>(*bytes), config);
  };
  return field;
}

template <auto kSection, auto kMember>
ConfigField boolean_field() {
  return {"true or false",
          [](const SettingValue& value, Config& config) {
            const auto* boolean = std::get_if<bool>(&value);
            if (boolean == nullptr) return false;
            internal::member<kSection, kMember>(config) = *boolean;
            return true;
          },
          [](const Config& config) -> std::string {
            return internal::member<kSection, kMember>(config) ? "true" : "false";
          },
          internal::copy_member<kSection, kMember>};
}

template <auto kSection, auto kMember>
ConfigField text_field(TextRule rule) {
  return {
      std::string(rule.description),
      [rule](const SettingValue& value, Config& config) {
        const auto* text = std::get_if<std::string>(&value);
        if (text == nullptr || !is_plain_text(*text) || !rule.accepts(*text)) return false;
        internal::member<kSection, kMember>(config) = *text;
        return true;
      },
      [](const Config& config) { return toml_quoted(internal::member<kSection, kMember>(config)); },
      internal::copy_member<kSection, kMember>};
}

template <auto kSection, auto kMember>
ConfigField text_list_field(TextRule rule) {
  return {"a list of " + std::string(rule.description),
          [rule](const SettingValue& value, Config& config) {
            const auto* texts = std::get_if<std::vector<std::string>>(&value);
            if (texts == nullptr) return false;
            for (const std::string& text : *texts) {
              if (!is_plain_text(text) || !rule.accepts(text)) return false;
            }
            internal::member<kSection, kMember>(config) = *texts;
            return true;
          },
          [](const Config& config) {
            std::vector<std::string> items;
            for (const std::string& text : internal::member<kSection, kMember>(config)) {
              items.push_back(toml_quoted(text));
            }
            return toml_list(items);
          },
          internal::copy_member<kSection, kMember>};
}

template <auto kSection, auto kMember>
ConfigField kind_list_field() {
  return {"a list of kinds, integers from 0 to 65535",
          [](const SettingValue& value, Config& config) {
            std::vector<std::uint16_t> kinds;
            if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) {
              for (const std::int64_t number : *numbers) {
                if (number < 0 || number > 65535) return false;
                kinds.push_back(static_cast<std::uint16_t>(number));
              }
            } else {
              const auto* texts = std::get_if<std::vector<std::string>>(&value);
              if (texts == nullptr || !texts->empty()) return false;
            }
            internal::member<kSection, kMember>(config) = std::move(kinds);
            return true;
          },
          [](const Config& config) {
            std::vector<std::string> items;
            for (const std::uint16_t kind : internal::member<kSection, kMember>(config)) {
              items.push_back(std::to_string(kind));
            }
            return toml_list(items);
          },
          internal::copy_member<kSection, kMember>};
}

// Seconds, written as in age_text.h; 0 is "forever".
template <auto kSection, auto kMember>
ConfigField age_field() {
  return {std::string(kAgeDescription),
          [](const SettingValue& value, Config& config) {
            const auto* text = std::get_if<std::string>(&value);
            const auto age = text == nullptr ? std::nullopt : parse_age(*text);
            if (age) internal::member<kSection, kMember>(config) = *age;
            return age.has_value();
          },
          [](const Config& config) {
            return toml_quoted(age_text(internal::member<kSection, kMember>(config)));
          },
          internal::copy_member<kSection, kMember>};
}

// Config::Retention::KindAge's from a table such as { 1 = "30d", 30000-39999 = "1y" }.
template <auto kSection, auto kMember>
ConfigField kind_age_table_field() {
  return {"a table of kinds or ranges of kinds, none twice, and for each " +
              std::string(kAgeDescription) +
              ": { 1 = \"30d\", 30000-39999 = \"1y\", 0 = \"forever\" }",
          [](const SettingValue& value, Config& config) {
            const auto* table = std::get_if<TextTable>(&value);
            auto ages = table == nullptr ? std::nullopt : parse_kind_ages(*table);
            if (ages) internal::member<kSection, kMember>(config) = *std::move(ages);
            return ages.has_value();
          },
          [](const Config& config) {
            return kind_ages_text(internal::member<kSection, kMember>(config));
          },
          internal::copy_member<kSection, kMember>};
}

// An enum whose enumerators count from 0, by name.
template <auto kSection, auto kMember, std::size_t kCount>
ConfigField choice_field(const std::array<std::string_view, kCount>& names) {
  using T = internal::MemberType<kSection, kMember>;
  std::string allowed;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i > 0) allowed += i + 1 == kCount ? " or " : ", ";
    allowed += toml_quoted(names[i]);
  }
  return {std::move(allowed),
          [names](const SettingValue& value, Config& config) {
            const auto* text = std::get_if<std::string>(&value);
            for (std::size_t i = 0; text != nullptr && i < kCount; ++i) {
              if (*text != names[i]) continue;
              internal::member<kSection, kMember>(config) = static_cast<T>(i);
              return true;
            }
            return false;
          },
          [names](const Config& config) {
            return toml_quoted(
                names[static_cast<std::size_t>(internal::member<kSection, kMember>(config))]);
          },
          internal::copy_member<kSection, kMember>};
}

}  // namespace gyre::app
