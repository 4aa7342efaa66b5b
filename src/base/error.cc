#include "gyre/base/error.h"

#include "gyre/base/assert.h"

namespace gyre {

std::string_view prefix_word(Prefix prefix) {
  switch (prefix) {
    case Prefix::kNone: return "";
    case Prefix::kDuplicate: return "duplicate";
    case Prefix::kPow: return "pow";
    case Prefix::kBlocked: return "blocked";
    case Prefix::kRateLimited: return "rate-limited";
    case Prefix::kInvalid: return "invalid";
    case Prefix::kRestricted: return "restricted";
    case Prefix::kMute: return "mute";
    case Prefix::kError: return "error";
    case Prefix::kAuthRequired: return "auth-required";
    case Prefix::kUnsupported: return "unsupported";
  }
  GYRE_ASSERT(false && "unknown prefix");
  return "";
}

}  // namespace gyre
