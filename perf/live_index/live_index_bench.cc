// live-index-bench: what matching one event costs while 10, 1,000 or 100,000 subscriptions are
// open, of which 10 match. It must not grow with those that do not. Every answer is checked;
// --quick checks only.
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "relay/live_index.h"
#include "support/event_factory.h"

namespace gyre::relay {
namespace {

constexpr std::size_t kMatching = 10;

Bytes32 numbered_key(std::size_t number) {
  Bytes32 key{};
  for (std::size_t i = 0; i < sizeof number; ++i) {
    key.bytes[31 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  key.bytes[0] = 0x80;  // None that the event factory makes.
  return key;
}

std::string numbered_hex(std::size_t number) { return to_hex(numbered_key(number).bytes); }

// Each makes filter `number` of a population, of which the first kMatching match make_event().

bool is_match(std::size_t number) { return number < kMatching; }

nostr::Filter by_feed(std::size_t number) {
  nostr::Filter filter;
  for (std::size_t i = 0; i < 20; ++i) filter.authors.push_back(numbered_key(number * 20 + i));
  if (is_match(number)) filter.authors.push_back(test::pubkey(1));
  std::sort(filter.authors.begin(), filter.authors.end());
  filter.kinds = {1, 6};
  return filter;
}

nostr::Filter by_notification(std::size_t number) {
  nostr::Filter filter;
  filter.tags = {{'p', {is_match(number) ? test::pubkey_hex(2) : numbered_hex(number)}}};
  return filter;
}

nostr::Filter by_thread(std::size_t number) {
  nostr::Filter filter;
  filter.kinds = {1};
  filter.tags = {{'e', {is_match(number) ? std::string(64, 'e') : numbered_hex(number)}}};
  return filter;
}

// All on one hashtag, each for the posts of another author.
nostr::Filter by_author_on_a_hashtag(std::size_t number) {
  nostr::Filter filter;
  filter.authors = {is_match(number) ? test::pubkey(1) : numbered_key(number)};
  filter.tags = {{'t', {"nostr"}}};
  return filter;
}

// Everybody asks for one author, each about another hashtag.
nostr::Filter by_hashtag_of_an_author(std::size_t number) {
  nostr::Filter filter;
  filter.authors = {test::pubkey(1)};
  filter.tags = {{'t', {is_match(number) ? "nostr" : "tag" + std::to_string(number)}}};
  return filter;
}

struct NamedPopulation {
  const char* name;
  nostr::Filter (*make)(std::size_t);
};
constexpr std::array<NamedPopulation, 5> kPopulations = {{
    {"feeds of 20 authors", by_feed},
    {"notifications", by_notification},
    {"threads", by_thread},
    {"authors on one hashtag", by_author_on_a_hashtag},
    {"hashtags of one author", by_hashtag_of_an_author},
}};

std::vector<std::uint8_t> make_event() {
  test::EventDraft draft;
  draft.key_index = 1;
  draft.content = "what ten of them wait for";
  draft.tags = {{"e", std::string(64, 'e')}, {"p", test::pubkey_hex(2)}, {"t", "nostr"}};
  return test::pack_unsigned_event(draft);
}

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Nanoseconds for each event; -1 if an answer was wrong.
double measure(const NamedPopulation& population, std::size_t count, std::size_t rounds) {
  const std::array<std::uint8_t, 16> key{1, 2, 3};
  const storage::TermHasher hasher(key);
  LiveIndex index(hasher);
  std::vector<std::unique_ptr<Subscription>> subscriptions;
  for (std::size_t i = 0; i < count; ++i) {
    auto request = std::make_shared<QueryRequest>();
    request->filters.push_back(population.make(i));
    subscriptions.push_back(std::make_unique<Subscription>());
    subscriptions.back()->request = std::move(request);
  }
  // Those that match come last, when the lists are as long as they get.
  for (auto at = subscriptions.rbegin(); at != subscriptions.rend(); ++at) index.add(**at);
  const std::vector<std::uint8_t> event = make_event();
  std::vector<const Subscription*> found;
  double best_ns = 1e18;
  for (std::size_t round = 0; round < rounds; ++round) {
    constexpr int kEvents = 200;
    const double start_ns = cpu_ns();
    for (int i = 0; i < kEvents; ++i) {
      found.clear();
      index.for_each_match(nostr::PackedEventView(event.data()),
                           [&](const Subscription& each) { found.push_back(&each); });
    }
    best_ns = std::min(best_ns, (cpu_ns() - start_ns) / kEvents);
  }
  std::size_t right = 0;
  for (std::size_t i = 0; i < kMatching; ++i) {
    if (std::count(found.begin(), found.end(), subscriptions[i].get()) == 1) ++right;
  }
  for (const auto& each : subscriptions) index.remove(*each);
  return right == kMatching && found.size() == kMatching ? best_ns : -1;
}

int run(bool is_quick) {
  const std::vector<std::size_t> counts =
      is_quick ? std::vector<std::size_t>{10, 1'000} : std::vector<std::size_t>{10, 1'000, 100'000};
  bool is_right = true;
  for (const NamedPopulation& population : kPopulations) {
    std::printf("%-24s", population.name);
    for (const std::size_t count : counts) {
      const double ns = measure(population, count, is_quick ? 1 : 50);
      is_right = is_right && ns >= 0;
      if (ns < 0) {
        std::printf("  %zu: WRONG", count);
      } else {
        std::printf("  %zu: %.0f ns", count, ns);
      }
    }
    std::printf("\n");
  }
  return is_right ? 0 : 1;
}

}  // namespace
}  // namespace gyre::relay

int main(int argc, char** argv) {
  const std::string_view option = argc > 1 ? argv[1] : "";
  if (argc > 2 || (argc == 2 && option != "--quick")) {
    std::fputs("usage: live-index-bench [--quick]\n", stderr);
    return 2;
  }
  return gyre::relay::run(option == "--quick");
}
