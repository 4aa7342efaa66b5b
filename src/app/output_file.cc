#include "app/output_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace gyre::app {

absl::StatusOr<OutputFile> OutputFile::open(const std::string& path) {
  if (path.empty() || path == "-") return OutputFile(stdout, "standard output");
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    return absl::NotFoundError("cannot write " + path + ": " + std::strerror(errno));
  }
  return OutputFile(file, path);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)), name_(std::move(other.name_)) {}

OutputFile::~OutputFile() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
}

absl::Status OutputFile::write(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), file_) == text.size() ? absl::OkStatus()
                                                                        : failure();
}

absl::Status OutputFile::write_line(std::string_view text) {
  if (absl::Status status = write(text); !status.ok()) return status;
  return std::fputc('\n', file_) == EOF ? failure() : absl::OkStatus();
}

absl::Status OutputFile::close() {
  std::FILE* const file = std::exchange(file_, nullptr);
  const int result = file == stdout ? std::fflush(file) : std::fclose(file);
  return result == 0 ? absl::OkStatus() : failure();
}

absl::Status OutputFile::failure() const {
  return absl::UnavailableError("cannot write " + name_ + ": " + std::strerror(errno));
}

}  // namespace gyre::app
