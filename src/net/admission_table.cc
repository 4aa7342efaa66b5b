#include "gyre/net/admission_table.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "gyre/base/assert.h"

namespace gyre::net {

namespace {

using runtime::IpAddress;

bool is_ipv4(const IpAddress& address) {
  static constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0,    0,
                                                           0, 0, 0, 0, 0xff, 0xff};
  return std::equal(kMapped.begin(), kMapped.end(), address.bytes.begin());
}

// What counts as one client.
IpAddress client_of(IpAddress address) {
  if (!is_ipv4(address)) std::fill(address.bytes.begin() + 8, address.bytes.end(), std::uint8_t{0});
  return address;
}

}  // namespace

struct AdmissionTable::Table {
  mutable std::mutex mutex;
  std::uint32_t open = 0;
  absl::flat_hash_map<IpAddress, std::uint32_t> by_client;

  bool try_count(const IpAddress& address, std::uint32_t per_ip_max) {
    std::uint32_t& count = by_client[client_of(address)];
    // A refused client has others open, so its entry is never left behind at 0.
    if (per_ip_max != 0 && count >= per_ip_max) return false;
    ++count;
    return true;
  }
};

AdmissionTable::AdmissionTable() : table_(std::make_unique<Table>()) {}
AdmissionTable::~AdmissionTable() = default;

AdmissionTable::Verdict AdmissionTable::try_admit(const IpAddress& address, std::uint32_t total_max,
                                                  std::uint32_t per_ip_max) {
  const std::lock_guard lock(table_->mutex);
  if (table_->open >= total_max) return Verdict::kTooMany;
  if (!table_->try_count(address, per_ip_max)) return Verdict::kTooManyFromAddress;
  ++table_->open;
  return Verdict::kAdmitted;
}

void AdmissionTable::release(const IpAddress& address) {
  const std::lock_guard lock(table_->mutex);
  const auto entry = table_->by_client.find(client_of(address));
  GYRE_ASSERT(entry != table_->by_client.end());
  GYRE_ASSERT_CMP(table_->open, >, 0u);
  --table_->open;
  if (--entry->second == 0) table_->by_client.erase(entry);
}

AdmissionTable::Verdict AdmissionTable::try_admit_pending(std::uint32_t total_max) {
  const std::lock_guard lock(table_->mutex);
  if (table_->open >= total_max) return Verdict::kTooMany;
  ++table_->open;
  return Verdict::kAdmitted;
}

AdmissionTable::Verdict AdmissionTable::try_assign(const IpAddress& address,
                                                   std::uint32_t per_ip_max) {
  const std::lock_guard lock(table_->mutex);
  const bool is_admitted = table_->try_count(address, per_ip_max);
  return is_admitted ? Verdict::kAdmitted : Verdict::kTooManyFromAddress;
}

void AdmissionTable::release_pending() {
  const std::lock_guard lock(table_->mutex);
  GYRE_ASSERT_CMP(table_->open, >, 0u);
  --table_->open;
}

std::uint32_t AdmissionTable::open_count() const {
  const std::lock_guard lock(table_->mutex);
  return table_->open;
}

}  // namespace gyre::net
