// ImportLane: one shard's part of an import: a thread that verifies and stores what the reader
// hands over.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "gyre/base/shared_bytes.h"
#include "gyre/base/spsc_ring.h"
#include "gyre/nostr/verify.h"
#include "gyre/storage/store.h"

namespace gyre::app {

class ImportLane {
 public:
  enum class Origin : std::uint8_t {
    kUnverified,  // Its signature is looked at first.
    kTrusted,     // Of a store.
    // A request of another shard's author, verified already: only its effects here count.
    kForeignRequest,
  };
  struct Item {
    SharedBytes::Block* event = nullptr;  // Packed; adopted by the lane.
    std::uint64_t line = 0;
    Origin origin = Origin::kUnverified;
  };
  struct Result {
    std::uint64_t line = 0;
    bool is_signature_bad = false;
    storage::Verdict verdict = storage::Verdict::kAccept;
    storage::Sequence sequence = 0;  // kAccept: the event's.
  };

  explicit ImportLane(storage::Store& store);
  ~ImportLane();

  void start();
  // Reader's thread. False: full; take results and try again.
  [[nodiscard]] bool try_push(const Item& item);
  // One result for each item that is no foreign request, in order.
  [[nodiscard]] bool try_take(Result& result);
  void request_finish();  // No more items will come.
  // Waits for the thread. Requires: request_finish(), and is_done() unless results are of no
  // interest.
  void finish();
  [[nodiscard]] bool is_done() const { return is_done_.load(std::memory_order_acquire); }

 private:
  struct Pending {
    Item item;
    SharedBytes event;
  };
  void run();
  bool take_batch();
  void verify_batch();
  void store_batch();
  [[nodiscard]] storage::Store::PutResult store_one(const Pending& pending);
  void give(const Result& result);

  storage::Store& store_;
  std::unique_ptr<nostr::SignatureVerifier> verifier_;
  SpscRing<Item> items_{1024};
  SpscRing<Result> results_{4096};
  std::vector<Pending> batch_;
  std::vector<nostr::SignatureCheck> checks_;
  std::atomic<bool> is_finishing_{false};
  std::atomic<bool> is_done_{false};
  std::thread thread_;
};

}  // namespace gyre::app
