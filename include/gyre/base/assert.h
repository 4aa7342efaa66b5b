// Assertions that stay on in release builds.
//
// GYRE_ASSERT states what the programmer believes; when it fails the process prints the condition,
// the operands and the place, and aborts. Input from a peer must never reach one: what a peer may
// send is handled by value (see base/error.h), and the fuzzers hold us to it.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace gyre::internal {

[[noreturn]] void assert_failed(const char* file, int line, const char* condition);
[[noreturn]] void assert_compare_failed(const char* file, int line, const char* condition,
                                        std::int64_t left, std::int64_t right);

template <typename T>
constexpr std::int64_t printable(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<std::int64_t>(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_pointer_v<T>) {
    return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(value));
  } else {
    return static_cast<std::int64_t>(value);
  }
}

}  // namespace gyre::internal

#define GYRE_ASSERT(condition)                                         \
  do {                                                                 \
    if (!(condition)) [[unlikely]]                                     \
      ::gyre::internal::assert_failed(__FILE__, __LINE__, #condition); \
  } while (false)

// Compares two integers, enumerators or pointers and prints both when it fails.
#define GYRE_ASSERT_CMP(left, op, right)                                                    \
  do {                                                                                      \
    const auto& gyre_left_ = (left);                                                        \
    const auto& gyre_right_ = (right);                                                      \
    if (!(gyre_left_ op gyre_right_)) [[unlikely]]                                          \
      ::gyre::internal::assert_compare_failed(__FILE__, __LINE__, #left " " #op " " #right, \
                                              ::gyre::internal::printable(gyre_left_),      \
                                              ::gyre::internal::printable(gyre_right_));    \
  } while (false)
