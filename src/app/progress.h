// Progress: one line on a terminal that says how far a long command is; silent elsewhere.
#pragma once

#include <cstdint>
#include <string>

#include "gyre/base/clock.h"

namespace gyre::app {

class Progress {
 public:
  // `unit` names what is counted ("lines"). `bytes_total` 0: unknown.
  Progress(std::string unit, std::uint64_t bytes_total);
  ~Progress();

  // Cheap; draws ten times a second at most. `note` follows the count.
  void update(std::uint64_t count, std::uint64_t bytes_done, const std::string& note);
  void finish();  // Clears the line.

 private:
  void draw(std::uint64_t count, std::uint64_t bytes_done, const std::string& note);

  SystemClock clock_;
  std::string unit_;
  std::uint64_t bytes_total_;
  std::uint64_t begin_ns_;
  std::uint64_t next_draw_ns_ = 0;
  bool is_terminal_;
  bool has_drawn_ = false;
};

}  // namespace gyre::app
