// ColdReads: the log records that a shard reads from the disk, because they lie outside the part of
// the log that is kept in memory (EventLog::is_resident).
//
// A shard must not touch such a record through the mapping: a page fault would stop its loop for as
// long as the disk likes. It starts a read instead and goes on when that is done. Every record is
// checked by its checksum. One that is damaged or cannot be read is reported (EventLog) and counts
// as unreadable.
//
// Memory is bounded: kReadsMax buffers of 6 KiB, which hold nearly every event whole, and
// kLongBytesMax for longer records, or one record of any length. Nobody who holds buffers waits for
// others to give up theirs, so nobody waits for ever: the rest of a long record is read only for
// who needs it next, and who holds nothing yet stands in line.
//
// Belongs to one shard.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/storage/event_log.h"
#include "gyre/storage/file_reader.h"

namespace gyre::storage {

class ColdReads;

// One read; gives its buffer back when it ends, at any time. Outlived by the ColdReads it is from.
class ColdRead {
 public:
  ColdRead() = default;
  ColdRead(ColdRead&& other) noexcept;
  ColdRead& operator=(ColdRead&& other) noexcept;
  ~ColdRead() { reset(); }
  void reset();
  [[nodiscard]] bool is_null() const { return reads_ == nullptr; }

 private:
  friend class ColdReads;
  ColdRead(ColdReads& reads, std::uint32_t number) : reads_(&reads), number_(number) {}

  ColdReads* reads_ = nullptr;
  std::uint32_t number_ = 0;
};

class ColdReads final : private FileReader::Owner {
 public:
  static constexpr std::uint32_t kReadsMax = 256;
  static constexpr std::uint64_t kLongBytesMax = 8 * 1024 * 1024;

  // Whoever waits for a read or for room to start one.
  class Waiter {
   public:
    // Looking again may help now. May be called when it does not, and from within calls of
    // ColdReads: it only takes a note.
    virtual void on_read_progress() = 0;

   protected:
    ~Waiter() = default;
  };

  explicit ColdReads(const EventLog& log);
  ColdReads(const ColdReads&) = delete;
  ColdReads& operator=(const ColdReads&) = delete;
  ~ColdReads();

  // Without a reader nothing is cold: tools that may wait read everything through the mapping. The
  // reader outlives the last read.
  void read_by(FileReader* reader) { reader_ = reader; }
  [[nodiscard]] bool is_cold(LogPosition position) const {
    return reader_ != nullptr && !log_.is_resident(position);
  }

  // Starts to read the record, ahead of need; null if there is no room. Requires: is_cold().
  [[nodiscard]] ColdRead start_ahead(LogPosition position);
  // The same for who holds no read: without room `waiter` stands in line, and looks again when it
  // is told to. It leaves the line with a read, or by leave_line().
  [[nodiscard]] ColdRead start(LogPosition position, Waiter& waiter);
  void leave_line(const Waiter& waiter);

  enum class State : std::uint8_t { kReading, kReady, kUnreadable };
  // What has become of it, for who needs it now: reads the rest of a long record, and tells
  // `waiter`, if there is one, when kReading has ended. Requires: !read.is_null().
  [[nodiscard]] State need(const ColdRead& read, Waiter* waiter);
  // The record's payload; lives as long as the read. Requires: need() said kReady.
  [[nodiscard]] ByteSpan payload(const ColdRead& read) const;

  // Reads in the reader's hands, given up ones included. The reader must not end before.
  [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }
  // Records read so far.
  [[nodiscard]] std::uint64_t read_count() const { return read_count_; }

 private:
  friend class ColdRead;
  struct Slot;

  void on_read(std::uint32_t number, std::int32_t result) override;
  void submit(std::uint32_t number);
  void take_bytes(std::uint32_t number);
  void want_long(std::uint32_t number);
  [[nodiscard]] bool has_memory_for(std::uint32_t number) const;
  void begin_long(std::uint32_t number);
  void finish(std::uint32_t number, bool is_sound);
  void give_up(std::uint32_t number);
  void free_slot(std::uint32_t number);
  void wake_first_in_line();

  const EventLog& log_;
  FileReader* reader_ = nullptr;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::uint32_t> free_;
  std::deque<Waiter*> line_;               // For a slot.
  std::deque<std::uint32_t> memory_line_;  // Slots that wait for memory for a long record.
  std::uint64_t long_bytes_ = 0;
  std::uint32_t in_flight_ = 0;
  std::uint64_t read_count_ = 0;
};

}  // namespace gyre::storage
