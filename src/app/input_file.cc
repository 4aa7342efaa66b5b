#include "app/input_file.h"

#include <array>
#include <cerrno>
#include <cstring>

namespace gyre::app {

absl::StatusOr<InputFile> open_input(const std::string& path) {
  InputFile file(is_standard_input(path) ? stdin : std::fopen(path.c_str(), "re"));
  if (file == nullptr) {
    return absl::NotFoundError("cannot read " + path + ": " + std::strerror(errno));
  }
  return file;
}

bool read_line(std::FILE* file, std::size_t bytes_max, std::string& line) {
  line.clear();
  int c = EOF;
  while (line.size() <= bytes_max && (c = getc_unlocked(file)) != EOF && c != '\n') {
    line.push_back(static_cast<char>(c));
  }
  if (c == EOF && std::ferror(file) != 0) return false;
  return c == '\n' || !line.empty();
}

absl::StatusOr<std::string> read_to_end(std::FILE* file, std::size_t bytes_max) {
  std::string text;
  std::array<char, 64 * 1024> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file)) {
    text.append(buffer.data(), got);
    if (text.size() > bytes_max) {
      return absl::InvalidArgumentError("the input has more than " + std::to_string(bytes_max) +
                                        " bytes");
    }
  }
  if (const absl::Status status = read_failure(file); !status.ok()) return status;
  return text;
}

absl::Status read_failure(std::FILE* file) {
  if (std::ferror(file) == 0) return absl::OkStatus();
  return absl::DataLossError(std::string("cannot read to the end of the input: ") +
                             std::strerror(errno));
}

}  // namespace gyre::app
