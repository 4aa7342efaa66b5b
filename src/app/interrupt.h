// Interrupt: lets a long command end cleanly on Ctrl-C or SIGTERM.
#pragma once

namespace gyre::app {

// From now on the first SIGINT or SIGTERM only sets a flag; the second ends the process as usual.
void catch_interrupts();
[[nodiscard]] bool is_interrupted();

}  // namespace gyre::app
