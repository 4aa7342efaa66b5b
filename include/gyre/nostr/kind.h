// Kinds and their classes (NIP-01; the unnamed ranges are regular, nips.md 01-K05).
#pragma once

#include <cstdint>

namespace gyre::nostr {

enum class KindClass : std::uint8_t { kRegular, kReplaceable, kEphemeral, kAddressable };

inline constexpr std::uint16_t kKindProfile = 0;
inline constexpr std::uint16_t kKindFollows = 3;
inline constexpr std::uint16_t kKindEncryptedDirectMessage = 4;
inline constexpr std::uint16_t kKindDeletion = 5;
inline constexpr std::uint16_t kKindRepost = 6;
inline constexpr std::uint16_t kKindSeal = 13;
inline constexpr std::uint16_t kKindGenericRepost = 16;
inline constexpr std::uint16_t kKindVanish = 62;
inline constexpr std::uint16_t kKindGiftWrap = 1059;
inline constexpr std::uint16_t kKindEphemeralGiftWrap = 21059;
inline constexpr std::uint16_t kKindAuth = 22242;

[[nodiscard]] constexpr KindClass kind_class(std::uint16_t kind) {
  if (kind == kKindProfile || kind == kKindFollows) return KindClass::kReplaceable;
  if (kind >= 10'000 && kind < 20'000) return KindClass::kReplaceable;
  if (kind >= 20'000 && kind < 30'000) return KindClass::kEphemeral;
  if (kind >= 30'000 && kind < 40'000) return KindClass::kAddressable;
  return KindClass::kRegular;
}

}  // namespace gyre::nostr
