// Tags: single ones, lists of them, address tags.

#include <string>
#include <vector>

#include "gyre/nostr/address.h"
#include "gyre/nostr/tag_list.h"
#include "micro/measure.h"
#include "micro/samples.h"

namespace gyre::perf {
namespace {

using nostr::Address;
using nostr::DecodeError;
using nostr::TagList;

std::string json_of(const TagList& tags) {
  std::string out;
  append_json(tags, out);
  return out;
}

void tag_marshal(benchmark::State& state, const TagList& tags) {
  std::string out;
  measure(state, [&] {
    out.clear();
    append_json(tags[0], out);
  });
  require("[" + out + "]" == json_of(tags), "JSON is wrong");
}

void tag_unmarshal(benchmark::State& state, const TagList& tags) {
  std::string json;
  append_json(tags[0], json);
  TagList back;
  measure(state, [&] {
    back.clear();
    benchmark::DoNotOptimize(parse_tag(json, back));
  });
  require(back == tags, "parsing is wrong");
}

void tag_round_trip(benchmark::State& state, const TagList& tags) {
  std::string out;
  TagList back;
  measure(state, [&] {
    out.clear();
    back.clear();
    append_json(tags[0], out);
    benchmark::DoNotOptimize(parse_tag(out, back));
  });
  require(back == tags, "the round trip is wrong");
}

void tag_to_strings(benchmark::State& state, const TagList& tags) {
  std::vector<std::string_view> views;
  measure(state, [&] { copy_views(tags[0], views); });
  require(views.size() == tags[0].size() && views[1] == tags[0][1], "views are wrong");
}

void tag_contains(benchmark::State& state, const TagList& tags) {
  const std::string value(tags[0][tags[0].size() - 1]);
  require(tags[0].contains(value), "searching is wrong");
  measure(state, [&] { benchmark::DoNotOptimize(tags[0].contains(value)); });
}

void tags_marshal(benchmark::State& state, const TagList& tags) {
  std::string out;
  measure(state, [&] {
    out.clear();
    append_json(tags, out);
  });
  TagList back;
  require(parse_tags(out, back) == DecodeError::kNone && back == tags, "JSON is wrong");
}

void tags_unmarshal(benchmark::State& state, const TagList& tags) {
  const std::string json = json_of(tags);
  TagList back;
  measure(state, [&] { benchmark::DoNotOptimize(parse_tags(json, back)); });
  require(back == tags, "parsing is wrong");
}

void tags_unmarshal_fresh(benchmark::State& state, const TagList& tags) {
  const std::string json = json_of(tags);
  measure(state, [&] {
    TagList back;
    benchmark::DoNotOptimize(parse_tags(json, back));
  });
}

void tags_round_trip(benchmark::State& state, const TagList& tags) {
  std::string out;
  TagList back;
  measure(state, [&] {
    out.clear();
    append_json(tags, out);
    benchmark::DoNotOptimize(parse_tags(out, back));
  });
  require(back == tags, "the round trip is wrong");
}

// All p tags.
void tags_get_all(benchmark::State& state, const TagList& tags) {
  std::size_t found = 0;
  measure(state, [&] {
    found = 0;
    tags.for_each("p", [&](nostr::TagView tag) {
      benchmark::DoNotOptimize(tag);
      ++found;
    });
  });
  require(found == (tags.size() == 5 ? 1u : 33u), "searching is wrong");
}

void tags_get_first(benchmark::State& state, const TagList& tags) {
  require(tags.find("t") == 2, "searching is wrong");
  measure(state, [&] { benchmark::DoNotOptimize(tags.find("t")); });
}

void tags_contains_any(benchmark::State& state, const TagList& tags) {
  const std::string last(tags[tags.size() - 1].value());
  const std::string name(tags[tags.size() - 1].name());
  const std::vector<std::string_view> values = {"absent", last};
  require(tags.contains_any(name, values), "searching is wrong");
  measure(state, [&] { benchmark::DoNotOptimize(tags.contains_any(name, values)); });
}

void tags_to_strings(benchmark::State& state, const TagList& tags) {
  std::vector<std::vector<std::string_view>> views;
  measure(state, [&] { copy_views(tags, views); });
  require(views.size() == tags.size() && views[4][1] == tags[4][1], "views are wrong");
}

std::string address_text() { return "1:" + numbered_hex(1) + ":test-dtag"; }

void address_marshal(benchmark::State& state) {
  const Address address{1, numbered_key(1), "test-dtag"};
  std::string out;
  measure(state, [&] {
    out.clear();
    append_address(address, out);
  });
  require(out == address_text(), "the address is wrong");
}

void address_unmarshal(benchmark::State& state) {
  const std::string text = address_text();
  Address address;
  measure(state, [&] { benchmark::DoNotOptimize(parse_address(text, address)); });
  require(address == Address{1, numbered_key(1), "test-dtag"}, "the address is wrong");
}

void address_round_trip(benchmark::State& state) {
  const Address address{1, numbered_key(1), "test-dtag"};
  std::string out;
  Address back;
  measure(state, [&] {
    out.clear();
    append_address(address, out);
    benchmark::DoNotOptimize(parse_address(out, back));
  });
  require(back == address, "the round trip is wrong");
}

BENCHMARK_CAPTURE(tag_marshal, small, small_tag())->Name("Tag/TagMarshal/small");
BENCHMARK_CAPTURE(tag_marshal, large, large_tag())->Name("Tag/TagMarshal/large");
BENCHMARK_CAPTURE(tag_unmarshal, small, small_tag())->Name("Tag/TagUnmarshal/small");
BENCHMARK_CAPTURE(tag_unmarshal, large, large_tag())->Name("Tag/TagUnmarshal/large");
BENCHMARK_CAPTURE(tag_round_trip, small, small_tag())->Name("Tag/TagRoundTrip/small");
BENCHMARK_CAPTURE(tag_round_trip, large, large_tag())->Name("Tag/TagRoundTrip/large");
BENCHMARK_CAPTURE(tag_to_strings, small, small_tag())->Name("Tag/TagToSliceOfStrings/small");
BENCHMARK_CAPTURE(tag_to_strings, large, large_tag())->Name("Tag/TagToSliceOfStrings/large");
BENCHMARK_CAPTURE(tag_contains, large, large_tag())->Name("Tag/TagContains");
BENCHMARK_CAPTURE(tags_marshal, small, small_tags())->Name("Tag/TagsMarshal/small");
BENCHMARK_CAPTURE(tags_marshal, large, large_tags())->Name("Tag/TagsMarshal/large");
BENCHMARK_CAPTURE(tags_unmarshal, small, small_tags())->Name("Tag/TagsUnmarshal/small");
BENCHMARK_CAPTURE(tags_unmarshal, large, large_tags())->Name("Tag/TagsUnmarshal/large");
BENCHMARK_CAPTURE(tags_unmarshal_fresh, large, large_tags())->Name("Tag/TagsUnmarshalFresh/large");
BENCHMARK_CAPTURE(tags_round_trip, small, small_tags())->Name("Tag/TagsRoundTrip/small");
BENCHMARK_CAPTURE(tags_round_trip, large, large_tags())->Name("Tag/TagsRoundTrip/large");
BENCHMARK_CAPTURE(tags_get_all, small, small_tags())->Name("Tag/TagsGetAll/small");
BENCHMARK_CAPTURE(tags_get_all, large, large_tags())->Name("Tag/TagsGetAll/large");
BENCHMARK_CAPTURE(tags_get_first, large, large_tags())->Name("Tag/TagsGetFirst");
BENCHMARK_CAPTURE(tags_contains_any, large, large_tags())->Name("Tag/TagsContainsAny");
BENCHMARK_CAPTURE(tags_to_strings, small, small_tags())
    ->Name("Tag/TagsToSliceOfSliceOfStrings/small");
BENCHMARK_CAPTURE(tags_to_strings, large, large_tags())
    ->Name("Tag/TagsToSliceOfSliceOfStrings/large");
BENCHMARK(address_marshal)->Name("Tag/ATagMarshal");
BENCHMARK(address_unmarshal)->Name("Tag/ATagUnmarshal");
BENCHMARK(address_round_trip)->Name("Tag/ATagRoundTrip");

}  // namespace
}  // namespace gyre::perf
