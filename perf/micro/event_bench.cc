// Events: JSON, canonical form, id, binary form. Rows named ...Fresh read into an object that has
// never been used; the others into one that is used again, as programs do.

#include <string>
#include <vector>

#include "gyre/nostr/event.h"
#include "gyre/nostr/event_binary.h"
#include "gyre/nostr/verify.h"
#include "micro/measure.h"
#include "micro/samples.h"

namespace gyre::perf {
namespace {

using nostr::DecodeError;
using nostr::Event;

std::string json_of(const Event& event) {
  std::string out;
  append_json(event, out);
  return out;
}

void json_marshal(benchmark::State& state, const Event& event) {
  std::string out;
  append_json(event, out);
  Event back;
  require(parse_event(out, back) == DecodeError::kNone && back == event, "JSON is wrong");
  measure(state, [&] {
    out.clear();
    append_json(event, out);
  });
}

void json_unmarshal(benchmark::State& state, const Event& event) {
  const std::string json = json_of(event);
  Event back;
  require(parse_event(json, back) == DecodeError::kNone && back == event, "parsing is wrong");
  measure(state, [&] { benchmark::DoNotOptimize(parse_event(json, back)); });
}

void json_unmarshal_fresh(benchmark::State& state, const Event& event) {
  const std::string json = json_of(event);
  measure(state, [&] {
    Event back;
    benchmark::DoNotOptimize(parse_event(json, back));
  });
}

void canonical(benchmark::State& state, const Event& event) {
  std::string out;
  append_canonical(event, out);
  require(nostr::sha256(as_bytes(out)) == event.id, "the canonical form is wrong");
  measure(state, [&] {
    out.clear();
    append_canonical(event, out);
  });
}

void id_bytes(benchmark::State& state, const Event& event) {
  require(has_right_id(event), "the id is wrong");
  measure(state, [&] { benchmark::DoNotOptimize(compute_id(event)); });
}

void binary_marshal(benchmark::State& state, const Event& event) {
  std::vector<std::uint8_t> out;
  append_binary(event, out);
  Event back;
  require(parse_binary(out, back) == DecodeError::kNone && back == event, "bytes are wrong");
  measure(state, [&] {
    out.clear();
    append_binary(event, out);
  });
}

void binary_unmarshal(benchmark::State& state, const Event& event) {
  std::vector<std::uint8_t> bytes;
  append_binary(event, bytes);
  Event back;
  measure(state, [&] { benchmark::DoNotOptimize(parse_binary(bytes, back)); });
  require(back == event, "bytes are wrong");
}

void binary_unmarshal_fresh(benchmark::State& state, const Event& event) {
  std::vector<std::uint8_t> bytes;
  append_binary(event, bytes);
  measure(state, [&] {
    Event back;
    benchmark::DoNotOptimize(parse_binary(bytes, back));
  });
}

void round_trip_json(benchmark::State& state, const Event& event) {
  std::string out;
  Event back;
  measure(state, [&] {
    out.clear();
    append_json(event, out);
    benchmark::DoNotOptimize(parse_event(out, back));
  });
  require(back == event, "the round trip is wrong");
}

void round_trip_binary(benchmark::State& state, const Event& event) {
  std::vector<std::uint8_t> out;
  Event back;
  measure(state, [&] {
    out.clear();
    append_binary(event, out);
    benchmark::DoNotOptimize(parse_binary(out, back));
  });
  require(back == event, "the round trip is wrong");
}

void estimate_size(benchmark::State& state, const Event& event) {
  require(estimate_json_bytes(event) <= json_bytes(event), "the estimate is wrong");
  const Event* pointer = &event;
  measure(state, [&] {
    benchmark::DoNotOptimize(pointer);
    benchmark::DoNotOptimize(estimate_json_bytes(*pointer));
  });
}

void canonical_and_id(benchmark::State& state, const Event& event) {
  std::string out;
  measure(state, [&] {
    out.clear();
    append_canonical(event, out);
    benchmark::DoNotOptimize(nostr::sha256(as_bytes(out)));
  });
}

// The unit of cost (perf/README.md): one verification, parsing of the key included.
void v(benchmark::State& state, const Event& event) {
  require(has_valid_signature(event), "the signature is wrong");
  measure(state, [&] { benchmark::DoNotOptimize(has_valid_signature(event)); });
}

BENCHMARK_CAPTURE(v, typical, typical_event())->Name("V");
BENCHMARK_CAPTURE(json_marshal, small, small_event())->Name("Event/JSONMarshal");
BENCHMARK_CAPTURE(json_marshal, large, large_event())->Name("Event/JSONMarshalLarge");
BENCHMARK_CAPTURE(json_unmarshal, small, small_event())->Name("Event/JSONUnmarshal");
BENCHMARK_CAPTURE(json_unmarshal_fresh, small, small_event())->Name("Event/JSONUnmarshalFresh");
BENCHMARK_CAPTURE(binary_marshal, small, small_event())->Name("Event/BinaryMarshal");
BENCHMARK_CAPTURE(binary_marshal, large, large_event())->Name("Event/BinaryMarshalLarge");
BENCHMARK_CAPTURE(binary_unmarshal, small, small_event())->Name("Event/BinaryUnmarshal");
BENCHMARK_CAPTURE(binary_unmarshal_fresh, small, small_event())->Name("Event/BinaryUnmarshalFresh");
BENCHMARK_CAPTURE(canonical, small, small_event())->Name("Event/Canonical");
BENCHMARK_CAPTURE(canonical, large, large_event())->Name("Event/CanonicalLarge");
BENCHMARK_CAPTURE(id_bytes, small, small_event())->Name("Event/GetIDBytes");
BENCHMARK_CAPTURE(round_trip_json, small, small_event())->Name("Event/RoundTripJSON");
BENCHMARK_CAPTURE(round_trip_binary, small, small_event())->Name("Event/RoundTripBinary");
BENCHMARK_CAPTURE(estimate_size, small, small_event())->Name("Event/EstimateSize");
BENCHMARK_CAPTURE(json_unmarshal, typical, typical_event())->Name("Typical/Parse");
BENCHMARK_CAPTURE(json_marshal, typical, typical_event())->Name("Typical/Serialise");
BENCHMARK_CAPTURE(canonical_and_id, typical, typical_event())->Name("Typical/CanonicalAndId");

}  // namespace
}  // namespace gyre::perf
