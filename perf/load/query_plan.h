// QueryPlan: the mixed set of queries that clients of a public relay ask, with what the answer to
// each must be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "query_event.h"

namespace gyre::load {

struct PlannedQuery {
  std::size_t query_class = 0;  // Index into QueryPlan::class_names().
  std::uint64_t limit = 0;
  std::string members;         // Of the filter, without `limit` and braces.
  std::uint64_t expected = 0;  // Events of the answer.
};

class QueryPlan {
 public:
  // `per_class` queries of each class, mixed, the same for each seed. Ends the program if the
  // corpus has too little to ask for.
  QueryPlan(const std::vector<QueryEvent>& events, std::size_t per_class, std::uint64_t seed);

  [[nodiscard]] static const std::vector<std::string>& class_names();
  [[nodiscard]] const std::vector<PlannedQuery>& queries() const { return queries_; }

 private:
  std::vector<PlannedQuery> queries_;
};

}  // namespace gyre::load
