#include <cstdio>
#include <memory>
#include <string>

#include "app/command/command.h"
#include "app/explain.h"

namespace gyre::app {
namespace {

constexpr char kExamples[] = R"(
The store is opened as by gyre export, so no relay may be serving it: stop the relay, or look at a
copy of its folder (gyre backup makes one under a running relay).

* marks what the events are looked up by: the least cost, which is the postings expected and eight
for each term. What ? marks is walked first where that may be done sooner. Below stands what
answering has really read. A relay asks only the shards of the authors, where a filter names them,
and merges what they give.

Examples:
  gyre explain --store /var/lib/gyre '{"kinds":[1],"limit":100}'
  gyre explain --store /var/lib/gyre '{"#t":["nostr"],"kinds":[1,6],"since":1767225600}'
  gyre explain --store DIR --json '{"authors":["<hex>"]}' | jq '.shards[].records_read')";

struct Options {
  ExplainOptions explain;
  bool as_json = false;
};

int run(const Options& options) {
  const absl::StatusOr<Explanation> explanation = run_explain(options.explain);
  if (!explanation.ok()) return report(explanation.status());
  const std::string text = options.as_json ? to_json(*explanation) : to_text(*explanation);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

Command add_explain_command(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* const parser =
      program.add_subcommand("explain", "show how a filter is answered, and what that reads");
  parser->footer(kExamples);
  parser->add_option("--store", options->explain.store_path, "the store's folder")->required();
  parser->add_flag("--json", options->as_json, "one JSON object instead of tables");
  parser->add_option("FILTER", options->explain.filter, "a NIP-01 filter as JSON")->required();
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app
