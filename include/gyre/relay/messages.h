// The closed set of messages between shards. All are trivially copyable and fit one mesh slot.
//
// "Asker" is the shard of a connection, "owner" the shard of an author's events. Requests go from
// asker to owner, replies come back (runtime/mesh.h says why the two travel on rings of their own):
//
//     kSubmit          an event to decide on                 -> one kDecision
//     kForeignRequest  a deletion or vanish request whose    -> one kForeignDone
//                      author lives in the sending shard
//     kQuery           start a stored query                  -> kBatch ..., the last with is_last
//     kMore            one more batch may be sent
//     kCancel          end the query                         -> its last kBatch, if not yet sent
//
//     kPublish         an accepted event, to every shard that has subscriptions
//
// Policy when full: kSubmit and kQuery pause the connection that caused them; kMore, kCancel and
// kForeignRequest wait in the sender's backlog, one for each query or request at most; replies are
// reserved room before the request is taken.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "gyre/base/bytes.h"
#include "gyre/base/error.h"
#include "gyre/base/ids.h"
#include "gyre/base/shared_bytes.h"
#include "gyre/runtime/mesh.h"

namespace gyre::relay {

struct QueryRequest;  // relay/query_request.h

enum class MessageType : std::uint32_t {
  kSubmit,
  kForeignRequest,
  kQuery,
  kMore,
  kCancel,
  kDecision,
  kForeignDone,
  kPublish,
  kBatch,
};

// A stored query, named by its asker: a slot of the asker's table.
using QueryId = std::uint32_t;

struct Submit {
  static constexpr MessageType kType = MessageType::kSubmit;
  MessageType type = kType;
  ConnectionId connection;
  SharedBytes::Block* event = nullptr;  // A packed event; the receiver adopts it.
};

struct ForeignRequest {
  static constexpr MessageType kType = MessageType::kForeignRequest;
  MessageType type = kType;
  std::uint32_t ticket = 0;  // Names the waiting acknowledgement in the sending shard.
  SharedBytes::Block* event = nullptr;
};

struct Query {
  static constexpr MessageType kType = MessageType::kQuery;
  MessageType type = kType;
  QueryId query = 0;
  std::uint32_t owner_count = 1;  // Asked the same.
  // The asker's; lives until the asker has every owner's last batch.
  const QueryRequest* request = nullptr;
};

struct More {
  static constexpr MessageType kType = MessageType::kMore;
  MessageType type = kType;
  QueryId query = 0;
};

struct Cancel {
  static constexpr MessageType kType = MessageType::kCancel;
  MessageType type = kType;
  QueryId query = 0;
};

struct Decision {
  static constexpr MessageType kType = MessageType::kDecision;
  MessageType type = kType;
  ConnectionId connection;
  Bytes32 id;
  std::uint8_t is_accepted = 0;
  Prefix prefix = Prefix::kNone;
  std::uint16_t text_bytes = 0;
  const char* text = nullptr;     // Static storage.
  std::uint32_t event_bytes = 0;  // Packed, for the connection's account of what is in flight.
};

struct ForeignDone {
  static constexpr MessageType kType = MessageType::kForeignDone;
  MessageType type = kType;
  std::uint32_t ticket = 0;
};

struct Publish {
  static constexpr MessageType kType = MessageType::kPublish;
  MessageType type = kType;
  std::uint32_t is_ephemeral = 0;
  SharedBytes::Block* event = nullptr;
};

struct Batch {
  static constexpr MessageType kType = MessageType::kBatch;
  MessageType type = kType;
  QueryId query = 0;
  std::uint8_t is_last = 0;
  std::uint8_t is_out_of_time = 0;       // With is_last: the query's time limit ended it.
  std::uint64_t count = 0;               // With is_last, of a COUNT.
  SharedBytes::Block* events = nullptr;  // Events of this batch (relay/result_batch.h), or null.
};

// Frees what a message carries that nobody will take any more.
void drop_message(const runtime::MeshSlot& slot);

template <typename Message>
[[nodiscard]] runtime::MeshSlot to_slot(const Message& message) {
  static_assert(std::is_trivially_copyable_v<Message> &&
                sizeof(Message) <= sizeof(runtime::MeshSlot));
  runtime::MeshSlot slot{};
  std::memcpy(slot.bytes.data(), &message, sizeof message);
  return slot;
}

[[nodiscard]] inline MessageType type_of(const runtime::MeshSlot& slot) {
  MessageType type;
  std::memcpy(&type, slot.bytes.data(), sizeof type);
  return type;
}

// Requires: type_of(slot) == Message::kType.
template <typename Message>
[[nodiscard]] Message from_slot(const runtime::MeshSlot& slot) {
  GYRE_ASSERT_CMP(type_of(slot), ==, Message::kType);
  Message message;
  std::memcpy(static_cast<void*>(&message), slot.bytes.data(), sizeof message);
  return message;
}

}  // namespace gyre::relay
