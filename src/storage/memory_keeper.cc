#include "storage/memory_keeper.h"

#include <pthread.h>
#include <sys/resource.h>

#include <chrono>
#include <utility>

#include "gyre/base/assert.h"

namespace gyre::storage {
namespace {

// Touching a page that is there costs 100 ns: 26 ms for each GiB, in this time.
constexpr std::chrono::seconds kInterval{30};

}  // namespace

void MemoryKeeper::start_thread(std::vector<Task> tasks) {
  GYRE_ASSERT(!thread_.joinable());
  tasks_ = std::move(tasks);
  is_stopping_.store(false, std::memory_order_relaxed);
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "gyre-memory");
}

void MemoryKeeper::stop_thread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopping_.store(true, std::memory_order_relaxed);
  }
  stopped_.notify_one();
  thread_.join();
}

void MemoryKeeper::run() {
  // Linux applies the nice value of a who of 0 to the calling thread alone. Failing is harmless.
  (void)setpriority(PRIO_PROCESS, 0, 10);
  std::unique_lock lock(mutex_);
  while (!is_stopping_.load(std::memory_order_relaxed)) {
    lock.unlock();
    for (const Task& task : tasks_) task(is_stopping_);
    lock.lock();
    stopped_.wait_for(lock, kInterval,
                      [this] { return is_stopping_.load(std::memory_order_relaxed); });
  }
}

}  // namespace gyre::storage
