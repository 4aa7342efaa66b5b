// Fault: why the reader of a message stopped, as a pointer to a refusal with static storage, so
// that saying "nothing wrong" costs one register. nullptr means that all is well.
#pragma once

#include "gyre/base/error.h"

namespace gyre::nostr {

using Fault = const Refusal*;

inline constexpr Refusal kNotJson{Prefix::kInvalid, "not valid JSON"};
inline constexpr Refusal kLoneSurrogate{Prefix::kInvalid,
                                        "a surrogate escape without its partner is no text"};
inline constexpr Refusal kTooDeep{Prefix::kInvalid, "nested too deeply"};
inline constexpr Refusal kRepeatedMember{Prefix::kInvalid, "a member is repeated"};

}  // namespace gyre::nostr
