// NSON beside JSON. One step goes through 20 events, about as many as the published rows with
// signatures point to (their authors do not say): 12 of 650 bytes, 8 small ones.

#include <string>
#include <vector>

#include "gyre/nostr/event.h"
#include "gyre/nostr/nson.h"
#include "micro/measure.h"
#include "micro/samples.h"

namespace gyre::perf {
namespace {

using nostr::DecodeError;
using nostr::Event;

std::vector<Event> event_set() {
  std::vector<Event> events(12, typical_event());
  events.insert(events.end(), 8, small_event());
  return events;
}

std::vector<std::string> json_set() {
  std::vector<std::string> texts;
  for (const Event& event : event_set()) append_json(event, texts.emplace_back());
  return texts;
}

std::vector<std::string> nson_set() {
  std::vector<std::string> texts;
  for (const Event& event : event_set()) {
    require(append_nson(event, texts.emplace_back()) == DecodeError::kNone, "no NSON");
  }
  return texts;
}

void json_marshal(benchmark::State& state) {
  const std::vector<Event> events = event_set();
  std::string out;
  measure(state, [&] {
    for (const Event& event : events) {
      out.clear();
      append_json(event, out);
    }
  });
  require(out == json_set().back(), "JSON is wrong");
}

void nson_marshal(benchmark::State& state) {
  const std::vector<Event> events = event_set();
  std::string out;
  measure(state, [&] {
    for (const Event& event : events) {
      out.clear();
      benchmark::DoNotOptimize(append_nson(event, out));
    }
  });
  require(out == nson_set().back(), "NSON is wrong");
}

enum class Signatures { kTrusted, kChecked };

void json_unmarshal(benchmark::State& state, Signatures signatures) {
  const std::vector<std::string> texts = json_set();
  Event event;
  bool is_good = true;
  measure(state, [&] {
    for (const std::string& text : texts) {
      is_good &= parse_event(text, event) == DecodeError::kNone;
      if (signatures == Signatures::kTrusted) continue;
      is_good &= has_right_id(event) && has_valid_signature(event);
    }
  });
  require(is_good && event == event_set().back(), "parsing is wrong");
}

// The id is compared here in any case: nothing that descriptors say is believed otherwise.
void nson_unmarshal(benchmark::State& state, Signatures signatures) {
  const std::vector<std::string> texts = nson_set();
  Event event;
  bool is_good = true;
  measure(state, [&] {
    for (const std::string& text : texts) {
      is_good &= parse_nson(text, event) == DecodeError::kNone;
      if (signatures == Signatures::kChecked) is_good &= has_valid_signature(event);
    }
  });
  require(is_good && event == event_set().back(), "parsing is wrong");
}

void single_member(benchmark::State& state) {
  const std::string text = nson_set().front();
  measure(state, [&] { benchmark::DoNotOptimize(nostr::NsonView::open(text)->pubkey()); });
  require(nostr::NsonView::open(text)->pubkey() == typical_event().pubkey, "the member is wrong");
}

BENCHMARK(json_marshal)->Name("NSON/json.Marshal");
BENCHMARK(nson_marshal)->Name("NSON/nson.Marshal");
BENCHMARK_CAPTURE(json_unmarshal, trusted, Signatures::kTrusted)->Name("NSON/json.Unmarshal");
BENCHMARK_CAPTURE(nson_unmarshal, trusted, Signatures::kTrusted)->Name("NSON/nson.Unmarshal");
BENCHMARK_CAPTURE(json_unmarshal, checked, Signatures::kChecked)->Name("NSON/json.Unmarshal+sig");
BENCHMARK_CAPTURE(nson_unmarshal, checked, Signatures::kChecked)->Name("NSON/nson.Unmarshal+sig");
BENCHMARK(single_member)->Name("NSON/SingleMember");

}  // namespace
}  // namespace gyre::perf
