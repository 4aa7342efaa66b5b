// MemoryKeeper: the thread that brings a shard's files into memory at start and keeps them there.
//
// The relay listens meanwhile: what is not there yet is read through the ring. Afterwards the
// thread touches everything again from time to time, so that the kernel, when it needs memory,
// gives up pages that nobody asks for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gyre::storage {

class MemoryKeeper {
 public:
  // Returns early when `is_stopping` turns true. Runs in the keeper's thread.
  using Task = std::function<void(const std::atomic<bool>& is_stopping)>;

  MemoryKeeper() = default;
  ~MemoryKeeper() { stop_thread(); }
  MemoryKeeper(const MemoryKeeper&) = delete;
  MemoryKeeper& operator=(const MemoryKeeper&) = delete;

  // Does the tasks one after the other, over and over. Requires: no thread.
  void start_thread(std::vector<Task> tasks);
  void stop_thread();  // Fine without one.

 private:
  void run();

  std::vector<Task> tasks_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

}  // namespace gyre::storage
