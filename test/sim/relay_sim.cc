// Runs simulated relays.
//
//     relay_sim --seed N [--steps M]         one run, told about
//     relay_sim --seeds FIRST COUNT          many
//     relay_sim --suite                      what the test suite runs: fixed seeds and a new one
//
// A run is a function of its seed and steps: what fails once fails again.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "gyre/base/log.h"
#include "gyre/base/random.h"
#include "sim/simulation.h"

namespace gyre::test {
namespace {

constexpr std::uint64_t kSteps = 6'000;
constexpr std::uint64_t kFixedSeeds = 40;

bool run_seed(std::uint64_t seed, std::uint64_t steps, bool is_talkative) {
  std::string options;
  try {
    Simulation simulation(seed);
    options = simulation.report().options;
    simulation.run(steps);
    const SimulationReport report = simulation.report();
    if (!is_talkative) return true;
    std::printf(
        "seed %llu: %s\n  %llu turns, %llu clients, %llu messages, %zu events sent, %zu accepted, "
        "%llu crashes, %llu restarts, %llu slow clients dropped, %llu full disks, "
        "%llu records read from the disk, %llu reads failed\n",
        static_cast<unsigned long long>(seed), options.c_str(),
        static_cast<unsigned long long>(report.turns),
        static_cast<unsigned long long>(report.clients),
        static_cast<unsigned long long>(report.messages), report.sent, report.accepted,
        static_cast<unsigned long long>(report.crashes),
        static_cast<unsigned long long>(report.restarts),
        static_cast<unsigned long long>(report.slow_client_drops),
        static_cast<unsigned long long>(report.full_disks),
        static_cast<unsigned long long>(report.cold_reads),
        static_cast<unsigned long long>(report.failed_reads));
    return true;
  } catch (const Violation& violation) {
    std::printf("FAILED: %s\n  relay_sim --seed %llu --steps %llu\n  %s\n", violation.what(),
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(steps),
                options.c_str());
    return false;
  }
}

bool run_seeds(std::uint64_t first, std::uint64_t count, std::uint64_t steps) {
  std::uint64_t failures = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    // Asserts end the program without a word about the seed.
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    if (!run_seed(seed, steps, false)) ++failures;
  }
  std::printf("%llu of %llu seeds failed\n", static_cast<unsigned long long>(failures),
              static_cast<unsigned long long>(count));
  return failures == 0;
}

bool read_number(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

int run(const std::vector<std::string_view>& arguments) {
  set_log_level(LogLevel::kError);
  std::uint64_t seed = 0;
  std::uint64_t steps = kSteps;
  std::uint64_t count = 0;
  if (arguments.size() == 1 && arguments[0] == "--suite") {
    SystemRandom chance;
    const bool fixed = run_seeds(1, kFixedSeeds, kSteps);
    return run_seeds(chance.next_u64() >> 16, 1, kSteps) && fixed ? 0 : 1;
  }
  const bool is_range = arguments.size() == 3 && arguments[0] == "--seeds" &&
                        read_number(arguments[1], seed) && read_number(arguments[2], count);
  if (is_range) return run_seeds(seed, count, kSteps) ? 0 : 1;
  const bool has_seed =
      arguments.size() >= 2 && arguments[0] == "--seed" && read_number(arguments[1], seed);
  const bool has_steps =
      arguments.size() == 4 && arguments[2] == "--steps" && read_number(arguments[3], steps);
  if (!has_seed || (arguments.size() != 2 && !has_steps)) {
    std::fprintf(stderr, "relay_sim --seed N [--steps M] | --seeds FIRST COUNT | --suite\n");
    return 2;
  }
  return run_seed(seed, steps, true) ? 0 : 1;
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(std::vector<std::string_view>(argv + 1, argv + argc));
}
