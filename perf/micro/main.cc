// perf/report runs this program and sets its figures beside the published ones.

#include <benchmark/benchmark.h>

BENCHMARK_MAIN();
