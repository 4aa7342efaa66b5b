#include "gyre/runtime/timer_wheel.h"

#include <bit>

#include "gyre/base/assert.h"

namespace gyre::runtime {
namespace {

constexpr std::uint64_t kNever = UINT64_MAX;

// Rounded up, so that a timer never fires early: the tick begins at or after the deadline.
std::uint64_t deadline_tick(std::uint64_t deadline_ns) {
  return deadline_ns / TimerWheel::kTickNs + (deadline_ns % TimerWheel::kTickNs != 0 ? 1 : 0);
}

}  // namespace

TimerWheel::List::List() {
  head.next = &head;
  head.previous = &head;
}

void TimerWheel::List::push_back(Timer& timer) {
  timer.previous = head.previous;
  timer.next = &head;
  head.previous->next = &timer;
  head.previous = &timer;
}

void TimerWheel::List::take_all_of(List& other) {
  if (other.empty()) return;
  Timer* const first = other.head.next;
  Timer* const last = other.head.previous;
  first->previous = head.previous;
  head.previous->next = first;
  last->next = &head;
  head.previous = last;
  other.head.next = &other.head;
  other.head.previous = &other.head;
}

TimerWheel::TimerWheel(std::uint64_t now_ns)
    : now_tick_(now_ns / kTickNs), target_tick_(now_tick_) {}

void TimerWheel::set(Timer& timer, std::uint64_t deadline_ns) {
  if (timer.is_set()) unlink(timer);
  timer.deadline_ns = deadline_ns;
  if (deadline_tick(deadline_ns) <= target_tick_) {
    // Not to firing_: a timer that sets itself again must not keep one advance going for ever.
    overdue_.push_back(timer);
  } else {
    insert(timer);
  }
}

void TimerWheel::cancel(Timer& timer) {
  if (timer.is_set()) unlink(timer);
}

bool TimerWheel::advance(std::uint64_t now_ns, std::size_t budget) {
  const std::uint64_t tick = now_ns / kTickNs;
  GYRE_ASSERT_CMP(tick, >=, target_tick_);
  target_tick_ = tick;
  firing_.take_all_of(overdue_);
  std::size_t moves = 0;
  while (true) {
    while (!firing_.empty()) {
      if (budget == 0) return true;
      --budget;
      Timer& timer = *firing_.head.next;
      unlink(timer);
      timer.handler(timer.owner);  // The timer may be gone after this.
    }
    if (!moving_.empty()) {
      if (moves == kMovesMax) return true;
      ++moves;
      Timer& timer = *moving_.head.next;
      unlink(timer);
      insert(timer);
      continue;
    }
    const Event event = next_event();
    if (event.tick > target_tick_) break;
    open(event);
  }
  now_tick_ = target_tick_;
  return !overdue_.empty();
}

std::uint64_t TimerWheel::next_deadline_ns() const {
  if (!firing_.empty() || !overdue_.empty() || !moving_.empty()) return now_tick_ * kTickNs;
  const std::uint64_t tick = next_event().tick;
  return tick > kNever / kTickNs ? kNever : tick * kTickNs;
}

// Requires: the timer is in no list, and its tick is not behind now_tick_.
void TimerWheel::insert(Timer& timer) {
  const std::uint64_t tick = deadline_tick(timer.deadline_ns);
  GYRE_ASSERT_CMP(tick, >=, now_tick_);
  const std::uint64_t difference = tick ^ now_tick_;
  if (difference == 0) {
    firing_.push_back(timer);
    return;
  }
  const std::size_t level = (static_cast<std::size_t>(std::bit_width(difference)) - 1) / kDigitBits;
  if (level >= kLevels) {
    far_.push_back(timer);
    return;
  }
  const std::size_t slot = (tick >> (level * kDigitBits)) % kSlots;
  levels_[level][slot].push_back(timer);
  occupied_[level] |= std::uint64_t{1} << slot;
}

void TimerWheel::unlink(Timer& timer) {
  Timer* const next = timer.next;
  Timer* const previous = timer.previous;
  previous->next = next;
  next->previous = previous;
  timer.next = nullptr;
  timer.previous = nullptr;
  if (next != previous) return;
  // Both neighbours are the head: the list is empty now. If it is a slot, its bit must go.
  const auto* const list = reinterpret_cast<const List*>(next);
  const List* const first = levels_.front().data();
  const List* const last = levels_.back().data() + kSlots;
  if (list < first || list >= last) return;
  const auto index = static_cast<std::size_t>(list - first);
  occupied_[index / kSlots] &= ~(std::uint64_t{1} << (index % kSlots));
}

void TimerWheel::open(const Event& event) {
  now_tick_ = event.tick;
  if (event.level == kLevels) {
    moving_.take_all_of(far_);
    return;
  }
  List& list = levels_[event.level][event.slot];
  occupied_[event.level] &= ~(std::uint64_t{1} << event.slot);
  (event.level == 0 ? firing_ : moving_).take_all_of(list);
}

TimerWheel::Event TimerWheel::next_event() const {
  for (std::size_t level = 0; level < kLevels; ++level) {
    if (occupied_[level] == 0) continue;
    const auto slot = static_cast<std::size_t>(std::countr_zero(occupied_[level]));
    const std::size_t shift = level * kDigitBits;
    const std::uint64_t above = now_tick_ >> (shift + kDigitBits) << (shift + kDigitBits);
    return {above | (std::uint64_t{slot} << shift), level, slot};
  }
  if (far_.empty()) return {kNever, kLevels, 0};
  constexpr std::size_t kWheelBits = kLevels * kDigitBits;
  return {((now_tick_ >> kWheelBits) + 1) << kWheelBits, kLevels, 0};
}

}  // namespace gyre::runtime
