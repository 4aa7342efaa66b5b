#include "report.h"

#include <algorithm>
#include <cstdio>

namespace gyre::load {

void Report::number(std::string_view name, double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  figures_.push_back({std::string(name), text});
}

void Report::count(std::string_view name, std::uint64_t value) {
  figures_.push_back({std::string(name), std::to_string(value)});
}

void Report::latency(std::string_view name, const Histogram& histogram) {
  const std::string prefix(name);
  const auto milliseconds = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-6; };
  number(prefix + "_p50_ms", milliseconds(histogram.percentile(0.50)), 3);
  number(prefix + "_p90_ms", milliseconds(histogram.percentile(0.90)), 3);
  number(prefix + "_p99_ms", milliseconds(histogram.percentile(0.99)), 3);
  number(prefix + "_max_ms", milliseconds(histogram.max()), 3);
}

void Report::cost(std::string_view name, double cpu_us, const VerificationCost& before,
                  const VerificationCost& after) {
  number("verification_min_us_before", before.min_us, 2);
  number("verification_mean_us_before", before.mean_us, 2);
  number("verification_min_us_after", after.min_us, 2);
  number("verification_mean_us_after", after.mean_us, 2);
  number(std::string(name) + "_us", cpu_us, 3);
  number(std::string(name) + "_v", cpu_us / std::min(before.min_us, after.min_us), 4);
  // In units of the mean V: both sides then carry the disturbance of the machine.
  number(std::string(name) + "_v_of_mean", 2 * cpu_us / (before.mean_us + after.mean_us), 4);
}

void Report::print(bool as_json) const {
  if (as_json) std::fputs("{", stdout);
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    const Figure& figure = figures_[i];
    if (as_json) {
      std::printf("%s\"%s\":%s", i == 0 ? "" : ",", figure.name.c_str(), figure.value.c_str());
    } else {
      std::printf("%-32s %s\n", figure.name.c_str(), figure.value.c_str());
    }
  }
  if (as_json) std::puts("}");
}

}  // namespace gyre::load
