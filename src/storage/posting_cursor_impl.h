// What a PostingCursor is made of; PostingIndex fills it.
#pragma once

#include "gyre/storage/posting_index.h"
#include "storage/posting_merge.h"

namespace gyre::storage {

struct PostingCursor::Impl {
  explicit Impl(const Directory& directory) : merge(directory) {}
  PostingMerge merge;
};

}  // namespace gyre::storage
