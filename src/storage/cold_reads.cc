#include "gyre/storage/cold_reads.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "gyre/base/assert.h"
#include "storage/log_format.h"

namespace gyre::storage {
namespace {

// What a first read takes: to the end of the page, and of the next if that is less than this. The
// disk gives whole pages, a second one costs little beside the first (16 against 20 us each with 32
// under way), and hardly an event is longer.
constexpr std::uint64_t kFirstBytesMin = 2048;
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kFirstBytesMax = kFirstBytesMin + kPageBytes;
// EINTR and EAGAIN in a row, after which a read has failed.
constexpr int kRetriesMax = 16;

std::uint64_t first_bytes(std::uint64_t offset) {
  const std::uint64_t to_page_end = kPageBytes - offset % kPageBytes;
  return to_page_end < kFirstBytesMin ? to_page_end + kPageBytes : to_page_end;
}

}  // namespace

struct ColdReads::Slot {
  enum class Phase : std::uint8_t {
    kFree,
    kFirst,           // The first pages are being read.
    kLong,            // They are there, and the record is longer.
    kWaitsForMemory,  // For the whole of a long one.
    kRest,            // The rest of it is being read.
    kReady,
    kUnreadable,
  };

  [[nodiscard]] bool is_in_flight() const {
    return phase == Phase::kFirst || phase == Phase::kRest;
  }
  // Requires: the header is there.
  [[nodiscard]] std::uint64_t record_bytes_by_header() const {
    return record_bytes(decode_record_header(first.get()).payload_bytes);
  }
  [[nodiscard]] std::uint8_t* bytes() { return long_bytes > 0 ? long_record.get() : first.get(); }

  Phase phase = Phase::kFree;
  bool is_given_up = false;  // In flight, for nobody.
  bool is_needed = false;    // need() was called.
  int retries = 0;
  LogPosition position;
  RecordPlace place;
  std::unique_ptr<std::uint8_t[]> first;  // Kept from use to use.
  std::unique_ptr<std::uint8_t[]> long_record;
  std::uint64_t long_bytes = 0;
  std::uint64_t wanted = 0;
  std::uint64_t got = 0;
  ByteSpan payload;
  Waiter* waiter = nullptr;
};

ColdRead::ColdRead(ColdRead&& other) noexcept
    : reads_(std::exchange(other.reads_, nullptr)), number_(other.number_) {}

ColdRead& ColdRead::operator=(ColdRead&& other) noexcept {
  if (this == &other) return *this;
  reset();
  reads_ = std::exchange(other.reads_, nullptr);
  number_ = other.number_;
  return *this;
}

void ColdRead::reset() {
  if (reads_ != nullptr) std::exchange(reads_, nullptr)->give_up(number_);
}

ColdReads::ColdReads(const EventLog& log) : log_(log) {}
ColdReads::~ColdReads() = default;

ColdRead ColdReads::start_ahead(LogPosition position) {
  if (!line_.empty()) return {};
  if (free_.empty()) {
    if (slots_.size() == kReadsMax) return {};
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->first = std::make_unique_for_overwrite<std::uint8_t[]>(kFirstBytesMax);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Slot& slot = *slots_[number];
  slot.phase = Slot::Phase::kFirst;
  slot.is_given_up = false;
  slot.is_needed = false;
  slot.retries = 0;
  slot.position = position;
  slot.place = log_.locate(position);
  slot.wanted = std::min(first_bytes(slot.place.offset), slot.place.bytes_max);
  slot.got = 0;
  slot.waiter = nullptr;
  ++read_count_;
  submit(number);
  return {*this, number};
}

ColdRead ColdReads::start(LogPosition position, Waiter& waiter) {
  const auto found = std::find(line_.begin(), line_.end(), &waiter);
  const bool is_first = found == line_.begin() || line_.empty();
  const bool has_room = !free_.empty() || slots_.size() < kReadsMax;
  if (!is_first || !has_room) {
    if (found == line_.end()) line_.push_back(&waiter);
    return {};
  }
  // Out of the line for the moment of the start, so that it may start.
  std::deque<Waiter*> others = std::exchange(line_, {});
  if (!others.empty()) others.pop_front();
  ColdRead read = start_ahead(position);
  line_ = std::move(others);
  wake_first_in_line();
  return read;
}

void ColdReads::leave_line(const Waiter& waiter) {
  if (std::erase(line_, &waiter) > 0) wake_first_in_line();
}

void ColdReads::wake_first_in_line() {
  const bool has_room = !free_.empty() || slots_.size() < kReadsMax;
  if (!line_.empty() && has_room) line_.front()->on_read_progress();
}

void ColdReads::submit(std::uint32_t number) {
  Slot& slot = *slots_[number];
  ++in_flight_;
  reader_->read(number, *slot.place.file, slot.place.offset + slot.got,
                {slot.bytes() + slot.got, slot.wanted - slot.got}, *this);
}

void ColdReads::on_read(std::uint32_t number, std::int32_t result) {
  Slot& slot = *slots_[number];
  GYRE_ASSERT(slot.is_in_flight());
  --in_flight_;
  if (slot.is_given_up) return free_slot(number);
  if (result == -EINTR || result == -EAGAIN) {
    if (++slot.retries <= kRetriesMax) return submit(number);
  } else {
    slot.retries = 0;
  }
  if (result < 0) {
    log_.report_unreadable(slot.position, -result);
    return finish(number, false);
  }
  slot.got += static_cast<std::uint64_t>(result);
  if (result == 0) slot.wanted = slot.got;  // The file ends here.
  take_bytes(number);
}

// Looks at what is there by now.
void ColdReads::take_bytes(std::uint32_t number) {
  Slot& slot = *slots_[number];
  const std::uint64_t bytes =
      slot.got < kRecordHeaderBytes ? kRecordHeaderBytes : slot.record_bytes_by_header();
  const bool fits = bytes <= slot.place.bytes_max;
  if (fits && slot.got < bytes) {
    if (slot.got < slot.wanted) return submit(number);
    const bool has_ended = slot.wanted < kRecordHeaderBytes || slot.phase == Slot::Phase::kRest;
    if (!has_ended) {
      slot.phase = Slot::Phase::kLong;
      if (slot.is_needed) want_long(number);
      return;
    }
  }
  const auto payload =
      fits ? check_record(slot.place.seed, {slot.bytes(), slot.got}, slot.place.named_offset)
           : std::nullopt;
  if (payload) {
    slot.payload = *payload;
  } else {
    log_.report_damage(slot.position);
  }
  finish(number, payload.has_value());
}

// First come, first served, so that a very long one gets its turn.
void ColdReads::want_long(std::uint32_t number) {
  if (memory_line_.empty() && has_memory_for(number)) return begin_long(number);
  slots_[number]->phase = Slot::Phase::kWaitsForMemory;
  memory_line_.push_back(number);
}

bool ColdReads::has_memory_for(std::uint32_t number) const {
  return long_bytes_ == 0 ||
         long_bytes_ + slots_[number]->record_bytes_by_header() <= kLongBytesMax;
}

void ColdReads::begin_long(std::uint32_t number) {
  Slot& slot = *slots_[number];
  const std::uint64_t bytes = slot.record_bytes_by_header();
  long_bytes_ += bytes;
  slot.long_record = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
  std::memcpy(slot.long_record.get(), slot.first.get(), slot.got);
  slot.long_bytes = bytes;
  slot.wanted = bytes;
  slot.phase = Slot::Phase::kRest;
  submit(number);
}

void ColdReads::finish(std::uint32_t number, bool is_sound) {
  Slot& slot = *slots_[number];
  slot.phase = is_sound ? Slot::Phase::kReady : Slot::Phase::kUnreadable;
  if (slot.waiter != nullptr) std::exchange(slot.waiter, nullptr)->on_read_progress();
}

ColdReads::State ColdReads::need(const ColdRead& read, Waiter* waiter) {
  Slot& slot = *slots_[read.number_];
  slot.is_needed = true;
  if (slot.phase == Slot::Phase::kLong) want_long(read.number_);
  if (slot.phase == Slot::Phase::kReady) return State::kReady;
  if (slot.phase == Slot::Phase::kUnreadable) return State::kUnreadable;
  slot.waiter = waiter;
  return State::kReading;
}

ByteSpan ColdReads::payload(const ColdRead& read) const {
  const Slot& slot = *slots_[read.number_];
  GYRE_ASSERT(slot.phase == Slot::Phase::kReady);
  return slot.payload;
}

void ColdReads::give_up(std::uint32_t number) {
  Slot& slot = *slots_[number];
  slot.waiter = nullptr;
  if (slot.is_in_flight()) {
    slot.is_given_up = true;  // The kernel writes into the buffer until it is done.
    return;
  }
  if (slot.phase == Slot::Phase::kWaitsForMemory) std::erase(memory_line_, number);
  free_slot(number);
}

void ColdReads::free_slot(std::uint32_t number) {
  Slot& slot = *slots_[number];
  slot.phase = Slot::Phase::kFree;
  slot.place.file.reset();
  slot.payload = {};
  free_.push_back(number);
  if (slot.long_bytes > 0) {
    long_bytes_ -= std::exchange(slot.long_bytes, 0);
    slot.long_record.reset();
    while (!memory_line_.empty() && has_memory_for(memory_line_.front())) {
      const std::uint32_t next = memory_line_.front();
      memory_line_.pop_front();
      begin_long(next);
    }
  }
  wake_first_in_line();
}

}  // namespace gyre::storage
