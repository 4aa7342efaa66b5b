// gyre-load fanout: one publisher, many subscribers that each must get every event once.
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "corpus.h"
#include "failure.h"
#include "histogram.h"
#include "live_publisher.h"
#include "monotonic.h"
#include "poller.h"
#include "process.h"
#include "relay_answer.h"
#include "report.h"
#include "websocket_client.h"

namespace gyre::load {
namespace {

constexpr std::string_view kSubscription = R"(["REQ","fan",{"limit":0}])";

class FanOut {
 public:
  FanOut(const RelayAddress& address, LivePublisher& publisher, std::uint64_t subscribers)
      : publisher_(publisher) {
    subscribers_.reserve(subscribers);
    for (std::uint64_t i = 0; i < subscribers; ++i) {
      WebSocketClient& client = subscribers_.emplace_back(address);
      poller_.add(client.fd(), static_cast<std::uint32_t>(i));
      client.queue(kSubscription);
      if (client.flush()) fail("the relay does not take a small request");
    }
    while (eose_ < subscribers) take(poller_.wait(10'000));
    poller_.add(publisher_.fd(), publisher_index());
  }

  void run() {
    const std::uint64_t start_ns = monotonic_ns();
    std::uint64_t last_progress_ns = start_ns;
    while (!publisher_.is_done() || delivered_ < publisher_.deliverable() * subscribers_.size()) {
      now_ns_ = monotonic_ns();
      watch_writing(publisher_.publish(now_ns_));
      const std::uint64_t before = delivered_;
      take(poller_.wait(1));
      now_ns_ = monotonic_ns();
      if (delivered_ != before) last_progress_ns = now_ns_;
      if (now_ns_ - last_progress_ns > 15'000'000'000) fail("deliveries are missing after 15 s");
    }
    seconds_ = static_cast<double>(monotonic_ns() - start_ns) * 1e-9;
    // One more look for events that came twice.
    take(poller_.wait(200));
  }

  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }
  [[nodiscard]] bool is_exact() const {
    return delivered_ == publisher_.deliverable() * subscribers_.size();
  }
  [[nodiscard]] double seconds() const { return seconds_; }
  [[nodiscard]] const Histogram& latency() const { return latency_; }

 private:
  [[nodiscard]] std::uint32_t publisher_index() const {
    return static_cast<std::uint32_t>(subscribers_.size());
  }

  void watch_writing(bool wants_write) {
    if (wants_write == watches_writing_) return;
    watches_writing_ = wants_write;
    poller_.change(publisher_.fd(), publisher_index(),
                   wants_write ? Poller::Interest::kReadAndWrite : Poller::Interest::kRead);
  }

  void take(std::span<const std::uint32_t> ready) {
    now_ns_ = monotonic_ns();
    for (const std::uint32_t index : ready) {
      if (index == publisher_index()) {
        publisher_.receive();
      } else if (!subscribers_[index].receive([this](std::string_view text) { on_text(text); })) {
        fail("a subscriber lost its connection");
      }
    }
  }

  void on_text(std::string_view text) {
    const Answer answer = read_answer(text);
    if (answer.kind == AnswerKind::kEose) ++eose_;
    if (answer.kind == AnswerKind::kClosed) fail("a subscription was closed");
    if (answer.kind != AnswerKind::kEvent) return;
    ++delivered_;
    latency_.add(now_ns_ - publisher_.sent_at_ns(answer.id));
  }

  LivePublisher& publisher_;
  Poller poller_;
  std::vector<WebSocketClient> subscribers_;
  Histogram latency_;
  std::uint64_t eose_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t now_ns_ = 0;
  double seconds_ = 0;
  bool watches_writing_ = false;
};

struct Plan {
  const Corpus& corpus;
  std::uint64_t subscribers;
  std::uint64_t window;
  std::uint64_t rate;
};

// What one server did with the plan.
struct Outcome {
  std::uint64_t accepted = 0;
  std::uint64_t delivered = 0;
  bool is_exact = false;
  double seconds = 0;
  double cpu_per_delivery_us = 0;  // Publishing included; 0 without a process to look at.
  Histogram latency;
};

Outcome run_plan(const Plan& plan, const RelayAddress& address, pid_t pid) {
  // An open loop must not wait for answers.
  const std::uint64_t window = plan.rate > 0 ? plan.corpus.size() : plan.window;
  LivePublisher publisher(address, plan.corpus, window, plan.rate);
  FanOut fan_out(address, publisher, plan.subscribers);
  const double cpu_before_s = pid > 0 ? process_cpu_s(pid) : 0;
  fan_out.run();
  Outcome outcome;
  outcome.accepted = publisher.accepted();
  outcome.delivered = fan_out.delivered();
  outcome.is_exact = fan_out.is_exact();
  outcome.seconds = fan_out.seconds();
  outcome.latency = fan_out.latency();
  if (pid > 0 && outcome.delivered > 0) {
    const double cpu_s = process_cpu_s(pid) - cpu_before_s;
    outcome.cpu_per_delivery_us = cpu_s * 1e6 / static_cast<double>(outcome.delivered);
  }
  return outcome;
}

void report_deliveries(Report& report, const std::string& prefix, const Outcome& outcome) {
  report.count(prefix + "delivered", outcome.delivered);
  report.number(prefix + "seconds", outcome.seconds, 3);
  report.number(prefix + "deliveries_per_s",
                static_cast<double>(outcome.delivered) / outcome.seconds);
  report.latency(prefix + "delivery", outcome.latency);
}

}  // namespace

int run_fan_out(Options& options) {
  const RelayAddress address = RelayAddress::parse(options.required_text("url"));
  const Corpus corpus = Corpus::open(options.required_text("corpus"));
  const Plan plan{corpus, options.number("subscribers", 200), options.number("window", 16),
                  options.number("rate", 0)};
  const auto pid = static_cast<pid_t>(options.number("pid", 0));
  const std::string null_url = options.text("null-url", "");
  const auto null_pid = static_cast<pid_t>(options.number("null-pid", 0));
  const bool as_json = options.flag("json");
  options.finish();

  const VerificationCost before = measure_verification();
  const Outcome relay = run_plan(plan, address, pid);
  Outcome null;
  if (!null_url.empty()) null = run_plan(plan, RelayAddress::parse(null_url), null_pid);

  Report report;
  report.count("events", corpus.size());
  report.count("accepted", relay.accepted);
  report.count("subscribers", plan.subscribers);
  report_deliveries(report, "", relay);
  if (pid > 0) {
    report.cost("cpu_per_delivery", relay.cpu_per_delivery_us, before, measure_verification());
  }
  if (!null_url.empty()) report_deliveries(report, "null_", null);
  if (pid > 0 && null_pid > 0) {
    report.number("null_cpu_per_delivery_us", null.cpu_per_delivery_us, 3);
    report.number("cpu_per_delivery_of_null", relay.cpu_per_delivery_us / null.cpu_per_delivery_us,
                  3);
  }
  report.print(as_json);
  return relay.is_exact && (null_url.empty() || null.is_exact) ? 0 : 1;
}

}  // namespace gyre::load
