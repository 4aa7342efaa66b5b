#include <utility>

#include "gyre/base/assert.h"
#include "gyre/storage/posting_index.h"
#include "storage/posting_cursor_impl.h"

namespace gyre::storage {

PostingCursor::PostingCursor() = default;
PostingCursor::PostingCursor(PostingCursor&&) noexcept = default;
PostingCursor& PostingCursor::operator=(PostingCursor&&) noexcept = default;
PostingCursor::~PostingCursor() = default;

bool PostingCursor::is_at_end() const { return impl_ == nullptr || impl_->merge.is_empty(); }

std::uint64_t PostingCursor::created_at() const {
  GYRE_ASSERT(!is_at_end());
  return impl_->merge.top().created_at();
}

Sequence PostingCursor::sequence() const {
  GYRE_ASSERT(!is_at_end());
  return impl_->merge.top().sequence();
}

std::uint64_t PostingCursor::id_prefix() const {
  GYRE_ASSERT(!is_at_end());
  return impl_->merge.top_place().id_prefix;
}

void PostingCursor::advance() {
  GYRE_ASSERT(!is_at_end());
  impl_->merge.advance();
}

}  // namespace gyre::storage
