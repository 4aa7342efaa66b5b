// From what an operator wrote to what the shards run with.
#pragma once

#include "app/config.h"
#include "gyre/relay/settings.h"
#include "gyre/storage/store.h"

namespace gyre::app {

// `listen` as bound, with the port in use: own URLs derive from it unless they are configured.
[[nodiscard]] relay::Settings relay_settings(const Config& config, const std::string& listen);
[[nodiscard]] storage::StoreOptions store_options(const Config& config);

}  // namespace gyre::app
