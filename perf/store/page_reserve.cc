#include "page_reserve.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "../load/failure.h"

namespace gyre::store_bench {
namespace {

// Given back in huge pages, so that large folios find room.
constexpr std::uint64_t kHugePageBytes = 2 << 20;
constexpr std::uint64_t kPageBytes = 4096;

std::uint64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kibibytes = 0;
  while (file >> name >> kibibytes) {
    if (name == "MemAvailable:") return kibibytes * 1024;
    file.ignore(64, '\n');
  }
  load::fail("/proc/meminfo does not tell what memory is available");
}

// The holder's life: takes the memory, says so, and gives away what it is asked for.
[[noreturn]] void hold(std::uint64_t bytes, int ready, int requests) {
  auto* const memory = static_cast<std::uint8_t*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED) _exit(1);
  madvise(memory, bytes, MADV_HUGEPAGE);
  for (std::uint64_t i = 0; i < bytes; i += kPageBytes) memory[i] = 1;
  if (write(ready, "", 1) != 1) _exit(1);
  std::uint64_t given = 0;
  std::uint64_t asked = 0;
  std::uint64_t request = 0;
  while (read(requests, &request, sizeof request) == sizeof request) {
    asked += request;
    const std::uint64_t end = std::min(bytes, asked / kHugePageBytes * kHugePageBytes);
    if (end > given) madvise(memory + given, end - given, MADV_DONTNEED);
    given = std::max(given, end);
  }
  _exit(0);
}

}  // namespace

PageReserve::PageReserve(std::uint64_t bytes) {
  bytes = std::min(bytes, available_bytes() / 2) / kHugePageBytes * kHugePageBytes;
  if (bytes == 0) return;
  int ready[2];
  int requests[2];
  if (pipe(ready) != 0 || pipe(requests) != 0) load::fail_errno("a pipe could not be made");
  holder_ = fork();
  if (holder_ < 0) load::fail_errno("a process could not be made");
  if (holder_ == 0) {
    close(requests[1]);
    hold(bytes, ready[1], requests[0]);
  }
  close(ready[1]);
  close(requests[0]);
  requests_ = requests[1];
  char byte = 0;
  if (read(ready[0], &byte, 1) != 1) load::fail("the reserve of memory could not be taken");
  close(ready[0]);
}

PageReserve::~PageReserve() {
  if (holder_ < 0) return;
  close(requests_);
  waitpid(holder_, nullptr, 0);
}

void PageReserve::release(std::uint64_t bytes) {
  if (holder_ < 0) return;
  if (write(requests_, &bytes, sizeof bytes) != sizeof bytes) {
    load::fail_errno("the reserve of memory does not answer");
  }
}

}  // namespace gyre::store_bench
