// gyre-store-bench: one shard's store at several sizes. See perf/README.md.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "../load/failure.h"
#include "../load/options.h"
#include "../load/signer.h"
#include "stages.h"

namespace {

constexpr char kUsage[] =
    R"(usage: gyre-store-bench --folder FOLDER [--option value]...

Fills a store with 100,000, a million and ten million events of the load generator's mix, in a
temporary folder within FOLDER, and measures what an event costs and what a query takes.

  --folder FOLDER     where there is room: 1 GB for each million events; removed at the end
  --events N          this size only
  --events-max N      no size above this (default 10000000)
  --durability D      fsync, interval (default) or os
  --no-reserve        do not fetch from the host, before, the memory that files will take
  --json              one JSON object for each size

examples:
  gyre-store-bench --folder /var/tmp
  gyre-store-bench --folder /var/tmp --events 1000000 --json

The exit code is 0 only if every answer was right.
)";

gyre::storage::Durability parse_durability(std::string_view text) {
  if (text == "fsync") return gyre::storage::Durability::kFsync;
  if (text == "interval") return gyre::storage::Durability::kInterval;
  if (text == "os") return gyre::storage::Durability::kOs;
  gyre::load::fail("--durability is fsync, interval or os");
}

std::string make_folder(const std::string& parent) {
  std::string name = parent + "/gyre-store-bench-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) gyre::load::fail_errno("no folder in " + parent);
  return name;
}

void print(const gyre::store_bench::Figures& figures, bool as_json) {
  if (as_json) std::fputs("{", stdout);
  bool is_first = true;
  for (const auto& [name, value] : figures) {
    if (as_json) {
      std::printf("%s\"%s\": %.6g", is_first ? "" : ", ", name.c_str(), value);
    } else {
      std::printf("  %-28s %14.3f\n", name.c_str(), value);
    }
    is_first = false;
  }
  if (as_json) std::fputs("}\n", stdout);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace gyre;
  if (argc < 2 || std::string_view(argv[1]) == "--help") {
    std::fputs(kUsage, argc < 2 ? stderr : stdout);
    return argc < 2 ? 2 : 0;
  }
  load::Options options(argc, argv, 1);
  const std::string parent = options.required_text("folder");
  const std::uint64_t only = options.number("events", 0);
  const std::uint64_t events_max = options.number("events-max", 10'000'000);
  const storage::Durability durability = parse_durability(options.text("durability", "interval"));
  const bool has_reserve = !options.flag("no-reserve");
  const bool as_json = options.flag("json");
  options.finish();

  for (std::uint64_t events = 100'000; events <= events_max; events *= 10) {
    if (only != 0 && events != 100'000) break;
    store_bench::Plan plan;
    plan.events = only != 0 ? only : events;
    plan.folder = make_folder(parent);
    plan.durability = durability;
    plan.reserve = has_reserve ? store_bench::Reserve::kYes : store_bench::Reserve::kNo;
    plan.verification_us = load::measure_verification().min_us;
    store_bench::Figures figures = {{"events", static_cast<double>(plan.events)},
                                    {"verification_us", plan.verification_us}};
    const store_bench::Figures found = store_bench::measure(plan);
    figures.insert(figures.end(), found.begin(), found.end());
    print(figures, as_json);
  }
}
