#include "gyre/nostr/nip04.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "gyre/base/assert.h"
#include "gyre/nostr/base64.h"
#include "nostr/cipher.h"

namespace gyre::nostr {
namespace {

constexpr std::size_t kBlockBytes = 16;
constexpr std::size_t kIvBytes = 16;
constexpr std::string_view kIvName = "?iv=";

}  // namespace

class Nip04::Impl {
 public:
  explicit Impl(const Bytes32& key) : key_(key) {}
  ~Impl() { wipe(&key_, sizeof key_); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  DecodeError encrypt(std::string_view text, ByteSpan iv, std::string& payload) {
    GYRE_ASSERT_CMP(iv.size(), ==, kIvBytes);
    if (text.size() > kNip04TextBytesMax) return DecodeError::kTooLong;
    // A whole block is added if the text ends with one.
    const std::size_t padding = kBlockBytes - text.size() % kBlockBytes;
    buffer_.resize(text.size() + padding);
    if (!text.empty()) std::memcpy(buffer_.data(), text.data(), text.size());
    std::memset(buffer_.data() + text.size(), static_cast<int>(padding), padding);
    encryption_.run(key_.bytes.data(), iv.data(), buffer_, buffer_.data());
    payload.resize(base64_chars(buffer_.size()) + kIvName.size() + base64_chars(kIvBytes));
    char* const end = write_base64(buffer_, payload.data());
    std::memcpy(end, kIvName.data(), kIvName.size());
    write_base64(iv, end + kIvName.size());
    return DecodeError::kNone;
  }

  DecodeError decrypt(std::string_view payload, std::string& text) {
    if (payload.size() > base64_chars(kNip04TextBytesMax + kBlockBytes) + 64) {
      return DecodeError::kTooLong;
    }
    const std::size_t separator = payload.rfind(kIvName);
    if (separator == std::string_view::npos) return DecodeError::kBadBase64;
    const std::string_view iv_text = payload.substr(separator + kIvName.size());
    std::array<std::uint8_t, base64_bytes_max(base64_chars(kIvBytes))> iv;
    if (iv_text.size() != base64_chars(kIvBytes) || parse_base64(iv_text, iv.data()) != kIvBytes) {
      return DecodeError::kBadBase64;
    }
    buffer_.resize(base64_bytes_max(separator));
    const std::optional<std::size_t> bytes =
        parse_base64(payload.substr(0, separator), buffer_.data());
    if (!bytes) return DecodeError::kBadBase64;
    if (*bytes == 0 || *bytes % kBlockBytes != 0) return DecodeError::kBadPadding;
    buffer_.resize(*bytes);
    decryption_.run(key_.bytes.data(), iv.data(), buffer_, buffer_.data());
    const DecodeError error = take_text(text);
    wipe(buffer_.data(), buffer_.size());
    return error;
  }

 private:
  DecodeError take_text(std::string& text) const {
    const std::uint8_t padding = buffer_.back();
    if (padding == 0 || padding > kBlockBytes) return DecodeError::kBadPadding;
    const ByteSpan tail = ByteSpan(buffer_).last(padding);
    const bool is_even =
        std::all_of(tail.begin(), tail.end(), [&](std::uint8_t byte) { return byte == padding; });
    if (!is_even) return DecodeError::kBadPadding;
    text.assign(as_text(ByteSpan(buffer_).first(buffer_.size() - padding)));
    return DecodeError::kNone;
  }

  Bytes32 key_;
  Cipher encryption_{CipherKind::kAes256Cbc, Direction::kEncrypt};
  Cipher decryption_{CipherKind::kAes256Cbc, Direction::kDecrypt};
  std::vector<std::uint8_t> buffer_;
};

std::optional<Nip04> Nip04::derive(const SecretKey& secret_key, const Bytes32& public_key) {
  std::optional<Bytes32> shared = secret_key.shared_x(public_key);
  if (!shared) return std::nullopt;
  std::optional<Nip04> cipher(std::in_place, *shared);
  wipe(&*shared, sizeof *shared);
  return cipher;
}

Nip04::Nip04(const Bytes32& shared_x) : impl_(std::make_unique<Impl>(shared_x)) {}
Nip04::~Nip04() = default;
Nip04::Nip04(Nip04&&) noexcept = default;
Nip04& Nip04::operator=(Nip04&&) noexcept = default;

DecodeError Nip04::encrypt(std::string_view text, Random& random, std::string& payload) {
  std::array<std::uint8_t, kIvBytes> iv;
  random.fill(iv);
  return impl_->encrypt(text, iv, payload);
}

DecodeError Nip04::encrypt_with_iv(std::string_view text, ByteSpan iv, std::string& payload) {
  return impl_->encrypt(text, iv, payload);
}

DecodeError Nip04::decrypt(std::string_view payload, std::string& text) {
  return impl_->decrypt(payload, text);
}

}  // namespace gyre::nostr
