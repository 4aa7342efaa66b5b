// gyre-load slow-reader: one subscriber stops reading while events come for it. The relay must drop
// it at some bound, its memory must not follow, and a second subscriber must get every event.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "commands.h"
#include "corpus.h"
#include "failure.h"
#include "live_publisher.h"
#include "monotonic.h"
#include "poller.h"
#include "process.h"
#include "relay_answer.h"
#include "report.h"
#include "websocket_client.h"

namespace gyre::load {
namespace {

constexpr std::string_view kSubscription = R"(["REQ","pond",{"limit":0}])";
constexpr std::uint32_t kPublisher = 0;
constexpr std::uint32_t kReader = 1;

void subscribe(WebSocketClient& client) {
  client.queue(kSubscription);
  if (client.flush()) fail("the relay does not take a small request");
  Poller poller;
  poller.add(client.fd(), 0);
  bool has_eose = false;
  while (!has_eose) {
    if (poller.wait(10'000).empty()) fail("no EOSE in 10 s");
    client.receive([&](std::string_view text) {
      has_eose = has_eose || read_answer(text).kind == AnswerKind::kEose;
    });
  }
}

// Reads what is left for the slow reader; true if the relay had ended the connection.
bool was_dropped(WebSocketClient& slow) {
  Poller poller;
  poller.add(slow.fd(), 0);
  while (!poller.wait(1'000).empty()) {
    if (!slow.receive([](std::string_view) {})) return true;
  }
  return false;
}

class SlowReader {
 public:
  SlowReader(const RelayAddress& address, LivePublisher& publisher, pid_t pid)
      : publisher_(publisher), slow_(address, 4096), reader_(address), pid_(pid) {
    subscribe(slow_);
    subscribe(reader_);
    poller_.add(publisher.fd(), kPublisher);
    poller_.add(reader_.fd(), kReader);
  }

  void run() {
    rss_before_ = rss_peak_ = process_rss_bytes(pid_);
    std::uint64_t last_progress_ns = monotonic_ns();
    std::uint64_t next_sample_ns = 0;
    while (!publisher_.is_done() || seen_.size() < publisher_.deliverable()) {
      std::uint64_t now_ns = monotonic_ns();
      watch_writing(publisher_.publish(now_ns));
      const auto ready = poller_.wait(100);
      for (const std::uint32_t index : ready) take(index);
      now_ns = monotonic_ns();
      if (!ready.empty()) last_progress_ns = now_ns;
      if (now_ns - last_progress_ns > 15'000'000'000) fail("nothing happened for 15 s");
      if (now_ns < next_sample_ns) continue;
      rss_peak_ = std::max(rss_peak_, process_rss_bytes(pid_));
      next_sample_ns = now_ns + 20'000'000;
    }
  }

  // Whether everything was as it must be.
  bool add_figures(Report& report) {
    const bool is_dropped = was_dropped(slow_);
    report.count("accepted", publisher_.accepted());
    report.count("delivered_to_reader", seen_.size());
    report.count("bytes_to_reader", reader_.received_bytes());
    report.count("bytes_to_slow_reader", slow_.received_bytes());
    report.count("slow_reader_dropped", is_dropped ? 1 : 0);
    report.count("rss_before_bytes", rss_before_);
    report.count("rss_peak_bytes", rss_peak_);
    report.count("rss_after_bytes", process_rss_bytes(pid_));
    report.number("rss_rise_mib", static_cast<double>(rss_peak_ - rss_before_) / (1 << 20), 1);
    return is_dropped && seen_.size() == publisher_.deliverable();
  }

 private:
  void take(std::uint32_t index) {
    if (index == kPublisher) {
      publisher_.receive();
      return;
    }
    const bool is_alive = reader_.receive([this](std::string_view text) {
      const Answer answer = read_answer(text);
      if (answer.kind == AnswerKind::kClosed) fail("the reader's subscription was closed");
      if (answer.kind != AnswerKind::kEvent) return;
      if (!seen_.emplace(answer.id).second) fail("an event was delivered twice");
    });
    if (!is_alive) fail("the reader lost its connection");
  }

  void watch_writing(bool wants_write) {
    if (wants_write == watches_writing_) return;
    watches_writing_ = wants_write;
    poller_.change(publisher_.fd(), kPublisher,
                   wants_write ? Poller::Interest::kReadAndWrite : Poller::Interest::kRead);
  }

  LivePublisher& publisher_;
  Poller poller_;
  WebSocketClient slow_;
  WebSocketClient reader_;
  pid_t pid_;
  absl::flat_hash_set<std::string> seen_;
  std::uint64_t rss_before_ = 0;
  std::uint64_t rss_peak_ = 0;
  bool watches_writing_ = false;
};

}  // namespace

int run_slow_reader(Options& options) {
  const RelayAddress address = RelayAddress::parse(options.required_text("url"));
  const Corpus corpus = Corpus::open(options.required_text("corpus"));
  const std::uint64_t window = options.number("window", 256);
  const auto pid = static_cast<pid_t>(options.number("pid", 0));
  const bool as_json = options.flag("json");
  options.finish();
  if (pid == 0) fail("--pid must be given");

  LivePublisher publisher(address, corpus, window, 0);
  SlowReader slow_reader(address, publisher, pid);
  slow_reader.run();
  Report report;
  report.count("events", corpus.size());
  const bool is_right = slow_reader.add_figures(report);
  report.print(as_json);
  return is_right ? 0 : 1;
}

}  // namespace gyre::load
