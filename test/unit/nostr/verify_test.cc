#include "gyre/nostr/verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>
#include <vector>

#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

struct SchnorrVector {
  const char* name;
  const char* pubkey;
  const char* message;
  const char* signature;
  bool is_valid;
};

// The official vectors of BIP-340 with messages of 32 bytes, 0 to 14.
constexpr SchnorrVector kSchnorrVectors[] = {
    {"0", "F9308A019258C31049344F85F89D5229B531C845836F99B08601F113BCE036F9",
     "0000000000000000000000000000000000000000000000000000000000000000",
     "E907831F80848D1069A5371B402410364BDF1C5F8307B0084C55F1CE2DCA8215"
     "25F66A4A85EA8B71E482A74F382D2CE5EBEEE8FDB2172F477DF4900D310536C0",
     true},
    {"1", "DFF1D77F2A671C5F36183726DB2341BE58FEAE1DA2DECED843240F7B502BA659",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "6896BD60EEAE296DB48A229FF71DFE071BDE413E6D43F917DC8DCF8C78DE3341"
     "8906D11AC976ABCCB20B091292BFF4EA897EFCB639EA871CFA95F6DE339E4B0A",
     true},
    {"2", "DD308AFEC5777E13121FA72B9CC1B7CC0139715309B086C960E18FD969774EB8",
     "7E2D58D8B3BCDF1ABADEC7829054F90DDA9805AAB56C77333024B9D0A508B75C",
     "5831AAEED7B44BB74E5EAB94BA9D4294C49BCF2A60728D8B4C200F50DD313C1B"
     "AB745879A5AD954A72C45A91C3A51D3C7ADEA98D82F8481E0E1E03674A6F3FB7",
     true},
    {"3: the message is not reduced modulo p or n",
     "25D1DFF95105F5253C4022F628A996AD3A0D95FBF21D468A1B33F8C160D8F517",
     "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF",
     "7EB0509757E246F19449885651611CB965ECC1A187DD51B64FDA1EDC9637D5EC"
     "97582B9CB13DB3933705B32BA982AF5AF25FD78881EBB32771FC5922EFC66EA3",
     true},
    {"4", "D69C3509BB99E412E68B0FE8544E72837DFA30746D8BE2AA65975F29D22DC7B9",
     "4DF3C3F68FCC83B27E9D42C90431A72499F17875C81A599B566C9889B9696703",
     "00000000000000000000003B78CE563F89A0ED9414F5AA28AD0D96D6795F9C63"
     "76AFB1548AF603B3EB45C9F8207DEE1060CB71C04E80F593060B07D28308D7F4",
     true},
    {"5: public key not on the curve",
     "EEFDEA4CDB677750A420FEE807EACF21EB9898AE79B9768766E4FAA04A2D4A34",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "6CFF5C3BA86C69EA4B7376F31A9BCB4F74C1976089B2D9963DA2E5543E177769"
     "69E89B4C5564D00349106B8497785DD7D1D713A8AE82B32FA79D5F7FC407D39B",
     false},
    {"6: R has an odd y", "DFF1D77F2A671C5F36183726DB2341BE58FEAE1DA2DECED843240F7B502BA659",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "FFF97BD5755EEEA420453A14355235D382F6472F8568A18B2F057A1460297556"
     "3CC27944640AC607CD107AE10923D9EF7A73C643E166BE5EBEAFA34B1AC553E2",
     false},
    {"7: negated message", "DFF1D77F2A671C5F36183726DB2341BE58FEAE1DA2DECED843240F7B502BA659",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "1FA62E331EDBC21C394792D2AB1100A7B432B013DF3F6FF4F99FCB33E0E1515F"
     "28890B3EDB6E7189B630448B515CE4F8622A954CFE545735AAEA5134FCCDB2BD",
     false},
    {"8: negated s", "DFF1D77F2A671C5F36183726DB2341BE58FEAE1DA2DECED843240F7B502BA659",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "6CFF5C3BA86C69EA4B7376F31A9BCB4F74C1976089B2D9963DA2E5543E177769"
     "961764B3AA9B2FFCB6EF947B6887A226E8D7C93E00C5ED0C1834FF0D0C2E6DA6",
     false},
    {"9: sG - eP is infinite, x 0",
     "DFF1D77F2A671C5F36183726DB2341BE58FEAE1DA2DECED843240F7B502BA659",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "0000000000000000000000000000000000000000000000000000000000000000"
     "123DDA8328AF9C23A94C1FEECFD123BA4FB73476F0D594DCB65C6425BD186051",
     false},
    {"10: sG - eP is infinite, x 1",
     "DFF1D77F2A671C5F36183726DB2341BE58FEAE1DA2DECED843240F7B502BA659",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "0000000000000000000000000000000000000000000000000000000000000001"
     "7615FBAF5AE28864013C099742DEADB4DBA87F11AC6754F93780D5A1837CF197",
     false},
    {"11: r is no x on the curve",
     "DFF1D77F2A671C5F36183726DB2341BE58FEAE1DA2DECED843240F7B502BA659",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "4A298DACAE57395A15D0795DDBFD1DCB564DA82B0F269BC70A74F8220429BA1D"
     "69E89B4C5564D00349106B8497785DD7D1D713A8AE82B32FA79D5F7FC407D39B",
     false},
    {"12: r is the size of the field",
     "DFF1D77F2A671C5F36183726DB2341BE58FEAE1DA2DECED843240F7B502BA659",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFC2F"
     "69E89B4C5564D00349106B8497785DD7D1D713A8AE82B32FA79D5F7FC407D39B",
     false},
    {"13: s is the order of the curve",
     "DFF1D77F2A671C5F36183726DB2341BE58FEAE1DA2DECED843240F7B502BA659",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "6CFF5C3BA86C69EA4B7376F31A9BCB4F74C1976089B2D9963DA2E5543E177769"
     "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141",
     false},
    {"14: public key exceeds the field",
     "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFC30",
     "243F6A8885A308D313198A2E03707344A4093822299F31D0082EFA98EC4E6C89",
     "6CFF5C3BA86C69EA4B7376F31A9BCB4F74C1976089B2D9963DA2E5543E177769"
     "69E89B4C5564D00349106B8497785DD7D1D713A8AE82B32FA79D5F7FC407D39B",
     false},
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

void overwrite(std::vector<std::uint8_t>& packed, std::string_view place, std::string_view text) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(place.data());
  std::memcpy(packed.data() + (begin - packed.data()), text.data(), text.size());
}

// An event whose three keys are those of the vector. Its id is no hash of it, which is nothing to
// the verifier.
std::vector<std::uint8_t> packed_vector(const SchnorrVector& vector) {
  std::vector<std::uint8_t> packed = test::pack_unsigned_event({});
  const PackedEventView event(packed.data());
  overwrite(packed, event.id_hex(), lower(vector.message));
  overwrite(packed, event.pubkey_hex(), lower(vector.pubkey));
  overwrite(packed, event.sig_hex(), lower(vector.signature));
  return packed;
}

class VerifierTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  [[nodiscard]] bool verify(const std::vector<std::uint8_t>& packed) {
    SignatureCheck check{PackedEventView(packed.data()), false};
    verifier_->verify({&check, 1});
    return check.is_valid;
  }

  std::unique_ptr<SignatureVerifier> verifier_ = make_signature_verifier(GetParam());
};

TEST_P(VerifierTest, AgreesWithTheOfficialVectorsEachTime) {
  for (int round = 0; round < 3; ++round) {
    for (const SchnorrVector& vector : kSchnorrVectors) {
      EXPECT_EQ(verify(packed_vector(vector)), vector.is_valid) << vector.name;
    }
  }
}

TEST_P(VerifierTest, NoKeyIsTakenForAnEmptySlot) {
  SchnorrVector vector = kSchnorrVectors[0];
  vector.pubkey = "0000000000000000000000000000000000000000000000000000000000000000";
  EXPECT_FALSE(verify(packed_vector(vector)));
}

TEST_P(VerifierTest, ABatchIsJudgedOneByOne) {
  std::vector<std::vector<std::uint8_t>> events;
  for (std::uint32_t i = 0; i < 40; ++i) {
    test::EventDraft draft{.key_index = i % 11, .content = "event " + std::to_string(i)};
    events.push_back(i % 3 == 0 ? test::pack_unsigned_event(draft) : test::pack_event(draft));
  }
  std::vector<SignatureCheck> checks;
  for (const auto& packed : events) checks.push_back({PackedEventView(packed.data()), true});
  verifier_->verify(checks);
  for (std::size_t i = 0; i < checks.size(); ++i) EXPECT_EQ(checks[i].is_valid, i % 3 != 0) << i;
}

TEST_P(VerifierTest, AnyChangedDigitOfTheSignatureIsNoticed) {
  const std::vector<std::uint8_t> good = test::pack_event({.content = "signed"});
  ASSERT_TRUE(verify(good));
  for (std::size_t digit = 0; digit < 128; digit += 9) {
    std::vector<std::uint8_t> bad = good;
    const PackedEventView event(bad.data());
    const char changed = event.sig_hex()[digit] == '0' ? '1' : '0';
    overwrite(bad, event.sig_hex().substr(digit, 1), {&changed, 1});
    EXPECT_FALSE(verify(bad)) << digit;
  }
}

INSTANTIATE_TEST_SUITE_P(KeyCacheSlots, VerifierTest, ::testing::Values(0u, 1u, 8u, 1024u));

TEST(Verify, Sha256HasItsKnownValues) {
  EXPECT_EQ(to_hex(sha256({}).bytes),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256(as_bytes("abc")).bytes),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Verify, IdIsTheHashOfTheCanonicalForm) {
  const std::vector<std::uint8_t> packed = test::pack_event(
      {.created_at = 7, .kind = 30023, .tags = {{"d", "x\n"}}, .content = "\"quoted\" \x01"});
  const PackedEventView event(packed.data());
  const std::string preimage =
      "[0,\"" + test::pubkey_hex(0) + R"(",7,30023,[["d","x\n"]],"\"quoted\" \u0001"])";
  EXPECT_EQ(compute_id(event), sha256(as_bytes(preimage)));
  EXPECT_EQ(compute_id(event), event.id());
}

}  // namespace
}  // namespace gyre::nostr
