#include "gyre/storage/manifest.h"

#include <array>
#include <cstring>

#include "gyre/base/assert.h"
#include "storage/concat.h"
#include "storage/corruption.h"
#include "storage/crc32c.h"
#include "storage/little_endian.h"
#include "storage/siphash.h"

namespace gyre::storage {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kMagic("GYREMAN\0", 8);
constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kHeadBytes = 64;
constexpr std::size_t kCrcBytes = 4;
constexpr std::size_t kNameBytesMax = 255;  // Of a file name, by Linux.

void append_u16(std::string& out, std::uint16_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void append_u32(std::string& out, std::uint32_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void append_u64(std::string& out, std::uint64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

void append_names(std::string& out, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    GYRE_ASSERT(is_file_name(name));
    append_u16(out, static_cast<std::uint16_t>(name.size()));
    out += name;
  }
}

std::string encode(const Manifest& manifest) {
  std::string out(kMagic);
  append_u32(out, kVersion);
  append_u32(out, static_cast<std::uint32_t>(manifest.runs.size()));
  append_u64(out, manifest.log_position.value);
  append_u64(out, manifest.log_record_number);
  append_u64(out, manifest.events_alive);
  append_u32(out, manifest.directory_rows);
  append_u32(out, manifest.next_run_number);
  append_u64(out, manifest.identity.store);
  append_u32(out, manifest.identity.shard);
  append_u32(out, static_cast<std::uint32_t>(manifest.dead_runs.size()));
  GYRE_ASSERT_CMP(out.size(), ==, kHeadBytes);
  append_names(out, manifest.runs);
  append_names(out, manifest.dead_runs);
  append_u32(out, crc32c(0, as_bytes(out)));
  return out;
}

// Takes `count` names off the front of `bytes`; false if they are not there.
bool take_names(ByteSpan& bytes, std::uint32_t count, std::vector<std::string>& runs) {
  for (; count != 0; --count) {
    if (bytes.size() < sizeof(std::uint16_t)) return false;
    const std::size_t size = load_u16(bytes.data());
    bytes = bytes.subspan(sizeof(std::uint16_t));
    if (bytes.size() < size) return false;
    const std::string_view name = as_text(bytes.first(size));
    if (!is_file_name(name)) return false;
    runs.emplace_back(name);
    bytes = bytes.subspan(size);
  }
  return true;
}

absl::Status damaged(std::string_view path, std::string_view what) {
  return absl::DataLossError(concat(path, " ", what, "; ", kRebuildCure));
}

absl::Status misplaced(std::string_view path, const ShardIdentity& found,
                       const ShardIdentity& expected) {
  if (found.store != expected.store) {
    return absl::FailedPreconditionError(
        concat(path,
               " belongs to another store than the file gyre-store: one of them was copied "
               "from elsewhere; put back the folder as it was, or restore a whole backup"));
  }
  return absl::FailedPreconditionError(concat(path, " belongs to shard ", found.shard,
                                              " and stands in the "
                                              "place of shard ",
                                              expected.shard,
                                              ": give the shard folders their own names back"));
}

}  // namespace

ShardIdentity shard_identity(const std::array<std::uint8_t, 16>& store_key, ShardId shard) {
  SipHash24 hash(load_u64(store_key.data()), load_u64(store_key.data() + 8));
  // No term begins with this byte, so the hash is none of theirs.
  hash.absorb(as_bytes("\0identity"sv));
  return {hash.finish(), shard};
}

absl::StatusOr<Manifest> read_manifest(FileSystem& files, std::string_view path,
                                       const ShardIdentity& identity) {
  const auto content = read_file(files, path);
  if (!content.ok()) return content.status();
  const ByteSpan bytes = as_bytes(*content);
  if (bytes.size() < kHeadBytes + kCrcBytes) return damaged(path, "is too short");
  if (content->compare(0, kMagic.size(), kMagic) != 0) return damaged(path, "is no manifest");
  // Before the checksum: a later version may keep that elsewhere.
  if (const std::uint32_t version = load_u32(&bytes[8]); version != kVersion) {
    return derived_version_error(path, version, kVersion);
  }
  const std::size_t crc_offset = bytes.size() - kCrcBytes;
  if (load_u32(&bytes[crc_offset]) != crc32c(0, bytes.first(crc_offset))) {
    return damaged(path, "fails its checksum");
  }
  Manifest manifest;
  manifest.log_position.value = load_u64(&bytes[16]);
  manifest.log_record_number = load_u64(&bytes[24]);
  manifest.events_alive = load_u64(&bytes[32]);
  manifest.directory_rows = load_u32(&bytes[40]);
  manifest.next_run_number = load_u32(&bytes[44]);
  manifest.identity = {load_u64(&bytes[48]), load_u32(&bytes[56])};
  if (manifest.identity != identity) return misplaced(path, manifest.identity, identity);
  ByteSpan names = bytes.subspan(kHeadBytes, crc_offset - kHeadBytes);
  if (!take_names(names, load_u32(&bytes[12]), manifest.runs) ||
      !take_names(names, load_u32(&bytes[60]), manifest.dead_runs) || !names.empty()) {
    return damaged(path, "names its runs wrongly");
  }
  return manifest;
}

absl::Status write_manifest(FileSystem& files, std::string_view path, const Manifest& manifest) {
  if (absl::Status status = stage_manifest(files, path, manifest); !status.ok()) return status;
  return publish_manifest(files, path);
}

absl::Status stage_manifest(FileSystem& files, std::string_view path, const Manifest& manifest) {
  return stage_file(files, path, encode(manifest));
}

absl::Status publish_manifest(FileSystem& files, std::string_view path) {
  return publish_file(files, path);
}

}  // namespace gyre::storage
