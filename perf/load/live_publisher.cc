#include "live_publisher.h"

#include <string>

#include "failure.h"
#include "relay_answer.h"

namespace gyre::load {
namespace {

// NIP-04 messages and gift wraps go to their parties only, after a login.
bool is_readable_by_anybody(std::uint16_t kind) {
  return kind != 4 && kind != 1059 && kind != 21059;
}

}  // namespace

LivePublisher::LivePublisher(const RelayAddress& address, const Corpus& corpus,
                             std::uint64_t window, std::uint64_t rate_per_s)
    : corpus_(corpus), client_(address), window_(window), rate_per_s_(rate_per_s) {
  index_of_.reserve(corpus.size());
  sent_at_ns_.resize(corpus.size());
  for (std::size_t i = 0; i < corpus.size(); ++i) index_of_.emplace(corpus.id(i), i);
}

bool LivePublisher::publish(std::uint64_t now_ns) {
  if (start_ns_ == 0) start_ns_ = now_ns;
  while (next_ < corpus_.size() && next_ - answered_ < window_) {
    const std::uint64_t due_ns =
        rate_per_s_ == 0 ? now_ns : start_ns_ + next_ * 1'000'000'000 / rate_per_s_;
    if (due_ns > now_ns) break;
    sent_at_ns_[next_] = due_ns;
    client_.queue("[\"EVENT\",", corpus_.json(next_), "]");
    ++next_;
  }
  return client_.flush();
}

void LivePublisher::receive() {
  const bool is_alive = client_.receive([this](std::string_view text) {
    const Answer answer = read_answer(text);
    if (answer.kind != AnswerKind::kOk) return;
    const auto found = index_of_.find(answer.id);
    if (found == index_of_.end()) fail("OK for an event that was not sent");
    ++answered_;
    if (!answer.is_accepted || answer.word == "duplicate") return;
    ++accepted_;
    if (is_readable_by_anybody(corpus_.kind(found->second))) ++deliverable_;
  });
  if (!is_alive) fail("the publisher lost its connection");
}

std::uint64_t LivePublisher::sent_at_ns(std::string_view id) const {
  const auto found = index_of_.find(id);
  if (found == index_of_.end() || sent_at_ns_[found->second] == 0) {
    fail("delivery of an event that was not sent: " + std::string(id));
  }
  return sent_at_ns_[found->second];
}

}  // namespace gyre::load
