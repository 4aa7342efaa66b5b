#include "event_mix.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "hex.h"

namespace gyre::load {
namespace {

constexpr std::uint64_t kFirstSecond = 1767225600;  // 2026-01-01.
constexpr std::uint64_t kEventsASecond = 20;
constexpr std::size_t kReferenceable = 4096;

// Events of one author: 20 in the mean, far more of the first ones (Zipf).
std::size_t author_count(std::size_t events) {
  return std::clamp<std::size_t>(events / 20, 1, 200'000);
}

std::vector<Signer> make_signers(std::uint64_t seed, std::size_t count) {
  std::vector<Signer> signers;
  signers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    signers.emplace_back("gyre load author " + std::to_string(seed) + " " + std::to_string(i));
  }
  return signers;
}

constexpr std::array<std::string_view, 24> kWords = {"the",        "relay",
                                                     "is",         "a",
                                                     "of",         "note",
                                                     "and",        "morning",
                                                     "zap",        "to",
                                                     "nice",       "world",
                                                     "github",     "it",
                                                     "we",         "signal",
                                                     "\\\"ok\\\"", "grüße",
                                                     "日本",       "😀",
                                                     "\\n",        "https://example.com/p/3f9a.jpg",
                                                     "you",        "freedom"};

}  // namespace

EventMix::EventMix(std::uint64_t seed, std::size_t count, std::optional<std::uint16_t> kind)
    : chance_(seed),
      only_kind_(kind),
      signers_(make_signers(seed, author_count(count))),
      author_ranks_(signers_.size(), 0.9),
      reference_ranks_(kReferenceable, 1.0),
      recent_ids_(kReferenceable) {}

UnsignedEvent EventMix::make_next() {
  Body body = make_body();
  if (only_kind_) body.kind = *only_kind_;
  UnsignedEvent event;
  event.author = static_cast<std::uint32_t>(author_ranks_(chance_));
  const std::string& pubkey = signers_[event.author].pubkey_hex();
  const std::string created_at = std::to_string(kFirstSecond + made_ / kEventsASecond);
  const std::string kind = std::to_string(body.kind);

  std::string hashed = "[0,\"" + pubkey + "\"," + created_at + "," + kind + ",[" + body.tags +
                       "],\"" + body.content + "\"]";
  event.id = sha256(hashed);
  const std::string id = to_hex(event.id);
  event.json = "{\"id\":\"" + id + "\",\"pubkey\":\"" + pubkey + "\",\"created_at\":" + created_at +
               ",\"kind\":" + kind + ",\"tags\":[" + body.tags + "],\"content\":\"" + body.content +
               "\",\"sig\":\"" + std::string(128, '0') + "\"}";
  recent_ids_[made_ % kReferenceable] = id;
  ++made_;
  return event;
}

EventMix::Body EventMix::make_body() {
  const std::uint64_t percent = chance_.below(100);
  if (percent < 45) return make_note();
  if (percent < 75) return make_response(7);
  if (percent < 82) return make_response(6);
  if (percent < 87) return make_zap();
  if (percent < 91) return make_wrap();
  if (percent < 94) return make_profile();
  if (percent < 96) return make_follow_list();
  if (percent < 98) return make_relay_list();
  return make_article();
}

EventMix::Body EventMix::make_note() {
  Body body;
  body.content = words(100, 0.9);
  if (chance_.below(100) < 45) {
    add_event_reference(body, "root");
    if (chance_.below(2) == 0) add_event_reference(body, "reply");
    for (std::uint64_t n = 1 + chance_.below(3); n > 0; --n) add_author_reference(body);
  }
  if (chance_.below(100) < 20) add_tag(body, {"t", kWords[chance_.below(kWords.size())]});
  return body;
}

EventMix::Body EventMix::make_profile() {
  Body body;
  body.kind = 0;
  // One after another: the operands of + may be evaluated in any order.
  const std::string name = letters(8);
  const std::string about = letters(80);
  const std::string picture = letters(24);
  body.content = "{\\\"name\\\":\\\"" + name + "\\\",\\\"about\\\":\\\"" + about +
                 "\\\",\\\"picture\\\":\\\"https://example.com/" + picture + ".jpg\\\"}";
  return body;
}

EventMix::Body EventMix::make_follow_list() {
  Body body;
  body.kind = 3;
  for (std::size_t n = log_normal(20, 1.0, 400); n > 0; --n) add_author_reference(body);
  return body;
}

// A reaction or a repost: no text to speak of, an event and its author.
EventMix::Body EventMix::make_response(std::uint16_t kind) {
  Body body;
  body.kind = kind;
  body.content = kind == 7 ? "+" : "";
  add_event_reference(body, "");
  add_author_reference(body);
  if (kind == 7) add_tag(body, {"k", "1"});
  return body;
}

EventMix::Body EventMix::make_zap() {
  Body body;
  body.kind = 9735;
  add_author_reference(body);
  add_event_reference(body, "");
  add_tag(body, {"bolt11", "lnbc210n1" + letters(280)});
  const std::string comment = letters(20);
  const std::string sig = letters(128);
  add_tag(body, {"description", "{\\\"kind\\\":9734,\\\"content\\\":\\\"" + comment +
                                    "\\\",\\\"sig\\\":\\\"" + sig + "\\\"}"});
  add_tag(body, {"preimage", letters(64)});
  return body;
}

EventMix::Body EventMix::make_relay_list() {
  Body body;
  body.kind = 10002;
  for (std::uint64_t n = 2 + chance_.below(6); n > 0; --n) {
    add_tag(body, {"r", "wss://" + letters(12) + ".example"});
  }
  return body;
}

EventMix::Body EventMix::make_article() {
  Body body;
  body.kind = 30023;
  add_tag(body, {"d", letters(10)});
  add_tag(body, {"title", letters(40)});
  add_tag(body, {"t", kWords[chance_.below(kWords.size())]});
  body.content = words(1700, 0.7);
  return body;
}

EventMix::Body EventMix::make_wrap() {
  Body body;
  body.kind = 1059;
  add_author_reference(body);
  body.content = letters(400 + chance_.below(600));
  return body;
}

void EventMix::add_tag(Body& body, std::initializer_list<std::string_view> items) {
  body.tags += body.tags.empty() ? "[" : ",[";
  bool is_first = true;
  for (const std::string_view item : items) {
    body.tags += is_first ? "\"" : ",\"";
    body.tags += item;
    body.tags += '"';
    is_first = false;
  }
  body.tags += ']';
}

void EventMix::add_event_reference(Body& body, std::string_view marker) {
  if (made_ == 0) return;
  // The latest events are referenced most.
  const std::size_t back = 1 + reference_ranks_(chance_) % std::min(made_, kReferenceable);
  const std::string& id = recent_ids_[(made_ - back) % kReferenceable];
  if (marker.empty()) {
    add_tag(body, {"e", id});
  } else {
    add_tag(body, {"e", id, "wss://relay.example", marker});
  }
}

void EventMix::add_author_reference(Body& body) {
  add_tag(body, {"p", signers_[author_ranks_(chance_)].pubkey_hex()});
}

std::string EventMix::words(double median_bytes, double spread) {
  const std::size_t wanted = log_normal(median_bytes, spread, 60'000);
  std::string text;
  while (text.size() < wanted) {
    if (!text.empty()) text += ' ';
    text += kWords[chance_.below(kWords.size())];
  }
  return text;
}

std::string EventMix::letters(std::size_t count) {
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::string text;
  text.reserve(count);
  while (text.size() < count) text += kLetters[chance_.below(kLetters.size())];
  return text;
}

std::size_t EventMix::log_normal(double median, double spread, std::size_t max) {
  const double value = median * std::exp(spread * chance_.normal());
  return std::min(static_cast<std::size_t>(value) + 1, max);
}

}  // namespace gyre::load
