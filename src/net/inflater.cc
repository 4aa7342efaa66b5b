#include "net/inflater.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "gyre/base/assert.h"

namespace gyre::net {

namespace {

// The empty stored block that the sender leaves out at the end (RFC 7692 7.2.2).
constexpr std::array<std::uint8_t, 4> kTail = {0x00, 0x00, 0xff, 0xff};
constexpr std::size_t kWindowBytes = 32 * 1024;
constexpr std::size_t kCapacityMin = 16 * 1024;

}  // namespace

struct Inflater::Stream {
  z_stream z{};
  Stream() {
    // Negative: deflate without the wrapping of zlib (RFC 1950).
    const int status = inflateInit2(&z, -MAX_WBITS);
    GYRE_ASSERT_CMP(status, ==, Z_OK);  // Fails for want of memory only.
  }
  ~Stream() { inflateEnd(&z); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Between two blocks, with no bit left over.
  [[nodiscard]] bool is_at_block_start() const { return (z.data_type & (128 | 63)) == 128; }
};

void Inflater::Free::operator()(std::uint8_t* memory) const { std::free(memory); }

Inflater::Inflater() = default;
Inflater::~Inflater() = default;

Inflater::Result Inflater::inflate(std::span<const std::uint8_t> message, std::uint32_t bytes_max) {
  if (stream_ == nullptr) stream_ = std::make_unique<Stream>();
  const int status = inflateReset(&stream_->z);
  GYRE_ASSERT_CMP(status, ==, Z_OK);
  size_ = 0;
  // One byte more than allowed, to tell a message that is too big from one that just fits.
  const std::size_t output_max = std::size_t{bytes_max} + 1;
  Step step = feed(message, output_max);
  if (step == Step::kGoOn) step = feed(kTail, output_max);
  if (size_ > bytes_max) return {Outcome::kTooBig, {}};
  if (step != Step::kGoOn || !stream_->is_at_block_start()) return {Outcome::kBroken, {}};
  std::memset(output_.get() + size_, 0, kPaddingBytes);
  return {Outcome::kDone, {output_.get(), size_}};
}

Inflater::Step Inflater::feed(std::span<const std::uint8_t> bytes, std::size_t output_max) {
  z_stream& z = stream_->z;
  z.next_in = const_cast<Bytef*>(bytes.data());
  z.avail_in = static_cast<uInt>(bytes.size());
  while (true) {
    if (!make_room(output_max)) return Step::kFull;
    z.next_out = output_.get() + size_;
    const std::size_t room = std::min(capacity_, output_max) - size_;
    z.avail_out = static_cast<uInt>(room);
    const int status = ::inflate(&z, Z_SYNC_FLUSH);
    size_ += room - z.avail_out;
    if (status == Z_STREAM_END) {
      if (!begin_again()) return Step::kBroken;
      if (z.avail_in == 0) return Step::kGoOn;
      continue;
    }
    // Z_BUF_ERROR: there was nothing to do, which is no error at the end of the input.
    if (status != Z_OK && status != Z_BUF_ERROR) return Step::kBroken;
    if (z.avail_in == 0 && z.avail_out > 0) return Step::kGoOn;
    if (status == Z_BUF_ERROR) return Step::kBroken;
  }
}

bool Inflater::make_room(std::size_t output_max) {
  if (size_ >= output_max) return false;
  if (size_ < capacity_) return true;
  const std::size_t capacity = std::min(std::max(kCapacityMin, capacity_ * 2), output_max);
  void* const grown = std::realloc(output_.release(), capacity + kPaddingBytes);
  GYRE_ASSERT(grown != nullptr);
  output_.reset(static_cast<std::uint8_t*>(grown));
  capacity_ = capacity;
  return true;
}

// A block may say that it is the last, and others may follow it in the same message, which may
// refer to what stands before it (RFC 7692 7.2.3.4).
bool Inflater::begin_again() {
  z_stream& z = stream_->z;
  if (inflateReset(&z) != Z_OK) return false;
  const std::size_t known = std::min(size_, kWindowBytes);
  return known == 0 ||
         inflateSetDictionary(&z, output_.get() + size_ - known, static_cast<uInt>(known)) == Z_OK;
}

}  // namespace gyre::net
