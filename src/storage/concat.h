// concat: one string out of texts and whole numbers, for messages and paths.
//
// Not absl::StrCat: distributions build abseil with a string_view of its own, and then StrCat does
// not take ours.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace gyre::storage {

template <typename... Parts>
[[nodiscard]] std::string concat(const Parts&... parts) {
  std::string text;
  const auto append = [&text](const auto& part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_integral_v<Part>) {
      text += std::to_string(part);
    } else if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
      text += std::string_view(part);
    } else {
      text.append(part.data(), part.size());  // absl::string_view, where it is a type of its own.
    }
  };
  (append(parts), ...);
  return text;
}

// A number in decimal with leading zeros.
[[nodiscard]] inline std::string zero_padded(std::uint32_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}

}  // namespace gyre::storage
