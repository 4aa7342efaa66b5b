// TimerWheel: coarse timers of one shard. Setting, moving and cancelling cost O(1) and allocate
// nothing.
//
// A timer fires once, at its deadline or up to one tick (kTickNs) later, never earlier. Timers are
// members of their owners and must be cancelled (or have fired) before they die.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gyre::runtime {

struct Timer {
  using Handler = void (*)(void* owner);
  void* owner = nullptr;
  Handler handler = nullptr;

  [[nodiscard]] bool is_set() const { return next != nullptr; }

  // The wheel's.
  Timer* next = nullptr;
  Timer* previous = nullptr;
  std::uint64_t deadline_ns = 0;
};

template <auto Method, typename Owner>
[[nodiscard]] Timer bind_timer(Owner& owner) {
  Timer timer;
  timer.owner = &owner;
  timer.handler = [](void* pointer) { (static_cast<Owner*>(pointer)->*Method)(); };
  return timer;
}

class TimerWheel {
 public:
  static constexpr std::uint64_t kTickNs = 4'000'000;

  explicit TimerWheel(std::uint64_t now_ns);
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // Sets or moves. A deadline that has passed fires at the next advance.
  void set(Timer& timer, std::uint64_t deadline_ns);
  void cancel(Timer& timer);  // Fine on a timer that is not set.

  // Fires what is due, at most `budget` timers; true if more is to do at this time. Handlers may
  // set and cancel any timer, their own included.
  bool advance(std::uint64_t now_ns, std::size_t budget);

  // When advance next has work, at the latest; UINT64_MAX without timers. May be early by as much
  // as the wheel is coarse, never late.
  [[nodiscard]] std::uint64_t next_deadline_ns() const;

 private:
  // Four levels of 64 slots. A timer stands at the level of the highest 6-bit digit in which its
  // tick differs from now_tick_, in the slot of that digit. Hence every set slot is ahead of
  // now_tick_, and all timers of a level are due before any timer of the next. When now_tick_
  // reaches a slot of level 0 its timers are due; those of a higher slot move to lower levels.
  // 4 ms * 64^4 is 18.6 h: ticks that differ in a digit above the fourth wait in far_.
  static constexpr unsigned kDigitBits = 6;
  static constexpr std::size_t kLevels = 4;
  static constexpr std::size_t kSlots = 64;
  // Timers moved down by one advance; a slot may hold those of every connection.
  static constexpr std::size_t kMovesMax = 2048;

  struct List {
    Timer head;
    List();
    [[nodiscard]] bool empty() const { return head.next == &head; }
    void push_back(Timer& timer);
    void take_all_of(List& other);
  };
  struct Event {
    std::uint64_t tick;
    std::size_t level;  // kLevels: far_.
    std::size_t slot;
  };

  void insert(Timer& timer);
  void unlink(Timer& timer);
  void open(const Event& event);
  [[nodiscard]] Event next_event() const;

  std::array<std::array<List, kSlots>, kLevels> levels_;
  std::array<std::uint64_t, kLevels> occupied_{};  // A bit for each slot that is not empty.
  List far_;
  List moving_;                // Opened slots of higher levels, not yet spread over the lower ones.
  List firing_;                // Due, and for the advance in progress or its continuation.
  List overdue_;               // Set when their deadline had passed: for the next advance.
  std::uint64_t now_tick_;     // How far the slots have been opened.
  std::uint64_t target_tick_;  // The time of the last advance; ahead of now_tick_ only within one
                               // or when its budget ran out.
};

}  // namespace gyre::runtime
