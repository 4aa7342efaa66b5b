#include "gyre/relay/messages.h"

namespace gyre::relay {
namespace {

template <typename Message>
void drop_event(const runtime::MeshSlot& slot) {
  const SharedBytes event = SharedBytes::adopt(from_slot<Message>(slot).event);
}

}  // namespace

void drop_message(const runtime::MeshSlot& slot) {
  switch (type_of(slot)) {
    case MessageType::kSubmit: return drop_event<Submit>(slot);
    case MessageType::kForeignRequest: return drop_event<ForeignRequest>(slot);
    case MessageType::kPublish: return drop_event<Publish>(slot);
    case MessageType::kBatch: {
      const SharedBytes events = SharedBytes::adopt(from_slot<Batch>(slot).events);
      return;
    }
    case MessageType::kQuery:
    case MessageType::kMore:
    case MessageType::kCancel:
    case MessageType::kDecision:
    case MessageType::kForeignDone: return;
  }
}

}  // namespace gyre::relay
