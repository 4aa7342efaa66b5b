// DecodeError: why a decoder of the library did not take what it was given, as one byte.
//
// Decoders never abort and never throw on input. When one fails, what it was to fill is in a valid
// but unspecified state and may be used for the next attempt.
#pragma once

#include <cstdint>
#include <string_view>

namespace gyre::nostr {

enum class [[nodiscard]] DecodeError : std::uint8_t {
  kNone,            // All is well.
  kNotJson,         // RFC 8259.
  kNotUtf8,         //
  kLoneSurrogate,   // Half of a surrogate pair: text without a UTF-8 form.
  kTooDeep,         // More than 16 containers inside each other.
  kTooLong,         // Beyond a limit of the format, named where the decoder is declared.
  kTooShort,        // Ends before it is complete.
  kTrailingBytes,   // Goes on behind its end.
  kRepeatedMember,  // Parsers disagree which one counts.
  kMissingMember,   //
  kUnknownMember,   // Of a filter: ignoring it would widen the question.
  kBadHex,          // Not lower-case hex of the right length.
  kBadNumber,       // No integer, or outside its range.
  kBadString,       // Something else where a string must stand.
  kBadTags,         // Not an array of arrays of one or more strings.
  kBadList,         // Not a list of the right things.
  kBadVarint,       // Too long, or not in its shortest form.
  kBadBase64,       // RFC 4648, with padding.
  kBadCharacter,    // Not of the alphabet, or upper and lower case mixed.
  kBadChecksum,     //
  kBadPrefix,       // Of another kind than expected.
  kBadVersion,      // Of an encryption.
  kBadMac,          // Made with another key, or changed on the way.
  kBadPadding,      //
  kBadKey,          // No secret key, or not the x of a point on the curve.
  kWrongId,         // The id is not the hash of the event.
  kNotNson,         // Plain JSON perhaps.
  kBadDescriptor,   // NSON whose lengths do not fit its text.
};

// A sentence fragment for messages: "not valid JSON". Lives for ever.
[[nodiscard]] std::string_view describe(DecodeError error);

}  // namespace gyre::nostr
