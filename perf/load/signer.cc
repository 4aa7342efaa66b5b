#include "signer.h"

#include <openssl/sha.h>
#include <secp256k1.h>
#include <secp256k1_schnorrsig.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "failure.h"
#include "hex.h"

namespace gyre::load {
namespace {

// Read by all threads, changed by none after its making.
const secp256k1_context* context() {
  static const secp256k1_context* const shared = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
  return shared;
}

double thread_cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

}  // namespace

Bytes32 sha256(std::string_view text) {
  Bytes32 digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

Signer::Signer(std::string_view seed_text) {
  const Bytes32 secret = sha256(seed_text);
  secp256k1_xonly_pubkey xonly;
  if (secp256k1_keypair_create(context(), &keypair_, secret.data()) != 1 ||
      secp256k1_keypair_xonly_pub(context(), &xonly, nullptr, &keypair_) != 1 ||
      secp256k1_xonly_pubkey_serialize(context(), pubkey_.data(), &xonly) != 1) {
    fail("a key could not be made");
  }
  pubkey_hex_ = to_hex(pubkey_);
}

Signature Signer::sign(const Bytes32& message) const {
  Signature signature;
  if (secp256k1_schnorrsig_sign32(context(), signature.data(), message.data(), &keypair_,
                                  nullptr) != 1) {
    fail("an event could not be signed");
  }
  return signature;
}

VerificationCost measure_verification() {
  constexpr int kKeys = 64;
  constexpr int kRuns = 60;  // With 64 verifications each, about a quarter of a second.
  struct Sample {
    Bytes32 pubkey;
    Bytes32 message;
    Signature signature;
  };
  std::vector<Sample> samples;
  for (int i = 0; i < kKeys; ++i) {
    const std::string name = "verification cost " + std::to_string(i);
    const Signer signer(name);
    const Bytes32 message = sha256("message of " + name);
    samples.push_back({signer.pubkey(), message, signer.sign(message)});
  }
  VerificationCost cost;
  double sum_us = 0;
  for (int run = 0; run < kRuns; ++run) {
    const double start_us = thread_cpu_us();
    for (const Sample& sample : samples) {
      secp256k1_xonly_pubkey key;
      if (secp256k1_xonly_pubkey_parse(context(), &key, sample.pubkey.data()) != 1 ||
          secp256k1_schnorrsig_verify(context(), sample.signature.data(), sample.message.data(), 32,
                                      &key) != 1) {
        fail("a good signature did not verify");
      }
    }
    const double each_us = (thread_cpu_us() - start_us) / kKeys;
    sum_us += each_us;
    cost.min_us = run == 0 ? each_us : std::min(cost.min_us, each_us);
  }
  cost.mean_us = sum_us / kRuns;
  return cost;
}

}  // namespace gyre::load
