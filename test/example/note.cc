// A program outside of gyre's tree that uses the installed library: it makes a key, signs a note,
// checks it as a reader would, and sends a text that only one reader understands.
//
//   c++ -std=c++20 note.cc $(pkg-config --cflags --static --libs gyre) -o note
//   ./note 'Hello, Nostr'

#include <gyre/base/random.h>
#include <gyre/nostr/entity.h>
#include <gyre/nostr/envelope.h>
#include <gyre/nostr/event.h>
#include <gyre/nostr/nip44.h>
#include <gyre/nostr/secret_key.h>

#include <cstdio>
#include <ctime>
#include <string>

using namespace gyre;
using namespace gyre::nostr;

namespace {

// What a client sends to a relay.
std::string publish(const SecretKey& key, const std::string& text, Random& random) {
  Envelope envelope;
  envelope.kind = EnvelopeKind::kEvent;
  envelope.event.created_at = static_cast<std::uint64_t>(std::time(nullptr));
  envelope.event.kind = 1;
  envelope.event.tags.append({"client", "note"});
  envelope.event.content = text;
  key.sign(envelope.event, random);
  std::string message;
  append_json(envelope, message);
  return message;
}

// What a reader makes of it: the text, or a complaint.
std::string read(const std::string& message) {
  Envelope envelope;
  const DecodeError error = parse_envelope(message, envelope);
  if (error != DecodeError::kNone) return std::string(describe(error));
  if (!has_right_id(envelope.event)) return "the id is wrong";
  if (!has_valid_signature(envelope.event)) return "the signature is wrong";
  return envelope.event.content;
}

bool exchange_secrets(const SecretKey& own, const std::string& text, Random& random) {
  const SecretKey peer = SecretKey::generate(random);
  const auto there = ConversationKey::derive(own, peer.public_key());
  const auto here = ConversationKey::derive(peer, own.public_key());
  Nip44 cipher;
  std::string payload;
  std::string back;
  return there && here && cipher.encrypt(*there, text, random, payload) == DecodeError::kNone &&
         cipher.decrypt(*here, payload, back) == DecodeError::kNone && back == text;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string text = argc > 1 ? argv[1] : "Hello, Nostr";
  SystemRandom random;
  const SecretKey key = SecretKey::generate(random);

  Entity author;
  author.key = key.public_key();
  std::string npub;
  if (append_entity(author, npub) != DecodeError::kNone) return 1;

  const std::string message = publish(key, text, random);
  std::printf("%s says: %s\n%s\n", npub.c_str(), read(message).c_str(), message.c_str());
  return read(message) == text && exchange_secrets(key, text, random) ? 0 : 1;
}
