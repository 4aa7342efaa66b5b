// PageReserve: memory that this machine has in hand, given back while a store grows into it.
//
// A virtual machine that reports its free pages to its host (virtio-balloon) has to fetch each of
// them again, for 5 to 9 us where the kernel itself takes 0.5. Filling a store would then measure
// the host: more than 1 us for each event, and more for a large store than for a small one, which
// finds what others have just given back.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace gyre::store_bench {

class PageReserve {
 public:
  // Holds so much, or half of what is available, in a process of its own. Ends the program if there
  // can be none.
  explicit PageReserve(std::uint64_t bytes);
  PageReserve(const PageReserve&) = delete;
  PageReserve& operator=(const PageReserve&) = delete;
  ~PageReserve();

  // Gives so much to whoever asks the kernel next; nothing once all is given.
  void release(std::uint64_t bytes);

 private:
  int requests_ = -1;
  pid_t holder_ = -1;
};

}  // namespace gyre::store_bench
