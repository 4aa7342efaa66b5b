// gyre-load query: the mixed set of queries over a store that holds the corpus, several connections
// with one query at a time each. Every answer must have the number of events that it should have.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "corpus.h"
#include "failure.h"
#include "histogram.h"
#include "monotonic.h"
#include "poller.h"
#include "process.h"
#include "query_plan.h"
#include "relay_answer.h"
#include "report.h"
#include "websocket_client.h"

namespace gyre::load {
namespace {

// What stands in the way of a query besides the relay's work.
enum class Store : std::uint8_t {
  kAtRest,   // Answers have exactly the events expected.
  kGrowing,  // Somebody publishes meanwhile; answers may have more, up to their limit.
};

class QueryRun {
 public:
  QueryRun(const RelayAddress& address, const std::vector<PlannedQuery>& queries,
           std::uint64_t connections, Store store)
      : queries_(queries), store_(store), latencies_(QueryPlan::class_names().size()) {
    for (std::uint32_t i = 0; i < connections; ++i) {
      lanes_.push_back(std::make_unique<Lane>(address));
      poller_.add(lanes_.back()->client.fd(), i);
    }
  }

  // Every query `repeats` times, in turn.
  void run(std::uint64_t repeats) {
    total_ = queries_.size() * repeats;
    const std::uint64_t start_ns = monotonic_ns();
    for (const auto& lane : lanes_) ask_next(*lane);
    while (answered_ < total_) {
      const auto ready = poller_.wait(20'000);
      if (ready.empty()) fail("no answer in 20 s");
      for (const std::uint32_t index : ready) receive(*lanes_[index]);
    }
    seconds_ = static_cast<double>(monotonic_ns() - start_ns) * 1e-9;
  }

  [[nodiscard]] std::uint64_t answered() const { return answered_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] double per_second() const { return static_cast<double>(answered_) / seconds_; }
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] std::uint64_t received_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& lane : lanes_) bytes += lane->client.received_bytes();
    return bytes;
  }
  [[nodiscard]] const Histogram& latency_of(std::size_t query_class) const {
    return latencies_[query_class];
  }

 private:
  struct Lane {
    explicit Lane(const RelayAddress& address) : client(address) {}
    WebSocketClient client;
    const PlannedQuery* query = nullptr;
    // Not that of the query before: its live events may come until its CLOSE has been read.
    std::string subscription;
    std::uint64_t asked_at_ns = 0;
    std::uint64_t events = 0;
  };

  void ask_next(Lane& lane) {
    lane.query = nullptr;
    if (asked_ == total_) return;
    lane.query = &queries_[asked_++ % queries_.size()];
    lane.events = 0;
    // `limit` first and equal to what will come, so that a server which knows nothing but numbers
    // gives an answer of the same length.
    const std::uint64_t limit = store_ == Store::kAtRest ? lane.query->expected : lane.query->limit;
    lane.subscription = lane.subscription == "q" ? "r" : "q";
    lane.client.queue(R"(["REQ",")" + lane.subscription + R"(",{"limit":)" + std::to_string(limit),
                      lane.query->members, "}]");
    lane.asked_at_ns = monotonic_ns();
    if (lane.client.flush()) fail("the relay does not take a small request");
  }

  void receive(Lane& lane) {
    const bool is_alive = lane.client.receive([&](std::string_view text) {
      const Answer answer = read_answer(text);
      if (answer.kind == AnswerKind::kClosed) fail("a query was closed: " + std::string(text));
      if (answer.subscription != lane.subscription) return;
      if (answer.kind == AnswerKind::kEvent) ++lane.events;
      if (answer.kind == AnswerKind::kEose) on_end(lane);
    });
    if (!is_alive) fail("a connection was lost");
  }

  void on_end(Lane& lane) {
    if (lane.query == nullptr) fail("EOSE for no query");
    latencies_[lane.query->query_class].add(monotonic_ns() - lane.asked_at_ns);
    const bool is_right = store_ == Store::kAtRest ? lane.events == lane.query->expected
                                                   : lane.events >= lane.query->expected &&
                                                         lane.events <= lane.query->limit;
    if (!is_right) {
      fail(std::to_string(lane.events) + " events instead of " +
           std::to_string(lane.query->expected) + " for {" + lane.query->members.substr(1, 300) +
           "}");
    }
    ++answered_;
    events_ += lane.events;
    lane.client.queue(R"(["CLOSE",")" + lane.subscription + "\"]");
    ask_next(lane);
    if (lane.query == nullptr) (void)lane.client.flush();
  }

  const std::vector<PlannedQuery>& queries_;
  const Store store_;
  Poller poller_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Histogram> latencies_;
  std::uint64_t total_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t events_ = 0;
  double seconds_ = 0;
};

struct Target {
  std::string url;
  pid_t pid = 0;
};

// Runs the plan; the CPU time of the server for each query, in microseconds, or 0.
double run_on(const Target& target, QueryRun& run, std::uint64_t repeats) {
  const double cpu_before_s = target.pid > 0 ? process_cpu_s(target.pid) : 0;
  run.run(repeats);
  if (target.pid == 0) return 0;
  const double cpu_s = process_cpu_s(target.pid) - cpu_before_s;
  return cpu_s * 1e6 / static_cast<double>(run.answered());
}

void report_rates(Report& report, const std::string& prefix, const QueryRun& run) {
  report.number(prefix + "queries_per_s", run.per_second());
  report.number(prefix + "mib_per_s",
                static_cast<double>(run.received_bytes()) / (1 << 20) / run.seconds(), 1);
}

}  // namespace

int run_query(Options& options) {
  const Target relay{options.required_text("url"), static_cast<pid_t>(options.number("pid", 0))};
  const Target null{options.text("null-url", ""),
                    static_cast<pid_t>(options.number("null-pid", 0))};
  const Corpus corpus = Corpus::open(options.required_text("corpus"));
  const std::uint64_t connections = options.number("connections", 4);
  const std::uint64_t per_class = options.number("queries", 50);
  const std::uint64_t repeats = options.number("repeats", 20);
  const Store store = options.flag("growing") ? Store::kGrowing : Store::kAtRest;
  const bool as_json = options.flag("json");
  options.finish();
  if (connections == 0 || per_class == 0 || repeats == 0) {
    fail("--connections, --queries and --repeats must be above 0");
  }

  const QueryPlan plan(readable_events(corpus), per_class, 1);
  const VerificationCost before = measure_verification();
  QueryRun run(RelayAddress::parse(relay.url), plan.queries(), connections, store);
  const double cpu_us = run_on(relay, run, repeats);

  Report report;
  report.count("queries", run.answered());
  report.number("events_per_query",
                static_cast<double>(run.events()) / static_cast<double>(run.answered()), 1);
  report_rates(report, "", run);
  for (std::size_t i = 0; i < QueryPlan::class_names().size(); ++i) {
    report.latency(QueryPlan::class_names()[i], run.latency_of(i));
  }
  if (relay.pid > 0) report.cost("cpu_per_query", cpu_us, before, measure_verification());
  if (!null.url.empty()) {
    QueryRun null_run(RelayAddress::parse(null.url), plan.queries(), connections, store);
    const double null_cpu_us = run_on(null, null_run, repeats);
    report_rates(report, "null_", null_run);
    report.number("rate_of_null", run.per_second() / null_run.per_second(), 3);
    if (relay.pid > 0 && null.pid > 0) {
      report.number("null_cpu_per_query_us", null_cpu_us, 2);
      report.number("cpu_per_query_of_null", cpu_us / null_cpu_us, 3);
    }
  }
  report.print(as_json);
  return 0;
}

}  // namespace gyre::load
