// What people call the kinds (the table of the nips repository).
#pragma once

#include <cstdint>
#include <string_view>

#include "gyre/nostr/kind.h"

namespace gyre::nostr {

// "short text note"; empty for a kind that has no name. Lives for ever.
[[nodiscard]] std::string_view kind_name(std::uint16_t kind);

// "regular", "replaceable", "ephemeral", "addressable".
[[nodiscard]] std::string_view kind_class_name(KindClass kind_class);

}  // namespace gyre::nostr
