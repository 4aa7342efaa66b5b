// KeySearch: a walk over secret keys whose public keys are cheap to know, for those who want one
// that looks a certain way.
//
// From a random secret k the walk goes to k+1, k+2 ...; each public key is the one before plus the
// generator, which costs an addition instead of a multiplication, an eighth or so. One search
// belongs to one thread. Two searches from the same secret would find the same keys, so each
// thread takes its own; a key that was found must not be published together with another one of
// the same walk, which hardly matters as the rest of a walk is wiped.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "gyre/base/bytes.h"
#include "gyre/base/random.h"
#include "gyre/nostr/secret_key.h"

namespace gyre::nostr {

class KeySearch {
 public:
  // `random` must be unpredictable.
  explicit KeySearch(Random& random);
  ~KeySearch();
  KeySearch(const KeySearch&) = delete;
  KeySearch& operator=(const KeySearch&) = delete;

  // Steps to the next key and returns its x-only public key. Valid until the next step.
  const Bytes32& next();

  // The secret key of the public key that next() has returned last.
  [[nodiscard]] SecretKey secret_key() const;

 private:
  struct Points;

  void start_over();

  Random& random_;
  Bytes32 start_;             // k, secret.
  std::uint64_t offset_ = 0;  // Steps from there.
  Bytes32 public_key_;
  std::unique_ptr<Points> points_;
};

}  // namespace gyre::nostr
