#include "sim/ledger.h"

#include <algorithm>

namespace gyre::test {

void Ledger::note_sent(EventIndex index) {
  Record& record = records_[index];
  const Moment now = tick();
  record.first_sent = std::min(record.first_sent, now);
  ++record.send_count;
}

void Ledger::note_ok(EventIndex index, bool is_accepted, std::string_view prefix,
                     bool was_login_needed, std::int64_t now_s) {
  const CorpusEvent& event = corpus_[index];
  const auto wrong = [&](const char* why) {
    throw Violation("OK " + std::string(is_accepted ? "true " : "false ") + std::string(prefix) +
                    ", " + why + ": " + describe(index));
  };
  const bool must_be_refused =
      event.has_bad_signature || event.is_vanish_elsewhere || was_login_needed;
  if (is_accepted) {
    if (must_be_refused) wrong("though it must be refused");
    if (!prefix.empty() && prefix != "duplicate") wrong("with a word of refusal");
    if (prefix == "duplicate" && records_[index].send_count < 2) wrong("though it is new");
    if (!event.is_ephemeral() && is_surely_dead(index, records_[index].first_sent)) {
      wrong("though it is dead");
    }
    if (records_[index].accepted == kNever) ++accepted_count_;
    records_[index].accepted = std::min(records_[index].accepted, tick());
    return;
  }
  if (event.has_bad_signature && prefix == "invalid") return;
  if (event.is_vanish_elsewhere && prefix == "invalid") return;
  if (was_login_needed && (prefix == "auth-required" || prefix == "restricted")) return;
  if (has_been_full_ && prefix == "error" && !event.is_ephemeral()) return;
  // Their expiration means nothing, but their author may have vanished.
  if (!event.is_ephemeral() && event.is_expired(now_s) && prefix == "invalid") return;
  if (prefix != "blocked" && prefix != "duplicate") wrong("with the wrong word");
  if (!may_be_dead(index, kNever, now_s)) wrong("though nothing speaks against it");
}

bool Ledger::may_be_dead(EventIndex index, Moment before, std::int64_t now_s) const {
  const CorpusEvent& event = corpus_[index];
  return event.is_expired(now_s) ||
         std::any_of(event.killers.begin(), event.killers.end(),
                     [&](EventIndex killer) { return records_[killer].first_sent < before; });
}

bool Ledger::is_surely_dead(EventIndex index, Moment before) const {
  const auto& killers = corpus_[index].killers;
  return std::any_of(killers.begin(), killers.end(),
                     [&](EventIndex killer) { return records_[killer].accepted < before; });
}

bool Ledger::is_surely_stored(EventIndex index, Moment accepted_before, Moment alive_until,
                              std::int64_t now_s) const {
  return records_[index].accepted < accepted_before && !corpus_[index].is_ephemeral() &&
         !may_be_dead(index, alive_until, now_s);
}

bool Ledger::may_be_stored(EventIndex index) const {
  const CorpusEvent& event = corpus_[index];
  return records_[index].first_sent != kNever && !event.has_bad_signature &&
         !event.is_vanish_elsewhere && !event.is_ephemeral();
}

std::string Ledger::describe(EventIndex index) const {
  const Record& record = records_[index];
  const auto moment = [](Moment at) { return at == kNever ? "never" : std::to_string(at); };
  return corpus_[index].json.substr(0, 600) + " (sent " + std::to_string(record.send_count) +
         " times, first at " + moment(record.first_sent) + ", accepted " + moment(record.accepted) +
         ")";
}

}  // namespace gyre::test
