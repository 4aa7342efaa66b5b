// Random questions to a whole relay, compared with a model that looks at every event: what is
// stored, what arrives live, and what is counted, with one, two and four shards, before and after a
// restart.
//
//   relay_differential [--seed N] [--events N] [--questions N]
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "differential/asked_relay.h"
#include "differential/corpus.h"
#include "differential/plain_relay.h"
#include "gyre/base/log.h"

namespace gyre::test {
namespace {

using Index = PlainRelay::Index;

constexpr std::size_t kClients = 8;
// Published, or asked, between two looks at what has come.
constexpr std::size_t kEventsAtOnce = 50;
constexpr std::size_t kQuestionsAtOnce = 100;

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t events = 5'000;
  std::uint64_t questions = 20'000;
};

struct Answer {
  std::vector<Index> events;
  std::uint64_t count = 0;
  int ends = 0;      // EOSEs.
  std::string hint;  // Of the last one.
};

// What is asked, and what the model makes of it.
struct Exam {
  explicit Exam(const Options& options) : corpus(options.seed) {
    events = corpus.make_events(options.events);
    for (Index i = 0; i < events.size(); ++i) by_id.emplace(events[i].id, i);
    while (questions.size() < options.questions) questions.push_back(corpus.make_question(events));
    model.emplace(events);
    for (Index i = 0; i < events.size(); ++i) {
      if (model->take(i)) taken.push_back(i);
    }
    alive = model->alive_count();
    for (const Question& question : questions) {
      Answer& answer = stored.emplace_back();
      answer.events = model->stored(question);
      answer.count = model->count(question);
      std::vector<Index>& arrivals = live.emplace_back();
      for (const Index i : taken) {
        for (const PlainFilter& filter : question) {
          if (!filter.matches(events[i])) continue;
          arrivals.push_back(i);
          break;
        }
      }
    }
  }

  DifferentialCorpus corpus;
  std::vector<PlainEvent> events;
  std::unordered_map<std::string_view, Index> by_id;
  std::vector<Question> questions;
  std::optional<PlainRelay> model;
  std::vector<Index> taken;
  std::size_t alive = 0;
  std::vector<Answer> stored;
  std::vector<std::vector<Index>> live;
};

std::string filters_of(const Question& question) {
  std::string out;
  for (const PlainFilter& filter : question) out += ',' + filter.json();
  return out;
}

[[noreturn]] void fail(const std::string& what, std::uint32_t shards) {
  throw std::runtime_error(what + " with " + std::to_string(shards) + " shards");
}

class Candidate {
 public:
  Candidate(const Exam& exam, std::uint32_t shards)
      : exam_(exam), shards_(shards), relay_(shards), answers_(exam.questions.size()) {}

  void sit() {
    connect();
    subscribe_all();
    publish_all();
    check_live();
    ask_all();
    relay_.restart();
    connect();
    ask_all();
    if (relay_.runs() == 0) fail("nothing was written to runs", shards_);
  }

 private:
  void connect() {
    for (std::size_t i = 0; i < kClients; ++i) (void)relay_.connect();
    take_all();
  }

  void take_all() {
    relay_.settle([this](std::size_t, const RelayMessageText& message) { take(message); });
  }

  void take(const RelayMessageText& message) {
    using Type = RelayMessageText::Type;
    switch (message.type) {
      case Type::kEvent: return answer_of(message).events.push_back(index_of(message.event));
      case Type::kEose:
        ++answer_of(message).ends;
        answer_of(message).hint = message.text;
        return;
      case Type::kCount: answer_of(message).count = message.count; return;
      case Type::kOk: oks_ += message.is_accepted ? 1u : 0u; return;
      case Type::kAuth: return;
      case Type::kClosed:
      case Type::kNotice: break;
    }
    fail("the relay says: " + std::string(message.text), shards_);
  }

  // Questions go by their number.
  Answer& answer_of(const RelayMessageText& message) {
    return answers_.at(std::stoul(std::string(message.id)));
  }

  Index index_of(std::string_view json) {
    constexpr std::string_view kId = "\"id\":\"";
    const auto found = exam_.by_id.find(json.substr(json.find(kId) + kId.size(), 64));
    if (found == exam_.by_id.end()) fail("an event that nobody sent", shards_);
    return found->second;
  }

  void ask(std::string_view verb, std::size_t question, std::string_view tail = "") {
    relay_.send(question % kClients, "[\"" + std::string(verb) + "\",\"" +
                                         std::to_string(question) + '"' + std::string(tail) + ']');
  }

  void subscribe_all() {
    answers_.assign(exam_.questions.size(), {});
    for (std::size_t i = 0; i < exam_.questions.size(); ++i) {
      ask("REQ", i, filters_of(exam_.questions[i]));
      if (i % kQuestionsAtOnce == 0) take_all();
    }
    take_all();
  }

  void publish_all() {
    oks_ = 0;
    for (std::size_t i = 0; i < exam_.events.size(); ++i) {
      relay_.send(0, "[\"EVENT\"," + exam_.events[i].json + "]");
      if (i % kEventsAtOnce == 0) take_all();
    }
    take_all();
    if (oks_ != exam_.taken.size()) {
      fail(std::to_string(oks_) + " events accepted instead of " +
               std::to_string(exam_.taken.size()),
           shards_);
    }
  }

  // Shards publish side by side, so the order is each author's.
  void check_live() {
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      if (answers_[i].ends != 1) fail("EOSE missing or repeated", shards_);
      std::vector<Index> arrived = answers_[i].events;
      std::sort(arrived.begin(), arrived.end());
      if (arrived != exam_.live[i]) tell_difference("live", i, exam_.live[i], arrived);
      check_order_of_authors(answers_[i].events);
      ask("CLOSE", i);
    }
    take_all();
  }

  void check_order_of_authors(const std::vector<Index>& arrived) {
    std::unordered_map<std::string_view, Index> last;
    for (const Index index : arrived) {
      const auto [place, is_first] = last.emplace(exam_.events[index].pubkey, index);
      if (!is_first && place->second > index) fail("an author's events out of order", shards_);
      place->second = index;
    }
  }

  void ask_all() {
    answers_.assign(exam_.questions.size(), {});
    for (std::size_t begin = 0; begin < answers_.size(); begin += kQuestionsAtOnce) {
      const std::size_t end = std::min(begin + kQuestionsAtOnce, answers_.size());
      for (std::size_t i = begin; i < end; ++i) ask("REQ", i, filters_of(exam_.questions[i]));
      take_all();
      for (std::size_t i = begin; i < end; ++i) ask("CLOSE", i);
      take_all();
      // One at a time of each connection, as only so many may be unanswered.
      for (std::size_t i = begin; i < end; ++i) {
        ask("COUNT", i, filters_of(exam_.questions[i]));
        if (i % kClients == kClients - 1) take_all();
      }
      take_all();
    }
    for (std::size_t i = 0; i < answers_.size(); ++i) check_stored(i);
  }

  void check_stored(std::size_t question) {
    const Answer& expected = exam_.stored[question];
    const Answer& found = answers_[question];
    if (found.events != expected.events) {
      tell_difference("stored", question, expected.events, found.events);
    }
    if (found.ends != 1) fail("EOSE missing or repeated", shards_);
    if (!exam_.model->may_hint(exam_.questions[question], found.hint)) {
      fail("hint '" + found.hint + "' for " + filters_of(exam_.questions[question]), shards_);
    }
    if (found.count != expected.count) {
      fail("COUNT of " + filters_of(exam_.questions[question]) + " is " +
               std::to_string(found.count) + " instead of " + std::to_string(expected.count),
           shards_);
    }
  }

  [[noreturn]] void tell_difference(const std::string& what, std::size_t question,
                                    const std::vector<Index>& expected,
                                    const std::vector<Index>& found) {
    std::string text = what + " events of " + filters_of(exam_.questions[question]) + ": " +
                       std::to_string(found.size()) + " instead of " +
                       std::to_string(expected.size());
    std::size_t at = 0;
    while (at < expected.size() && at < found.size() && expected[at] == found[at]) ++at;
    text += "\n  first difference at " + std::to_string(at);
    if (at < expected.size()) text += "\n  expected " + exam_.events[expected[at]].json;
    if (at < found.size()) text += "\n  found    " + exam_.events[found[at]].json;
    fail(text, shards_);
  }

  const Exam& exam_;
  const std::uint32_t shards_;
  AskedRelay relay_;
  std::vector<Answer> answers_;
  std::size_t oks_ = 0;
};

// An exam that asks nothing of substance would be passed by anybody.
void check_substance(const Exam& exam) {
  std::size_t stored = 0;
  std::size_t live = 0;
  std::size_t empty = 0;
  for (std::size_t i = 0; i < exam.questions.size(); ++i) {
    stored += exam.stored[i].events.size();
    live += exam.live[i].size();
    if (exam.stored[i].count == 0) ++empty;
  }
  std::printf(
      "%zu events, %zu taken, %zu alive; %zu questions, %zu stored and %zu live answers, "
      "%zu questions with none\n",
      exam.events.size(), exam.taken.size(), exam.alive, exam.questions.size(), stored, live,
      empty);
  const bool has_dead = exam.alive + exam.events.size() / 50 < exam.taken.size();
  if (!has_dead || 2 * empty > exam.questions.size() || live < 10 * exam.questions.size()) {
    throw std::runtime_error("the questions are too tame");
  }
}

bool read_options(const std::vector<std::string_view>& arguments, Options& options) {
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    std::uint64_t* const target = arguments[i] == "--seed"        ? &options.seed
                                  : arguments[i] == "--events"    ? &options.events
                                  : arguments[i] == "--questions" ? &options.questions
                                                                  : nullptr;
    const std::string_view text = arguments[i + 1];
    if (target == nullptr) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *target);
    if (error != std::errc() || end != text.data() + text.size()) return false;
  }
  return arguments.size() % 2 == 0;
}

int run(const std::vector<std::string_view>& arguments) {
  Options options;
  if (!read_options(arguments, options)) {
    std::fprintf(stderr, "relay_differential [--seed N] [--events N] [--questions N]\n");
    return 2;
  }
  set_log_level(LogLevel::kError);
  try {
    const Exam exam(options);
    check_substance(exam);
    for (const std::uint32_t shards : {1u, 2u, 4u}) {
      Candidate(exam, shards).sit();
      std::printf("%u shards agree\n", shards);
      std::fflush(stdout);
    }
  } catch (const std::exception& failure) {
    std::printf("FAILED: %s\n  relay_differential --seed %llu --events %llu --questions %llu\n",
                failure.what(), static_cast<unsigned long long>(options.seed),
                static_cast<unsigned long long>(options.events),
                static_cast<unsigned long long>(options.questions));
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace gyre::test

int main(int argc, char** argv) {
  return gyre::test::run(std::vector<std::string_view>(argv + 1, argv + argc));
}
