// DirectoryFile: the rows of a directory file, read without the rest of a store and without trust.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "gyre/storage/directory.h"
#include "gyre/storage/file.h"

namespace gyre::storage {

class DirectoryFile {
 public:
  // Of the file's rows the first `rows` count: the manifest's number. kDataLoss if it
  // is no directory or holds fewer, is_older_derived_version() if it is of an older gyre. The file
  // may be in use by a relay: it only grows, and of a row that counts nothing but the flags ever
  // changes.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<DirectoryFile>> open(FileSystem& files,
                                                                           std::string_view path,
                                                                           Sequence rows);

  [[nodiscard]] Sequence rows() const { return rows_; }
  // False if the row fails its check. Requires: sequence < rows().
  [[nodiscard]] bool read(Sequence sequence, DirectoryRow& row) const;
  // The first row whose record stands at `position` or behind; rows() if there is none. Damaged
  // rows may lead it astray: look at what it finds.
  [[nodiscard]] Sequence find(LogPosition position) const;
  [[nodiscard]] static std::uint64_t offset_of(Sequence sequence);

 private:
  DirectoryFile() = default;
  std::unique_ptr<File> file_;
  const std::uint8_t* bytes_ = nullptr;
  Sequence rows_ = 0;
};

}  // namespace gyre::storage
