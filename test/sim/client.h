// Client: one connection of a simulation, what it asked for, and whether it is answered as it
// should.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/corpus.h"
#include "sim/ledger.h"
#include "sim/relay_message_text.h"
#include "sim/subscription_check.h"
#include "sim/web_socket_client.h"
#include "support/sim_clock.h"
#include "support/sim_io.h"

namespace gyre::test {

struct ClientLimits {
  FilterLimits filters;
  std::uint32_t subscriptions = 200;
  std::uint32_t counts = 16;
  bool may_be_dropped = false;       // Queues are so short that a reader may be too slow for them.
  bool may_run_out_of_time = false;  // Queries may end with CLOSED `error:`.
};

class Client {
 public:
  Client(SimNetwork& network, Corpus& corpus, Ledger& ledger, const SimClock& clock, Random& random,
         ShardId shard, const ClientLimits& limits);

  // Has been greeted, and has not begun to leave.
  [[nodiscard]] bool is_open() const {
    return !challenge_.empty() && !is_gone_ && !is_end_expected_;
  }
  [[nodiscard]] bool is_gone() const { return is_gone_; }
  // Reads what has arrived and answers pings; true if anything was there. Throws Violation.
  bool receive();

  void publish(EventIndex index);
  void subscribe();
  void replace_or_close_subscription();
  void subscribe_badly();
  void count();
  void log_in();
  void talk_nonsense();

  void stop_reading();
  void resume_reading();
  void say_goodbye();  // A Close; the relay's is waited for.
  void hang_up();      // FIN or reset without a word.
  void expect_end() { is_end_expected_ = true; }

  // Nothing is on its way any more: everything must have been answered. Only requests to delete and
  // to vanish may wait for a full disk of another shard, and with them the connection, since so few
  // may be unanswered at once. Throws Violation.
  enum class Disk : std::uint8_t { kHasSpace, kIsFull };
  void check_settled(Disk disk);

 private:
  using Type = RelayMessageText::Type;

  // All REQs of one id since its last CLOSE has settled, oldest first. The last is the valid one.
  struct Channel {
    std::vector<std::unique_ptr<SubscriptionCheck>> requests;  // Without those to be refused.
    std::vector<std::string> refusals_due;                     // Words of the CLOSED to come.
    // A REQ that is replaced or closed before its EOSE may have one or not.
    std::uint32_t eose_min = 0;
    std::uint32_t eose_max = 0;
    std::uint32_t eose_count = 0;
    bool is_closed = false;  // By CLOSE, or because the last REQ is refused.
  };
  struct PendingCount {
    std::unique_ptr<SubscriptionCheck> filters;
    std::string expected_refusal;
    Moment requested;
    std::int64_t requested_s;
  };

  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_.next_u64() % bound; }
  void send(std::string_view text);
  void open_channel(const std::string& id);
  [[nodiscard]] std::uint32_t open_channel_count() const;
  [[nodiscard]] std::vector<Corpus::FilterText> make_filters();
  [[nodiscard]] std::string refusal_of(const SubscriptionCheck& check) const;
  void close_channel(const std::string& id, Channel& channel);

  void take(const RelayMessageText& message);
  void take_event(const RelayMessageText& message);
  void take_ok(const RelayMessageText& message);
  void take_eose(const RelayMessageText& message);
  void take_closed(const RelayMessageText& message);
  void take_count(const RelayMessageText& message);
  void take_refused_count(const std::string& id, const RelayMessageText& message);
  [[nodiscard]] Channel& channel_of(const RelayMessageText& message);
  void note_end();
  [[nodiscard]] bool waits_for_space() const;
  [[noreturn]] void wrong(const std::string& what) const;

  SimNetwork& network_;
  Corpus& corpus_;
  Ledger& ledger_;
  const SimClock& clock_;
  Random& random_;
  const ClientLimits limits_;
  const int handle_;
  WebSocketClient socket_;

  std::string challenge_;
  std::vector<std::uint32_t> keys_;                   // Logged in with, by what has been sent.
  std::map<std::string, std::uint32_t> pending_oks_;  // By event id.
  std::map<std::string, bool> pending_logins_;        // By event id; whether OK true is due.
  // Events sent while their author was not logged in.
  std::map<std::string, std::deque<bool>> login_needed_;
  std::map<std::string, Channel> channels_;
  std::map<std::string, PendingCount> counts_;
  std::uint32_t pending_notices_ = 0;
  std::uint32_t last_number_ = 0;  // For ids.
  bool was_slow_ = false;
  bool has_said_goodbye_ = false;
  bool is_end_expected_ = false;
  bool is_gone_ = false;
};

}  // namespace gyre::test
