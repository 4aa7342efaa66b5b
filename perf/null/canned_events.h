// CannedEvents: lines of a corpus, handed out in turn, so that answers have the sizes of real ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gyre::null {

class CannedEvents {
 public:
  // One event a line, as `gyre-load corpus` writes them; none if the path is empty. Ends the
  // program if the file cannot be read or holds no event.
  explicit CannedEvents(const std::string& path);

  // False if there are none to hand out.
  [[nodiscard]] bool has_any() const { return !lines_.empty(); }
  [[nodiscard]] std::string_view at(std::size_t index) const {
    return lines_[index % lines_.size()];
  }

 private:
  std::string text_;
  std::vector<std::string_view> lines_;
};

}  // namespace gyre::null
