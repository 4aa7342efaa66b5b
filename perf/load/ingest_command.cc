// gyre-load ingest: publishes a corpus over several connections, each with a window of unanswered
// events (closed loop), and checks that every event is answered exactly once.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "commands.h"
#include "corpus.h"
#include "failure.h"
#include "histogram.h"
#include "monotonic.h"
#include "poller.h"
#include "process.h"
#include "relay_answer.h"
#include "report.h"
#include "websocket_client.h"

namespace gyre::load {
namespace {

struct IngestOptions {
  std::string url;
  std::string corpus;
  std::uint64_t connections = 16;
  std::uint64_t window = 64;
  std::uint64_t pid = 0;  // 0: the relay's CPU time is not measured.
  std::string acked;      // Empty: acknowledged ids are not written.
  bool as_json = false;
};

class Ingest {
 public:
  Ingest(const IngestOptions& options, const Corpus& corpus);
  void run();

  [[nodiscard]] bool is_complete() const { return answered_ == corpus_.size(); }
  void add_figures(Report& report) const;
  [[nodiscard]] std::uint64_t answered() const { return answered_; }

 private:
  struct Sent {
    std::size_t index;
    std::uint64_t at_ns;
  };
  struct Lane {
    explicit Lane(const RelayAddress& address) : client(address) {}
    WebSocketClient client;
    // By id: a view into the corpus.
    absl::flat_hash_map<std::string_view, Sent> in_flight;
    bool wants_write = false;
  };

  void fill_window(std::uint32_t number);
  void read_answers(std::uint32_t number);
  void on_ok(Lane& lane, const Answer& answer);
  void drop(std::uint32_t number);
  void write_acked();

  const Corpus& corpus_;
  const std::uint64_t window_;
  Poller poller_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::size_t open_lanes_ = 0;
  std::size_t next_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t now_ns_ = 0;
  std::uint64_t start_ns_ = 0;
  std::uint64_t end_ns_ = 0;
  Histogram latency_;
  std::map<std::string, std::uint64_t, std::less<>> outcomes_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> acked_{nullptr, &std::fclose};
};

Ingest::Ingest(const IngestOptions& options, const Corpus& corpus)
    : corpus_(corpus), window_(options.window) {
  const RelayAddress address = RelayAddress::parse(options.url);
  for (std::uint32_t i = 0; i < options.connections; ++i) {
    lanes_.push_back(std::make_unique<Lane>(address));
    poller_.add(lanes_.back()->client.fd(), i);
  }
  open_lanes_ = lanes_.size();
  if (options.acked.empty()) return;
  acked_.reset(std::fopen(options.acked.c_str(), "wbe"));
  if (acked_ == nullptr) fail_errno(options.acked);
}

void Ingest::run() {
  start_ns_ = now_ns_ = monotonic_ns();
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) fill_window(i);
  while (answered_ < corpus_.size() && open_lanes_ > 0) {
    const auto ready = poller_.wait(30'000);
    if (ready.empty()) fail("no answer in 30 s");
    now_ns_ = monotonic_ns();
    for (const std::uint32_t number : ready) read_answers(number);
    write_acked();
  }
  end_ns_ = monotonic_ns();
}

void Ingest::fill_window(std::uint32_t number) {
  Lane& lane = *lanes_[number];
  while (lane.in_flight.size() < window_ && next_ < corpus_.size()) {
    lane.client.queue("[\"EVENT\",", corpus_.json(next_), "]");
    if (!lane.in_flight.emplace(corpus_.id(next_), Sent{next_, now_ns_}).second) {
      fail("the corpus holds an event twice");
    }
    ++next_;
  }
  const bool wants_write = lane.client.flush();
  if (wants_write == lane.wants_write) return;
  lane.wants_write = wants_write;
  poller_.change(lane.client.fd(), number,
                 wants_write ? Poller::Interest::kReadAndWrite : Poller::Interest::kRead);
}

void Ingest::read_answers(std::uint32_t number) {
  Lane& lane = *lanes_[number];
  const bool is_alive = lane.client.receive([&](std::string_view text) {
    const Answer answer = read_answer(text);
    if (answer.kind == AnswerKind::kOk) on_ok(lane, answer);
  });
  if (is_alive) {
    fill_window(number);
  } else {
    drop(number);
  }
}

void Ingest::on_ok(Lane& lane, const Answer& answer) {
  const auto found = lane.in_flight.find(answer.id);
  if (found == lane.in_flight.end()) {
    fail("OK for an event that is not in flight here: " + std::string(answer.id));
  }
  latency_.add(now_ns_ - found->second.at_ns);
  std::string outcome = answer.is_accepted ? "ok_true" : "ok_false";
  if (!answer.word.empty()) outcome.append("_").append(answer.word);
  std::replace(outcome.begin(), outcome.end(), '-', '_');
  ++outcomes_[outcome];
  if (answer.is_accepted && acked_ != nullptr) {
    std::fwrite(answer.id.data(), 1, answer.id.size(), acked_.get());
    std::fputc('\n', acked_.get());
  }
  lane.in_flight.erase(found);
  ++answered_;
}

void Ingest::drop(std::uint32_t number) {
  poller_.remove(lanes_[number]->client.fd());
  --open_lanes_;
}

void Ingest::write_acked() {
  if (acked_ != nullptr && std::fflush(acked_.get()) != 0) fail_errno("--acked");
}

void Ingest::add_figures(Report& report) const {
  const double seconds = static_cast<double>(end_ns_ - start_ns_) * 1e-9;
  report.count("events", corpus_.size());
  report.count("answered", answered_);
  report.count("connections_lost", lanes_.size() - open_lanes_);
  for (const auto& [outcome, count] : outcomes_) report.count(outcome, count);
  report.number("seconds", seconds, 3);
  report.number("events_per_s", static_cast<double>(answered_) / seconds);
  report.number("json_bytes_mean",
                static_cast<double>(corpus_.bytes()) / static_cast<double>(corpus_.size()), 1);
  report.latency("latency", latency_);
}

IngestOptions read_options(Options& options) {
  IngestOptions read;
  read.url = options.required_text("url");
  read.corpus = options.required_text("corpus");
  read.connections = options.number("connections", read.connections);
  read.window = options.number("window", read.window);
  read.pid = options.number("pid", 0);
  read.acked = options.text("acked", "");
  read.as_json = options.flag("json");
  options.finish();
  if (read.connections == 0 || read.window == 0) fail("--connections and --window must be above 0");
  return read;
}

}  // namespace

int run_ingest(Options& options) {
  const IngestOptions read = read_options(options);
  const Corpus corpus = Corpus::open(read.corpus);
  const auto pid = static_cast<pid_t>(read.pid);
  Report report;
  Ingest ingest(read, corpus);
  if (pid == 0) {
    ingest.run();
    ingest.add_figures(report);
  } else {
    const VerificationCost before = measure_verification();
    const double cpu_before_s = process_cpu_s(pid);
    ingest.run();
    const double cpu_s = process_cpu_s(pid) - cpu_before_s;
    const VerificationCost after = measure_verification();
    ingest.add_figures(report);
    report.cost("cpu_per_event", cpu_s * 1e6 / static_cast<double>(ingest.answered()), before,
                after);
    report.count("rss_bytes", process_rss_bytes(pid));
  }
  report.print(read.as_json);
  return ingest.is_complete() ? 0 : 1;
}

}  // namespace gyre::load
