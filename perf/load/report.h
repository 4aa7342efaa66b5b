// Report: named figures, printed for people or as one JSON object for scripts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "histogram.h"
#include "signer.h"

namespace gyre::load {

class Report {
 public:
  void number(std::string_view name, double value, int decimals = 0);
  void count(std::string_view name, std::uint64_t value);
  // NAME_p50_ms, _p90_ms, _p99_ms and _max_ms of durations in nanoseconds.
  void latency(std::string_view name, const Histogram& histogram);
  // V before and after a run, and `name` = `cpu_us` in units of the smaller undisturbed one.
  void cost(std::string_view name, double cpu_us, const VerificationCost& before,
            const VerificationCost& after);

  void print(bool as_json) const;

 private:
  struct Figure {
    std::string name;
    std::string value;
  };
  std::vector<Figure> figures_;
};

}  // namespace gyre::load
