#include "gyre/nostr/event.h"

#define OPENSSL_SUPPRESS_DEPRECATED  // As in verify.cc, for the same reason.
#include <openssl/sha.h>

#include <array>
#include <cstring>

#include "nostr/json_output.h"
#include "nostr/packed_layout.h"

namespace gyre::nostr {
namespace {

// What a hash is fed with: the functions of JsonOutput, through a buffer that is passed on when it
// is full.
class HashOutput {
 public:
  HashOutput() { SHA256_Init(&context_); }

  void put(char c) { *room_for(1) = c; }
  void put(std::string_view text) {
    if (text.size() > buffer_.size()) {
      flush();
      SHA256_Update(&context_, text.data(), text.size());
      return;
    }
    std::memcpy(room_for(text.size()), text.data(), text.size());
  }
  void put_quoted(std::string_view text) {
    put('"');
    while (!text.empty()) {
      const std::string_view piece = text.substr(0, kPieceBytes);
      const std::size_t bytes_max = kEscapeBytesMax * piece.size();
      if (buffer_.size() - used_ < bytes_max) flush();
      used_ =
          static_cast<std::size_t>(write_escaped(piece, buffer_.data() + used_) - buffer_.data());
      text.remove_prefix(piece.size());
    }
    put('"');
  }
  void put_hex(ByteSpan bytes) { hex_encode(bytes, room_for(2 * bytes.size())); }
  template <typename Integer>
  void put_number(Integer value) {
    std::array<char, 20> digits;
    const char* const end = std::to_chars(digits.data(), digits.data() + 20, value).ptr;
    put(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }
  Bytes32 digest() {
    flush();
    Bytes32 digest;
    SHA256_Final(digest.bytes.data(), &context_);
    return digest;
  }

 private:
  static constexpr std::size_t kEscapeBytesMax = 6;
  static constexpr std::size_t kPieceBytes = 512;

  char* room_for(std::size_t bytes) {
    if (buffer_.size() - used_ < bytes) flush();
    char* const out = buffer_.data() + used_;
    used_ += bytes;
    return out;
  }
  void flush() {
    SHA256_Update(&context_, buffer_.data(), used_);
    used_ = 0;
  }

  SHA256_CTX context_;
  std::size_t used_ = 0;
  std::array<char, kEscapeBytesMax * kPieceBytes> buffer_;
};

template <typename Output>
void put_canonical(Output& out, const Event& event) {
  out.put("[0,\"");
  out.put_hex(event.pubkey.bytes);
  out.put("\",");
  out.put_number(event.created_at);
  out.put(',');
  out.put_number(event.kind);
  out.put(',');
  put_tags(out, event.tags);
  out.put(',');
  out.put_quoted(event.content);
  out.put(']');
}

std::size_t number_bytes(const Event& event) {
  return decimal_digits(event.created_at) + decimal_digits(event.kind);
}

// Everything but numbers, tags and content.
constexpr std::size_t kJsonFixedBytes = kIdName.size() + kKeyDigits + kPubkeyName.size() +
                                        kKeyDigits + kCreatedAtName.size() + kKindName.size() +
                                        kTagsName.size() + kContentName.size() + 2 +
                                        kSigName.size() + kSigDigits + kJsonEnd.size();
constexpr std::size_t kCanonicalFixedBytes = 4 + kKeyDigits + 2 + 1 + 1 + 1 + 2 + 1;

}  // namespace

std::size_t json_bytes(const Event& event) {
  return kJsonFixedBytes + number_bytes(event) + json_bytes(event.tags) +
         escaped_bytes(event.content);
}

char* write_json(const Event& event, char* out) {
  JsonOutput output(out);
  output.put(kIdName);
  output.put_hex(event.id.bytes);
  output.put(kPubkeyName);
  output.put_hex(event.pubkey.bytes);
  output.put(kCreatedAtName);
  output.put_number(event.created_at);
  output.put(kKindName);
  output.put_number(event.kind);
  output.put(kTagsName);
  put_tags(output, event.tags);
  output.put(kContentName);
  output.put_quoted(event.content);
  output.put(kSigName);
  output.put_hex(event.sig);
  output.put(kJsonEnd);
  return output.end();
}

void append_json(const Event& event, std::string& out) {
  append_bytes(out, json_bytes(event), [&](char* at) { return write_json(event, at); });
}

std::size_t estimate_json_bytes(const Event& event) {
  const std::size_t items = event.tags.item_count();
  // Quotes and a comma for each item; brackets for each tag.
  return kJsonFixedBytes + number_bytes(event) + 2 + event.tags.text_bytes() + 3 * items +
         2 * event.tags.size() - (event.tags.empty() ? 0 : 1) + event.content.size();
}

std::size_t canonical_bytes(const Event& event) {
  return kCanonicalFixedBytes + number_bytes(event) + json_bytes(event.tags) +
         escaped_bytes(event.content);
}

char* write_canonical(const Event& event, char* out) {
  JsonOutput output(out);
  put_canonical(output, event);
  return output.end();
}

void append_canonical(const Event& event, std::string& out) {
  append_bytes(out, canonical_bytes(event), [&](char* at) { return write_canonical(event, at); });
}

Bytes32 compute_id(const Event& event) {
  HashOutput output;
  put_canonical(output, event);
  return output.digest();
}

bool has_right_id(const Event& event) { return compute_id(event) == event.id; }

bool has_valid_signature(const Event& event) {
  return verify_signature(event.pubkey, event.id, event.sig);
}

}  // namespace gyre::nostr
