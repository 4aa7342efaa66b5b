// Filters: JSON, sorting, matching; single ones and lists of five.

#include <algorithm>
#include <string>
#include <vector>

#include "gyre/nostr/event_filter.h"
#include "micro/measure.h"
#include "micro/samples.h"

namespace gyre::perf {
namespace {

using nostr::DecodeError;
using nostr::Event;
using nostr::EventFilter;

std::string json_of(EventFilter filter) {
  sort(filter);
  std::string out;
  append_json(filter, out);
  return out;
}

std::string json_of(const std::vector<EventFilter>& filters) {
  std::string out;
  append_json(std::span<const EventFilter>(filters), out);
  return out;
}

// Sorted and written, as the published function does both.
void marshal(benchmark::State& state, EventFilter filter) {
  std::string out;
  measure(state, [&] {
    out.clear();
    sort(filter);
    append_json(filter, out);
  });
  EventFilter back;
  require(parse_filter(out, back) == DecodeError::kNone && json_of(back) == out, "JSON is wrong");
}

void unmarshal(benchmark::State& state, const EventFilter& filter) {
  const std::string json = json_of(filter);
  EventFilter back;
  measure(state, [&] { benchmark::DoNotOptimize(parse_filter(json, back)); });
  require(json_of(back) == json, "parsing is wrong");
}

void unmarshal_fresh(benchmark::State& state, const EventFilter& filter) {
  const std::string json = json_of(filter);
  measure(state, [&] {
    EventFilter back;
    benchmark::DoNotOptimize(parse_filter(json, back));
  });
}

// Over and over on the same filter, as published: it is in order after the first time.
void sort_sorted(benchmark::State& state, EventFilter filter) {
  measure(state, [&] { sort(filter); });
  require(std::is_sorted(filter.ids.values.begin(), filter.ids.values.end()), "not sorted");
}

void match(benchmark::State& state, const EventFilter& filter) {
  const Event event = small_event();
  EventFilter fitting = filter;
  fitting.ids.values.push_back(event.id);
  fitting.authors.values.push_back(event.pubkey);
  fitting.tags = {{"t", numbered_hex(1)}};
  require(matches(fitting, event) && !matches(filter, event), "matching is wrong");
  measure(state, [&] { benchmark::DoNotOptimize(matches(filter, event)); });
}

void match_ignoring_time(benchmark::State& state, const EventFilter& filter) {
  const Event event = small_event();
  require(!matches_ignoring_time(filter, event), "matching is wrong");
  measure(state, [&] { benchmark::DoNotOptimize(matches_ignoring_time(filter, event)); });
}

void round_trip(benchmark::State& state, EventFilter filter) {
  std::string out;
  EventFilter back;
  measure(state, [&] {
    out.clear();
    sort(filter);
    append_json(filter, out);
    benchmark::DoNotOptimize(parse_filter(out, back));
  });
  require(json_of(back) == out, "the round trip is wrong");
}

void slice_marshal(benchmark::State& state, std::vector<EventFilter> filters) {
  std::string out;
  measure(state, [&] {
    out.clear();
    for (EventFilter& filter : filters) sort(filter);
    append_json(std::span<const EventFilter>(filters), out);
  });
  require(out == json_of(filters), "JSON is wrong");
}

void slice_unmarshal(benchmark::State& state, const std::vector<EventFilter>& filters) {
  const std::string json = json_of(filters);
  std::vector<EventFilter> back;
  measure(state, [&] { benchmark::DoNotOptimize(parse_filters(json, back)); });
  require(json_of(back) == json, "parsing is wrong");
}

void slice_match(benchmark::State& state, const std::vector<EventFilter>& filters) {
  const Event event = small_event();
  require(!matches_any(filters, event), "matching is wrong");
  measure(state, [&] { benchmark::DoNotOptimize(matches_any(filters, event)); });
}

BENCHMARK_CAPTURE(marshal, small, small_filter())->Name("Filter/Marshal");
BENCHMARK_CAPTURE(marshal, complex, complex_filter())->Name("Filter/MarshalComplex");
BENCHMARK_CAPTURE(unmarshal, small, small_filter())->Name("Filter/Unmarshal");
BENCHMARK_CAPTURE(unmarshal_fresh, small, small_filter())->Name("Filter/UnmarshalFresh");
BENCHMARK_CAPTURE(sort_sorted, small, small_filter())->Name("Filter/Sort");
BENCHMARK_CAPTURE(sort_sorted, complex, complex_filter())->Name("Filter/SortComplex");
BENCHMARK_CAPTURE(match, small, small_filter())->Name("Filter/Matches");
BENCHMARK_CAPTURE(match_ignoring_time, small, small_filter())
    ->Name("Filter/MatchesIgnoringTimestamp");
BENCHMARK_CAPTURE(round_trip, small, small_filter())->Name("Filter/RoundTrip");
BENCHMARK_CAPTURE(slice_marshal, five, filter_slice())->Name("Filter/SliceMarshal");
BENCHMARK_CAPTURE(slice_unmarshal, five, filter_slice())->Name("Filter/SliceUnmarshal");
BENCHMARK_CAPTURE(slice_match, five, filter_slice())->Name("Filter/SliceMatch");

}  // namespace
}  // namespace gyre::perf
