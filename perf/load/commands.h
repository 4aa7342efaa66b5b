// The subcommands of gyre-load. Each reads its options and returns the exit code: 0 only if every
// answer was as it must be.
#pragma once

#include "options.h"

namespace gyre::load {

int run_corpus(Options& options);
int run_ingest(Options& options);
int run_idle(Options& options);
int run_slow_reader(Options& options);
int run_fan_out(Options& options);
int run_query(Options& options);
int run_scrape(Options& options);

}  // namespace gyre::load
