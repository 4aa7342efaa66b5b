#include "stages.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>

#include "../load/monotonic.h"
#include "../load/signer.h"
#include "fill.h"
#include "memory.h"
#include "probes.h"

namespace gyre::store_bench {
namespace {

constexpr double kMib = 1024 * 1024;

// Runs `stage` in a child that ends without destructors, as a killed process does, and takes what
// it found. Ends the program if the child failed.
Figures run_in_child(const std::function<Figures()>& stage) {
  int ends[2];
  if (pipe(ends) != 0) load::fail_errno("a pipe could not be made");
  const pid_t child = fork();
  if (child < 0) load::fail_errno("a process could not be made");
  if (child == 0) {
    close(ends[0]);
    std::FILE* const out = fdopen(ends[1], "w");
    for (const auto& [name, value] : stage()) std::fprintf(out, "%s %.9g\n", name.c_str(), value);
    std::fflush(out);
    _exit(0);
  }
  close(ends[1]);
  std::FILE* const in = fdopen(ends[0], "r");
  Figures figures;
  char name[64];
  double value = 0;
  while (std::fscanf(in, "%63s %lf", name, &value) == 2) figures.emplace_back(name, value);
  std::fclose(in);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) load::fail("a stage failed");
  return figures;
}

void add_store(OpenStore& store, const FillCost& cost, std::uint64_t events, Figures& figures) {
  const storage::StoreStatistics statistics = store->statistics();
  const auto json_bytes = static_cast<double>(cost.json_bytes);
  const auto count = static_cast<double>(events);
  figures.emplace_back("json_bytes", json_bytes / count);
  figures.emplace_back("log_bytes", static_cast<double>(statistics.log_bytes) / count);
  figures.emplace_back("index_bytes", static_cast<double>(statistics.index_bytes) / count);
  figures.emplace_back(
      "disk_per_json",
      static_cast<double>(statistics.log_bytes + statistics.index_bytes) / json_bytes);
  figures.emplace_back("postings", static_cast<double>(statistics.postings) / count);
  figures.emplace_back("events_alive", static_cast<double>(statistics.events_alive));
  figures.emplace_back("runs", static_cast<double>(statistics.runs));
  figures.emplace_back("merges", static_cast<double>(statistics.merges));
  figures.emplace_back("rewritten", static_cast<double>(statistics.merged_postings) /
                                        static_cast<double>(statistics.postings));
}

void add_memory(Figures& figures) {
  const Memory memory = measure_memory();
  figures.emplace_back("anonymous_mib", static_cast<double>(memory.anonymous_bytes) / kMib);
  figures.emplace_back("file_mib", static_cast<double>(memory.file_bytes) / kMib);
  figures.emplace_back("peak_mib", static_cast<double>(memory.peak_bytes) / kMib);
}

Figures fill_and_probe(const Plan& plan) {
  PageReserve reserve(plan.reserve == Reserve::kYes ? plan.events * kFileBytesPerEvent : 0);
  OpenStore store(plan.folder, plan.durability);
  store.start_threads();
  Expectations expectations(busy_author(plan.events));
  const FillCost cost = fill(store, plan.events, expectations, reserve);
  const double insert_us = cost.put_cpu_us + cost.background_cpu_us;
  Figures figures = {
      {"insert_us", insert_us},
      {"insert_put_us", cost.put_cpu_us},
      {"insert_background_us", cost.background_cpu_us},
      {"insert_v", insert_us / plan.verification_us},
      {"insert_v_of_mean", insert_us / load::measure_verification().mean_us},
      {"worst_turn_ms", cost.worst_turn_ms},
      {"busy_share", cost.busy_share},
  };
  add_store(store, cost, plan.events, figures);
  for (const Probe& probe : probe(store, expectations)) {
    figures.emplace_back(probe.name + "_us", probe.median_us);
  }
  add_memory(figures);
  return figures;
}

enum class End : std::uint8_t { kClose, kKill };

Figures start(const Plan& plan, const char* name, End end) {
  const std::uint64_t begin_ns = load::monotonic_ns();
  OpenStore store(plan.folder, plan.durability);
  const double seconds = static_cast<double>(load::monotonic_ns() - begin_ns) / 1e9;
  store.start_threads();
  if (end == End::kClose && !store->close().ok()) load::fail("the store could not be closed");
  return {{name, seconds}};
}

}  // namespace

Figures measure(const Plan& plan) {
  Figures figures;
  const auto add = [&figures](const Figures& more) {
    figures.insert(figures.end(), more.begin(), more.end());
  };
  add(run_in_child([&] { return fill_and_probe(plan); }));
  add(run_in_child([&] { return start(plan, "start_after_kill_s", End::kClose); }));
  add(run_in_child([&] { return start(plan, "start_after_close_s", End::kKill); }));
  std::filesystem::remove_all(plan.folder);
  return figures;
}

}  // namespace gyre::store_bench
