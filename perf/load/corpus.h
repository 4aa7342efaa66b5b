// Corpus: signed events in a file, one JSON object a line, each beginning with its id. Any Nostr
// tool can read such a file; `gyre-load corpus` makes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::load {

class Corpus {
 public:
  // Maps the file for the life of the program. Ends the program if it is no corpus.
  static Corpus open(const std::string& path);

  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  [[nodiscard]] std::string_view json(std::size_t index) const { return lines_[index]; }
  [[nodiscard]] std::string_view id(std::size_t index) const {
    return lines_[index].substr(kIdStart.size(), 64);
  }
  [[nodiscard]] std::uint16_t kind(std::size_t index) const;
  // Sum of the JSON texts.
  [[nodiscard]] std::uint64_t bytes() const;

  static constexpr std::string_view kIdStart = R"({"id":")";

 private:
  std::vector<std::string_view> lines_;
};

}  // namespace gyre::load
