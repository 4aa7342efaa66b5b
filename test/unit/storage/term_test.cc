#include "gyre/storage/term.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include "support/event_factory.h"

namespace gyre::storage {
namespace {

constexpr std::array<std::uint8_t, 16> kKey = {1, 2,  3,  4,  5,  6,  7,  8,
                                               9, 10, 11, 12, 13, 14, 15, 16};

std::vector<Term> query_terms(const TermHasher& hasher, const test::EventDraft& draft) {
  const std::vector<std::uint8_t> packed = test::pack_unsigned_event(draft);
  TermList list;
  append_query_terms(hasher, nostr::PackedEventView(packed.data()), list);
  std::vector<Term> terms(list.begin(), list.end());
  std::sort(terms.begin(), terms.end());
  return terms;
}

bool has(const std::vector<Term>& terms, Term term) {
  return std::binary_search(terms.begin(), terms.end(), term);
}

TEST(TermHasher, GivesEveryTypeAndValueATermOfItsOwn) {
  const TermHasher hasher(kKey);
  const Bytes32 a = test::pubkey(0);
  const Bytes32 b = test::pubkey(1);
  const std::vector<Term> terms = {
      hasher.all(),
      hasher.expiry(),
      hasher.id(a),
      hasher.author(a),
      hasher.author(b),
      hasher.vanished(a),
      hasher.kind(1),
      hasher.kind(256),
      hasher.author_kind(a, 1),
      hasher.author_kind(a, 2),
      hasher.author_kind(b, 1),
      hasher.address(1, a, ""),
      hasher.address(1, a, "x"),
      hasher.deleted_address(1, a, ""),
      hasher.deleted_id(a, b),
      hasher.deleted_id(b, a),
      hasher.tag('e', ""),
      hasher.tag('E', ""),
      hasher.tag('e', "x"),
      hasher.tag('e', "xy"),
      hasher.tag_kind('e', "x", 1),
      hasher.tag_kind('e', "x", 2),
      // The same bytes, were the kind not of fixed width.
      hasher.tag('e', std::string_view("\1\0x", 3)),
  };
  EXPECT_EQ(std::set<Term>(terms.begin(), terms.end()).size(), terms.size());
}

TEST(TermHasher, DependsOnTheStoresKey) {
  auto other_key = kKey;
  other_key[15] ^= 1;
  const TermHasher one(kKey);
  const TermHasher other(other_key);
  EXPECT_NE(one.all(), other.all());
  EXPECT_NE(one.kind(1), other.kind(1));
  EXPECT_EQ(one.kind(1), TermHasher(kKey).kind(1));
}

TEST(TermHasher, HoldsToTheNumbersThatStandOnDisk) {
  // Computed apart from this code, from the bytes FORMAT.md shows. A change would make every store
  // unreadable.
  const TermHasher hasher(kKey);
  EXPECT_EQ(hasher.all(), 0x79ade5223ad28cd8u);
  EXPECT_EQ(hasher.tag_kind('e', "x", 0x0102), 0x868523de9c34c64eu);
}

TEST(TermHasher, MarksTheTermsOfTombstonesAndNoOthers) {
  const TermHasher hasher(kKey);
  for (std::uint8_t i = 0; i < 100; ++i) {
    const Bytes32 id = test::pubkey(i);
    EXPECT_TRUE(is_tombstone(hasher.deleted_id(id, id)));
    EXPECT_TRUE(is_tombstone(hasher.deleted_address(30'023, id, "x")));
    EXPECT_TRUE(is_tombstone(hasher.vanished(id)));
    EXPECT_FALSE(is_tombstone(hasher.id(id)));
    EXPECT_FALSE(is_tombstone(hasher.author(id)));
    EXPECT_FALSE(is_tombstone(hasher.kind(i)));
    EXPECT_FALSE(is_tombstone(hasher.author_kind(id, i)));
    EXPECT_FALSE(is_tombstone(hasher.address(30'023, id, "x")));
    EXPECT_FALSE(is_tombstone(hasher.tag('e', std::string(i, 'x'))));
    EXPECT_FALSE(is_tombstone(hasher.tag_kind('e', std::string(i, 'x'), 1)));
  }
  EXPECT_FALSE(is_tombstone(hasher.all()));
  EXPECT_FALSE(is_tombstone(hasher.expiry()));
  EXPECT_FALSE(is_tombstone(hasher.unburied()));
}

TEST(AppendQueryTerms, PostsAnEventUnderEverythingAFilterCanAskFor) {
  const TermHasher hasher(kKey);
  const test::EventDraft draft = {
      .key_index = 3, .kind = 7, .tags = {{"e", "ab"}, {"r", "q\"q"}, {"relay", "x"}, {"t"}}};
  const std::vector<std::uint8_t> packed = test::pack_unsigned_event(draft);
  const std::vector<Term> terms = query_terms(hasher, draft);
  EXPECT_TRUE(has(terms, hasher.all()));
  EXPECT_TRUE(has(terms, hasher.id(nostr::PackedEventView(packed.data()).id())));
  EXPECT_TRUE(has(terms, hasher.author(test::pubkey(3))));
  EXPECT_TRUE(has(terms, hasher.kind(7)));
  EXPECT_TRUE(has(terms, hasher.author_kind(test::pubkey(3), 7)));
  EXPECT_TRUE(has(terms, hasher.tag('e', "ab")));
  EXPECT_TRUE(has(terms, hasher.tag_kind('e', "ab", 7)));
  // Escaped, as it stands in packed events and compiled filters; r has no terms with kinds.
  EXPECT_TRUE(has(terms, hasher.tag('r', "q\\\"q")));
  // Longer names are not indexed, nor is a tag without a value.
  EXPECT_EQ(terms.size(), 8u);
}

TEST(AppendQueryTerms, IndexesAllFiftyTwoLetters) {
  const TermHasher hasher(kKey);
  test::EventDraft draft;
  std::string letters;
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    letters += letter;
    letters += static_cast<char>(letter - 'a' + 'A');
  }
  for (const char letter : letters) {
    draft.tags.push_back({std::string(1, letter), "v"});
  }
  const std::vector<Term> terms = query_terms(hasher, draft);
  for (const char letter : letters) {
    EXPECT_TRUE(has(terms, hasher.tag(letter, "v"))) << letter;
    EXPECT_EQ(has(terms, hasher.tag_kind(letter, "v", 1)), has_tag_kind_term(letter)) << letter;
  }
  EXPECT_EQ(terms.size(), 5u + 52u + 6u);
}

TEST(AppendQueryTerms, NamesRepeatedTagsOnceAndKeepsWhatWasThere) {
  const TermHasher hasher(kKey);
  const std::vector<std::uint8_t> packed = test::pack_unsigned_event(
      {.tags = {{"p", "x"}, {"p", "x", "relay"}, {"p", "y"}, {"p", "x"}}});
  TermList list = {7, 7};
  append_query_terms(hasher, nostr::PackedEventView(packed.data()), list);
  ASSERT_EQ(list.size(), 2u + 5u + 4u);
  EXPECT_EQ(list[0], 7u);
  EXPECT_EQ(list[1], 7u);
  EXPECT_EQ(std::count(list.begin(), list.end(), hasher.tag('p', "x")), 1);
}

TEST(AppendQueryTerms, FindsAddressableEventsWithoutADTagByTheEmptyOne) {
  const TermHasher hasher(kKey);
  const Term empty = hasher.tag('d', "");
  EXPECT_TRUE(has(query_terms(hasher, {.kind = 30'023}), empty));
  EXPECT_TRUE(has(query_terms(hasher, {.kind = 30'023, .tags = {{"d"}}}), empty));
  EXPECT_TRUE(has(query_terms(hasher, {.kind = 30'023, .tags = {{"d"}, {"d", "x"}}}), empty));
  EXPECT_TRUE(has(query_terms(hasher, {.kind = 30'023, .tags = {{"d", ""}}}), empty));
  EXPECT_FALSE(has(query_terms(hasher, {.kind = 30'023, .tags = {{"d", "x"}, {"d"}}}), empty));
  EXPECT_FALSE(has(query_terms(hasher, {.kind = 1}), empty));
}

}  // namespace
}  // namespace gyre::storage
