// OutputFile: where a command writes its lines: a file, or standard output.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gyre::app {

class OutputFile {
 public:
  // Empty or "-": standard output.
  [[nodiscard]] static absl::StatusOr<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  [[nodiscard]] absl::Status write(std::string_view text);
  [[nodiscard]] absl::Status write_line(std::string_view text);
  // What the kernel did not take shows here at last.
  [[nodiscard]] absl::Status close();

 private:
  OutputFile(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}
  [[nodiscard]] absl::Status failure() const;

  std::FILE* file_;
  std::string name_;
};

}  // namespace gyre::app
