#include "gyre/nostr/envelope.h"

#include "gyre/nostr/json_value.h"
#include "nostr/event_json.h"
#include "nostr/filter_json.h"
#include "nostr/json_cursor.h"
#include "nostr/json_output.h"

namespace gyre::nostr {
namespace {

// A comma, then the element.
template <typename Read>
DecodeError read_next(JsonCursor& cursor, Read read) {
  if (cursor.peek() == ']') return DecodeError::kMissingMember;
  return cursor.take(',') ? read() : DecodeError::kNotJson;
}

DecodeError read_next_text(JsonCursor& cursor, std::string& text) {
  return read_next(cursor, [&] { return read_text(cursor, text); });
}

DecodeError read_ok(JsonCursor& cursor, Envelope& envelope) {
  envelope.kind = EnvelopeKind::kOk;
  DecodeError error = read_next(cursor, [&] { return read_hex(cursor, envelope.event_id.bytes); });
  if (error != DecodeError::kNone) return error;
  error = read_next(cursor, [&] {
    return cursor.take_bool(envelope.is_accepted) ? DecodeError::kNone : DecodeError::kNotJson;
  });
  return error == DecodeError::kNone ? read_next_text(cursor, envelope.text) : error;
}

DecodeError read_event_message(JsonCursor& cursor, Envelope& envelope) {
  envelope.kind = EnvelopeKind::kEvent;
  if (!cursor.take(',')) return DecodeError::kMissingMember;
  if (cursor.peek() == '"') {
    envelope.kind = EnvelopeKind::kSubscriptionEvent;
    const DecodeError error = read_text(cursor, envelope.subscription_id);
    if (error != DecodeError::kNone) return error;
    if (!cursor.take(',')) return DecodeError::kMissingMember;
  }
  return read_event(cursor, 2, envelope.event);
}

DecodeError read_auth(JsonCursor& cursor, Envelope& envelope) {
  envelope.kind = EnvelopeKind::kAuthChallenge;
  if (!cursor.take(',')) return DecodeError::kMissingMember;
  if (cursor.peek() == '"') return read_text(cursor, envelope.text);
  envelope.kind = EnvelopeKind::kAuth;
  return read_event(cursor, 2, envelope.event);
}

// {"count":n, ...}; kMissingMember if it has no such member.
DecodeError read_count_result(JsonCursor& cursor, std::uint64_t& count) {
  bool has_count = false;
  if (!cursor.take('{')) return DecodeError::kNotJson;
  if (cursor.take('}')) return DecodeError::kMissingMember;
  std::string name;
  do {
    DecodeError error = read_text(cursor, name);
    if (error != DecodeError::kNone) return error;
    if (!cursor.take(':')) return DecodeError::kNotJson;
    if (name == "count") {
      if (has_count) return DecodeError::kRepeatedMember;
      has_count = true;
      error = read_unsigned(cursor, ~std::uint64_t{0}, count);
    } else {
      error = cursor.skip_value(kJsonLevelsMax - 2);
    }
    if (error != DecodeError::kNone) return error;
  } while (cursor.take(','));
  if (!cursor.take('}')) return DecodeError::kNotJson;
  return has_count ? DecodeError::kNone : DecodeError::kMissingMember;
}

DecodeError read_filters(JsonCursor& cursor, std::vector<EventFilter>& filters) {
  std::size_t count = 0;
  while (cursor.take(',')) {
    // Those that are there already keep their memory.
    if (count == filters.size()) filters.emplace_back();
    const DecodeError error = read_filter(cursor, filters[count++]);
    if (error != DecodeError::kNone) return error;
  }
  filters.resize(count);
  return count == 0 ? DecodeError::kMissingMember : DecodeError::kNone;
}

DecodeError read_request(JsonCursor& cursor, EnvelopeKind kind, Envelope& envelope) {
  envelope.kind = kind;
  const DecodeError error = read_next_text(cursor, envelope.subscription_id);
  if (error != DecodeError::kNone) return error;
  if (kind == EnvelopeKind::kCount) {
    JsonCursor result = cursor;
    if (result.take(',') && read_count_result(result, envelope.count) == DecodeError::kNone) {
      envelope.kind = EnvelopeKind::kCountResult;
      cursor = result;
      return DecodeError::kNone;
    }
  }
  return read_filters(cursor, envelope.filters);
}

DecodeError read_by_command(JsonCursor& cursor, std::string_view command, Envelope& envelope) {
  if (command == "EVENT") return read_event_message(cursor, envelope);
  if (command == "REQ") return read_request(cursor, EnvelopeKind::kReq, envelope);
  if (command == "COUNT") return read_request(cursor, EnvelopeKind::kCount, envelope);
  if (command == "OK") return read_ok(cursor, envelope);
  if (command == "AUTH") return read_auth(cursor, envelope);
  if (command == "NOTICE") {
    envelope.kind = EnvelopeKind::kNotice;
    return read_next_text(cursor, envelope.text);
  }
  const bool is_closed = command == "CLOSED";
  if (is_closed) {
    envelope.kind = EnvelopeKind::kClosed;
  } else if (command == "CLOSE") {
    envelope.kind = EnvelopeKind::kClose;
  } else if (command == "EOSE") {
    envelope.kind = EnvelopeKind::kEose;
  } else {
    return DecodeError::kUnknownMember;
  }
  const DecodeError error = read_next_text(cursor, envelope.subscription_id);
  if (error != DecodeError::kNone || !is_closed) return error;
  return read_next_text(cursor, envelope.text);
}

void append_quoted(std::string_view text, std::string& out) {
  append_bytes(out, quoted_bytes(text), [&](char* at) { return write_quoted(text, at); });
}

std::string_view command_of(EnvelopeKind kind) {
  switch (kind) {
    case EnvelopeKind::kEvent:
    case EnvelopeKind::kSubscriptionEvent: return "EVENT";
    case EnvelopeKind::kReq: return "REQ";
    case EnvelopeKind::kClose: return "CLOSE";
    case EnvelopeKind::kClosed: return "CLOSED";
    case EnvelopeKind::kEose: return "EOSE";
    case EnvelopeKind::kOk: return "OK";
    case EnvelopeKind::kNotice: return "NOTICE";
    case EnvelopeKind::kAuthChallenge:
    case EnvelopeKind::kAuth: return "AUTH";
    case EnvelopeKind::kCount:
    case EnvelopeKind::kCountResult: return "COUNT";
  }
  return "";
}

}  // namespace

DecodeError parse_envelope(std::string_view json, Envelope& envelope) {
  return parse_whole(json, [&](JsonCursor& cursor) {
    std::string command;
    if (!cursor.take('[')) return DecodeError::kNotJson;
    DecodeError error = read_text(cursor, command);
    if (error == DecodeError::kNone) error = read_by_command(cursor, command, envelope);
    while (error == DecodeError::kNone && cursor.take(',')) {
      error = cursor.skip_value(kJsonLevelsMax - 1);
    }
    if (error != DecodeError::kNone) return error;
    return cursor.take(']') ? DecodeError::kNone : DecodeError::kNotJson;
  });
}

void append_json(const Envelope& envelope, std::string& out) {
  out += '[';
  append_quoted(command_of(envelope.kind), out);
  const auto add_text = [&](std::string_view text) {
    out += ',';
    append_quoted(text, out);
  };
  const auto add_event = [&] {
    out += ',';
    append_json(envelope.event, out);
  };
  const auto add_filters = [&] {
    for (const EventFilter& filter : envelope.filters) {
      out += ',';
      append_json(filter, out);
    }
  };
  switch (envelope.kind) {
    case EnvelopeKind::kSubscriptionEvent: add_text(envelope.subscription_id); [[fallthrough]];
    case EnvelopeKind::kEvent:
    case EnvelopeKind::kAuth: add_event(); break;
    case EnvelopeKind::kReq:
    case EnvelopeKind::kCount:
      add_text(envelope.subscription_id);
      add_filters();
      break;
    case EnvelopeKind::kClose:
    case EnvelopeKind::kEose: add_text(envelope.subscription_id); break;
    case EnvelopeKind::kClosed: add_text(envelope.subscription_id); [[fallthrough]];
    case EnvelopeKind::kNotice:
    case EnvelopeKind::kAuthChallenge: add_text(envelope.text); break;
    case EnvelopeKind::kOk:
      add_text(to_hex(envelope.event_id.bytes));
      out += envelope.is_accepted ? ",true" : ",false";
      add_text(envelope.text);
      break;
    case EnvelopeKind::kCountResult:
      add_text(envelope.subscription_id);
      out += ",{\"count\":" + std::to_string(envelope.count) + '}';
      break;
  }
  out += ']';
}

}  // namespace gyre::nostr
