#include "app/interrupt.h"

#include <signal.h>

#include <atomic>

namespace gyre::app {
namespace {

// Lock-free, so a handler may set it, and threads may look at it.
std::atomic<bool> g_is_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) { g_is_interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool is_interrupted() { return g_is_interrupted.load(std::memory_order_relaxed); }

}  // namespace gyre::app
