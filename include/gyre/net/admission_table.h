// AdmissionTable: the connections of all shards, in all and by address.
//
// The one table that shards share, behind a mutex: touched when a connection is accepted, when its
// address becomes known, and when it ends, never in between.
//
// Behind a trusted proxy the address is known only once the request head has come; until then the
// connection is *pending*: counted in all, under no address. IPv6 addresses count by their /64,
// which is what one subscriber is given.
#pragma once

#include <cstdint>
#include <memory>

#include "gyre/runtime/address.h"

namespace gyre::net {

class AdmissionTable {
 public:
  enum class Verdict : std::uint8_t { kAdmitted, kTooMany, kTooManyFromAddress };
  AdmissionTable();
  ~AdmissionTable();

  // A limit of 0 for an address means none. What is admitted must be released, once.
  [[nodiscard]] Verdict try_admit(const runtime::IpAddress& address, std::uint32_t total_max,
                                  std::uint32_t per_ip_max);
  void release(const runtime::IpAddress& address);

  [[nodiscard]] Verdict try_admit_pending(std::uint32_t total_max);
  // Gives a pending connection its address; if refused it stays pending.
  [[nodiscard]] Verdict try_assign(const runtime::IpAddress& address, std::uint32_t per_ip_max);
  void release_pending();

  [[nodiscard]] std::uint32_t open_count() const;

 private:
  struct Table;
  std::unique_ptr<Table> table_;
};

}  // namespace gyre::net
