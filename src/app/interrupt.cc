#include "app/interrupt.h"

#include <signal.h>

namespace gyre::app {
namespace {

volatile sig_atomic_t g_is_interrupted = 0;

void on_signal(int) { g_is_interrupted = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool is_interrupted() { return g_is_interrupted != 0; }

}  // namespace gyre::app
