// gyre-load idle: how much memory a connection costs that only listens.
#include <unistd.h>

#include <vector>

#include "commands.h"
#include "failure.h"
#include "monotonic.h"
#include "poller.h"
#include "process.h"
#include "relay_answer.h"
#include "report.h"
#include "websocket_client.h"

namespace gyre::load {
namespace {

// A live subscription with one author, as a client's inbox has it.
constexpr std::string_view kSubscription =
    R"(["REQ","idle",{"kinds":[1],"authors":[)"
    R"("00000000000000000000000000000000000000000000000000000000000000aa"],"limit":0}])";

// Answers pings for a while, and counts the EOSE that arrive.
class Crowd {
 public:
  void connect(const RelayAddress& address, std::uint64_t count) {
    clients_.reserve(clients_.size() + count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const int fd = clients_.emplace_back(address).fd();
      poller_.add(fd, static_cast<std::uint32_t>(clients_.size() - 1));
    }
  }
  void subscribe() {
    for (WebSocketClient& client : clients_) {
      client.queue(kSubscription);
      if (client.flush()) fail("the relay does not take a small request");
    }
  }
  void listen_for(std::uint64_t seconds) {
    const std::uint64_t end_ns = monotonic_ns() + seconds * 1'000'000'000;
    while (monotonic_ns() < end_ns) {
      for (const std::uint32_t index : poller_.wait(100)) {
        const bool is_alive = clients_[index].receive([this](std::string_view text) {
          if (read_answer(text).kind == AnswerKind::kEose) ++eose_;
        });
        if (!is_alive) fail("the relay closed an idle connection");
      }
    }
  }
  [[nodiscard]] std::uint64_t eose() const { return eose_; }

 private:
  Poller poller_;
  std::vector<WebSocketClient> clients_;
  std::uint64_t eose_ = 0;
};

double per_connection(std::uint64_t after, std::uint64_t before, std::uint64_t connections) {
  return (static_cast<double>(after) - static_cast<double>(before)) /
         static_cast<double>(connections);
}

}  // namespace

int run_idle(Options& options) {
  const RelayAddress address = RelayAddress::parse(options.required_text("url"));
  const std::uint64_t connections = options.number("connections", 5'000);
  const std::uint64_t settle_s = options.number("settle-s", 3);
  const auto pid = static_cast<pid_t>(options.number("pid", 0));
  const bool as_json = options.flag("json");
  options.finish();
  if (pid == 0 || connections == 0) fail("--pid and --connections must be given");

  Crowd crowd;
  // What the first few connections make the relay allocate once is not theirs.
  crowd.connect(address, 16);
  crowd.listen_for(1);
  const std::uint64_t rss_before = process_rss_bytes(pid);
  crowd.connect(address, connections);
  crowd.listen_for(settle_s);
  const std::uint64_t rss_connected = process_rss_bytes(pid);
  crowd.subscribe();
  crowd.listen_for(settle_s);
  const std::uint64_t rss_subscribed = process_rss_bytes(pid);
  const double cpu_before_s = process_cpu_s(pid);
  crowd.listen_for(settle_s);

  Report report;
  report.count("connections", connections);
  report.count("rss_before_bytes", rss_before);
  report.count("rss_connected_bytes", rss_connected);
  report.count("rss_subscribed_bytes", rss_subscribed);
  report.number("bytes_per_connection", per_connection(rss_connected, rss_before, connections));
  report.number("bytes_per_subscribed_connection",
                per_connection(rss_subscribed, rss_before, connections));
  report.number("idle_cpu_percent",
                100 * (process_cpu_s(pid) - cpu_before_s) / static_cast<double>(settle_s), 2);
  report.count("eose", crowd.eose());
  report.print(as_json);
  return crowd.eose() == connections + 16 ? 0 : 1;
}

}  // namespace gyre::load
