// MessageOutline: what can be said of a message that was refused: whether it is JSON at all, and
// whom the answer must name. Made by a second, careful walk that only refused messages pay for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gyre::nostr {

struct MessageOutline {
  bool is_json = false;
  bool has_event_id = false;         // The second element is an object with a string named id.
  bool has_subscription_id = false;  // The second element is a string.
  std::string command;               // First element, if it is a string.
  std::string id;                    // Canonically escaped; of either sort.
};

// `text` must have kStringSlackBytes readable behind it.
[[nodiscard]] MessageOutline outline_message(std::string_view text);

// The same for the text of one object alone, as if it were the second element.
[[nodiscard]] MessageOutline outline_object(std::string_view text);

}  // namespace gyre::nostr
