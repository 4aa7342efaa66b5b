// Where a command reads from: a file, or standard input.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace gyre::app {

struct InputFileCloser {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};
using InputFile = std::unique_ptr<std::FILE, InputFileCloser>;

[[nodiscard]] inline bool is_standard_input(const std::string& path) {
  return path.empty() || path == "-";
}

// Empty or "-": standard input.
[[nodiscard]] absl::StatusOr<InputFile> open_input(const std::string& path);

// The next line without its end, but with any '\r'; false at the end of the file or if it cannot be
// read, which read_failure() tells apart. Of a line of more than `bytes_max` bytes only one byte
// more is read.
[[nodiscard]] bool read_line(std::FILE* file, std::size_t bytes_max, std::string& line);
// All that is left; an error if that is more than `bytes_max` bytes.
[[nodiscard]] absl::StatusOr<std::string> read_to_end(std::FILE* file, std::size_t bytes_max);
// Why the last read failed, if it did. Not all of the file was seen then.
[[nodiscard]] absl::Status read_failure(std::FILE* file);

}  // namespace gyre::app
