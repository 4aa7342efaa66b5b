#include "gyre/nostr/decode_error.h"

namespace gyre::nostr {

std::string_view describe(DecodeError error) {
  switch (error) {
    case DecodeError::kNone: return "no error";
    case DecodeError::kNotJson: return "not valid JSON";
    case DecodeError::kNotUtf8: return "not valid UTF-8";
    case DecodeError::kLoneSurrogate: return "a surrogate escape without its partner is no text";
    case DecodeError::kTooDeep: return "nested too deeply";
    case DecodeError::kTooLong: return "too long";
    case DecodeError::kTooShort: return "too short";
    case DecodeError::kTrailingBytes: return "something follows behind the end";
    case DecodeError::kRepeatedMember: return "a member is repeated";
    case DecodeError::kMissingMember: return "a member is missing";
    case DecodeError::kUnknownMember: return "an unknown member";
    case DecodeError::kBadHex: return "must be lower-case hex digits of the right number";
    case DecodeError::kBadNumber: return "must be an integer within its range";
    case DecodeError::kBadString: return "must be a string";
    case DecodeError::kBadTags: return "tags must be an array of arrays of one or more strings";
    case DecodeError::kBadList: return "must be a list of values of the right kind";
    case DecodeError::kBadVarint: return "a variable-length number is not in its shortest form";
    case DecodeError::kBadBase64: return "not valid base64";
    case DecodeError::kBadCharacter: return "a character outside the alphabet";
    case DecodeError::kBadChecksum: return "the checksum is wrong";
    case DecodeError::kBadPrefix: return "of another kind than expected";
    case DecodeError::kBadVersion: return "unknown encryption version";
    case DecodeError::kBadMac: return "made with another key, or changed on the way";
    case DecodeError::kBadPadding: return "the padding is wrong";
    case DecodeError::kBadKey: return "not a valid key";
    case DecodeError::kWrongId: return "the id is not the hash of the event";
    case DecodeError::kNotNson: return "not NSON";
    case DecodeError::kBadDescriptor: return "NSON whose lengths do not fit its text";
  }
  return "unknown error";
}

}  // namespace gyre::nostr
