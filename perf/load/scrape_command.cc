// gyre-load scrape: reads everything that a store shows, {} without limit, page by page with until.
#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "commands.h"
#include "corpus.h"
#include "failure.h"
#include "monotonic.h"
#include "poller.h"
#include "process.h"
#include "query_event.h"
#include "relay_answer.h"
#include "report.h"
#include "websocket_client.h"

namespace gyre::load {
namespace {

class Scrape {
 public:
  Scrape(const RelayAddress& address, pid_t pid) : client_(address), pid_(pid) {
    poller_.add(client_.fd(), 0);
  }

  void run() {
    rss_before_ = pid_ > 0 ? process_rss_bytes(pid_) : 0;
    const std::uint64_t start_ns = monotonic_ns();
    while (read_page()) {
      ++pages_;
      if (pid_ > 0 && pages_ % 16 == 0) {
        rss_peak_ = std::max(rss_peak_, process_rss_bytes(pid_));
      }
    }
    seconds_ = static_cast<double>(monotonic_ns() - start_ns) * 1e-9;
  }

  [[nodiscard]] std::uint64_t events() const { return seen_.size(); }
  void add_figures(Report& report) const {
    report.count("events", seen_.size());
    report.count("pages", pages_);
    report.count("bytes", client_.received_bytes());
    report.number("seconds", seconds_, 3);
    report.number("mb_per_s", static_cast<double>(client_.received_bytes()) / 1e6 / seconds_, 1);
    report.number("events_per_s", static_cast<double>(seen_.size()) / seconds_);
    if (pid_ == 0) return;
    report.count("rss_before_bytes", rss_before_);
    report.count("rss_peak_bytes", rss_peak_);
  }

 private:
  // False if there was nothing more.
  bool read_page() {
    const std::string until =
        oldest_ == UINT64_MAX ? "" : "\"until\":" + std::to_string(oldest_ - 1);
    client_.queue(R"(["REQ","page",{)", until, "}]");
    if (client_.flush()) fail("the relay does not take a small request");
    const std::uint64_t before = seen_.size();
    for (bool is_at_end = false; !is_at_end;) {
      if (poller_.wait(20'000).empty()) fail("no answer in 20 s");
      const bool is_alive = client_.receive([&](std::string_view text) {
        const Answer answer = read_answer(text);
        if (answer.kind == AnswerKind::kEvent) take(answer.id, text);
        if (answer.kind == AnswerKind::kClosed) fail("closed: " + std::string(text));
        is_at_end = is_at_end || answer.kind == AnswerKind::kEose;
      });
      if (!is_alive) fail("the connection was lost");
    }
    return seen_.size() != before;
  }

  void take(std::string_view id, std::string_view text) {
    constexpr std::string_view kKey = "\"created_at\":";
    std::array<char, 16> prefix;
    std::copy_n(id.begin(), prefix.size(), prefix.begin());
    if (!seen_.insert(prefix).second) fail("an event came twice: " + std::string(id));
    const std::string_view number = text.substr(text.find(kKey) + kKey.size());
    std::from_chars(number.data(), number.data() + number.size(), oldest_);
  }

  WebSocketClient client_;
  Poller poller_;
  pid_t pid_;
  // By half the id: to hold them whole would take as long as to read them.
  absl::flat_hash_set<std::array<char, 16>> seen_;
  std::uint64_t oldest_ = UINT64_MAX;
  std::uint64_t pages_ = 0;
  std::uint64_t rss_before_ = 0;
  std::uint64_t rss_peak_ = 0;
  double seconds_ = 0;
};

}  // namespace

int run_scrape(Options& options) {
  const RelayAddress address = RelayAddress::parse(options.required_text("url"));
  const std::string corpus = options.text("corpus", "");
  const auto pid = static_cast<pid_t>(options.number("pid", 0));
  const bool as_json = options.flag("json");
  options.finish();

  Scrape scrape(address, pid);
  scrape.run();
  Report report;
  scrape.add_figures(report);
  bool is_right = true;
  if (!corpus.empty()) {
    const std::uint64_t expected = readable_events(Corpus::open(corpus)).size();
    report.count("expected_events", expected);
    is_right = scrape.events() == expected;
  }
  report.print(as_json);
  return is_right ? 0 : 1;
}

}  // namespace gyre::load
