// Texts: escaping, hex, booleans, lists.

#include <array>
#include <string>
#include <vector>

#include "gyre/nostr/json_value.h"
#include "micro/measure.h"
#include "micro/samples.h"

namespace gyre::perf {
namespace {

using nostr::DecodeError;
using nostr::StringList;

void escape(benchmark::State& state, const std::string& text) {
  std::string out(6 * text.size(), '\0');
  const char* end = out.data();
  measure(state, [&] { end = nostr::write_escaped(text, out.data()); });
  out.resize(static_cast<std::size_t>(end - out.data()));
  require(nostr::unescape(out) == text, "escaping is wrong");
}

void unescape(benchmark::State& state, const std::string& text) {
  std::string escaped;
  nostr::append_escaped(text, escaped);
  std::string out(escaped.size(), '\0');
  const char* end = out.data();
  measure(state, [&] { end = nostr::write_unescaped(escaped, out.data()); });
  out.resize(static_cast<std::size_t>(end - out.data()));
  require(out == text, "unescaping is wrong");
}

void round_trip_escape(benchmark::State& state, const std::string& text) {
  std::string escaped(6 * text.size(), '\0');
  std::string out(6 * text.size(), '\0');
  const char* end = out.data();
  measure(state, [&] {
    const char* const escaped_end = nostr::write_escaped(text, escaped.data());
    const auto bytes = static_cast<std::size_t>(escaped_end - escaped.data());
    end = nostr::write_unescaped({escaped.data(), bytes}, out.data());
  });
  out.resize(static_cast<std::size_t>(end - out.data()));
  require(out == text, "the round trip is wrong");
}

void quote(benchmark::State& state, const std::string& text) {
  std::string out(6 * text.size() + 2, '\0');
  const char* end = out.data();
  measure(state, [&] { end = nostr::write_quoted(text, out.data()); });
  require(static_cast<std::size_t>(end - out.data()) == nostr::quoted_bytes(text),
          "quoting is wrong");
}

void unmarshal_quoted(benchmark::State& state, const std::string& text) {
  std::string quoted(nostr::quoted_bytes(text), '\0');
  nostr::write_quoted(text, quoted.data());
  std::string back;
  measure(state, [&] { benchmark::DoNotOptimize(nostr::parse_quoted(quoted, back)); });
  require(back == text, "parsing is wrong");
}

void json_key(benchmark::State& state) {
  std::array<char, 32> out;
  const char* end = out.data();
  measure(state, [&] { end = nostr::write_key("created_at", out.data()); });
  require(end - out.data() == 13, "the key is wrong");
}

void unmarshal_hex(benchmark::State& state, std::size_t bytes) {
  const std::vector<std::uint8_t> binary(bytes, 0xa5);
  const std::string json = '"' + to_hex(binary) + '"';
  std::vector<std::uint8_t> back(bytes);
  measure(state, [&] { benchmark::DoNotOptimize(nostr::parse_hex(json, back)); });
  require(back == binary, "hex is wrong");
}

void marshal_hex_array(benchmark::State& state, const std::vector<Bytes32>& list) {
  std::string out(nostr::key_list_bytes(list.size()), '\0');
  measure(state, [&] { nostr::write_key_list(list, out.data()); });
  std::vector<Bytes32> back;
  require(nostr::parse_key_list(out, back) == DecodeError::kNone && back == list, "hex is wrong");
}

void unmarshal_hex_array(benchmark::State& state, const std::vector<Bytes32>& list) {
  std::string json(nostr::key_list_bytes(list.size()), '\0');
  nostr::write_key_list(list, json.data());
  std::vector<Bytes32> back;
  measure(state, [&] { benchmark::DoNotOptimize(nostr::parse_key_list(json, back)); });
  require(back == list, "hex is wrong");
}

void unmarshal_string_array(benchmark::State& state, const StringList& list) {
  std::string json(nostr::string_list_bytes(list), '\0');
  nostr::write_string_list(list, json.data());
  StringList back;
  measure(state, [&] { benchmark::DoNotOptimize(nostr::parse_string_list(json, back)); });
  require(back == list, "parsing is wrong");
}

void append_list(benchmark::State& state, const StringList& list) {
  std::string out(nostr::string_list_bytes(list), '\0');
  const char* end = out.data();
  measure(state, [&] { end = nostr::write_string_list(list, out.data()); });
  require(end == out.data() + out.size(), "the list is wrong");
}

void marshal_bool(benchmark::State& state) {
  std::array<char, 8> out;
  const char* end = out.data();
  measure(state, [&] { end = nostr::write_bool(true, out.data()); });
  require(end - out.data() == 4, "the boolean is wrong");
}

void unmarshal_bool(benchmark::State& state) {
  const std::string json = "true";
  bool value = false;
  measure(state, [&] { benchmark::DoNotOptimize(nostr::parse_bool(json, value)); });
  require(value, "the boolean is wrong");
}

BENCHMARK_CAPTURE(escape, small, small_text())->Name("Text/NostrEscape/small");
BENCHMARK_CAPTURE(escape, large, large_text())->Name("Text/NostrEscape/large");
BENCHMARK_CAPTURE(escape, plain, std::string(1'000, 'x'))->Name("Text/NostrEscape/no-escapes");
BENCHMARK_CAPTURE(escape, many, std::string(1'000, '\n'))->Name("Text/NostrEscape/many-escapes");
BENCHMARK_CAPTURE(unescape, small, small_text())->Name("Text/NostrUnescape/small");
BENCHMARK_CAPTURE(unescape, large, large_text())->Name("Text/NostrUnescape/large");
BENCHMARK_CAPTURE(round_trip_escape, small, small_text())->Name("Text/RoundTripEscape/small");
BENCHMARK_CAPTURE(round_trip_escape, large, large_text())->Name("Text/RoundTripEscape/large");
BENCHMARK_CAPTURE(quote, small, small_text())->Name("Text/AppendQuote/small");
BENCHMARK_CAPTURE(quote, large, large_text())->Name("Text/AppendQuote/large");
BENCHMARK_CAPTURE(quote, plain, std::string(1'000, 'x'))->Name("Text/AppendQuote/no-escape");
BENCHMARK_CAPTURE(unmarshal_quoted, small, small_text())->Name("Text/UnmarshalQuoted");
BENCHMARK(json_key)->Name("Text/JSONKey");
BENCHMARK_CAPTURE(unmarshal_hex, small, 32)->Name("Text/UnmarshalHex/32");
BENCHMARK_CAPTURE(unmarshal_hex, large, 1'024)->Name("Text/UnmarshalHex/1024");
BENCHMARK_CAPTURE(marshal_hex_array, small, keys(20))->Name("Text/MarshalHexArray/small");
BENCHMARK_CAPTURE(marshal_hex_array, large, keys(100))->Name("Text/MarshalHexArray/large");
BENCHMARK_CAPTURE(unmarshal_hex_array, small, keys(20))->Name("Text/UnmarshalHexArray/small");
BENCHMARK_CAPTURE(unmarshal_hex_array, large, keys(100))->Name("Text/UnmarshalHexArray/large");
BENCHMARK_CAPTURE(unmarshal_string_array, small, strings(3))
    ->Name("Text/UnmarshalStringArray/small");
BENCHMARK_CAPTURE(unmarshal_string_array, large, strings(100))
    ->Name("Text/UnmarshalStringArray/large");
BENCHMARK_CAPTURE(append_list, small, strings(3))->Name("Text/AppendList");
BENCHMARK(marshal_bool)->Name("Text/MarshalBool");
BENCHMARK(unmarshal_bool)->Name("Text/UnmarshalBool");

}  // namespace
}  // namespace gyre::perf
