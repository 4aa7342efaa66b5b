#include "app/config.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "app/config_key.h"
#include "app/config_source.h"
#include "app/suggestion.h"
#include "gyre/runtime/address.h"

namespace gyre::app {
namespace {

// Two slips of the finger, or one word for a similar one.
constexpr std::size_t kSuggestionDistanceMax = 3;
// A variable of another program is not to be taken for a misspelt one of ours.
constexpr std::size_t kVariableDistanceMax = 2;

// The names that keys are written with: all paths, or all environment variables.
std::vector<std::string> key_names(std::string (ConfigKey::*name)() const) {
  std::vector<std::string> names;
  for (const ConfigKey& key : config_keys()) names.push_back((key.*name)());
  return names;
}

std::string_view find_closest_name(std::string_view name, const std::vector<std::string>& names,
                                   std::size_t distance_max) {
  return find_closest(name, std::vector<std::string_view>(names.begin(), names.end()),
                      distance_max);
}

const ConfigKey* find_key(std::string_view path) {
  const auto keys = config_keys();
  const auto found = std::ranges::find(keys, path, &ConfigKey::path);
  return found == keys.end() ? nullptr : &*found;
}

// "; did you mean net.listen?", for a misspelt key or one that stands in the wrong section.
std::string suggestion_for(std::string_view path) {
  static const std::vector<std::string> paths = key_names(&ConfigKey::path);
  std::string closest(find_closest_name(path, paths, kSuggestionDistanceMax));
  const std::string_view name = path.substr(path.rfind('.') + 1);
  for (const ConfigKey& key : config_keys()) {
    if (closest.empty() && key.name == name) closest = key.path();
  }
  return closest.empty() ? "; see `gyre config --defaults`" : "; did you mean " + closest + "?";
}

std::string complaint(std::string_view key, std::string_view value, std::string_view origin,
                      std::string_view reason) {
  std::string line(key);
  if (!value.empty()) line.append(" = ").append(value);
  return line.append(" (").append(origin).append("): ").append(reason);
}

// Takes settings in rising order of precedence; remembers where each key's value came from, for
// complaints about values that do not go together.
class ConfigBuilder {
 public:
  void add(const Settings& source) {
    errors_.insert(errors_.end(), source.errors.begin(), source.errors.end());
    for (const Setting& setting : source.settings) add(setting);
  }

  void add(const Setting& setting) {
    const ConfigKey* key = find_key(setting.key);
    if (key == nullptr) {
      errors_.push_back(
          complaint(setting.key, "", setting.origin, "unknown key" + suggestion_for(setting.key)));
    } else if (!key->field.assign(setting.value, config_)) {
      errors_.push_back(
          complaint(setting.key, setting.shown, setting.origin, "must be " + key->field.allowed));
    } else {
      origins_[setting.key] = setting.origin;
    }
  }

  void add_error(std::string error) { errors_.push_back(std::move(error)); }

  // Requires: `left` and `right` are keys. Complains unless `holds`.
  void check(bool holds, std::string_view left, std::string_view relation, std::string_view right) {
    if (holds) return;
    const ConfigKey& right_key = *find_key(right);
    errors_.push_back(complaint(left, find_key(left)->field.print(config_), origin(left),
                                std::string("must be ").append(relation) + " " + right_key.path() +
                                    ", which is " + right_key.field.print(config_) + " (" +
                                    origin(right) + ")"));
  }

  void check_together() {
    check(config_.limits.filter_limit_default <= config_.limits.filter_limit_max,
          "limits.filter_limit_default", "at most", "limits.filter_limit_max");
    // An event that may come in must be able to go out.
    check(config_.limits.send_queue_bytes >= config_.limits.message_bytes,
          "limits.send_queue_bytes", "at least", "limits.message_bytes");
    // A record is the JSON, 8 bytes for each tag (whose JSON has 6 bytes at least, so a factor of
    // 2.4 in all), and the numbers of the events it retires: 4 covers them.
    check(config_.store.segment_bytes >= 4 * std::uint64_t{config_.limits.message_bytes},
          "store.segment_bytes", "at least four times", "limits.message_bytes");
    // The segment that is written to and the one before cannot be made smaller.
    check(config_.retention.max_bytes == 0 ||
              config_.retention.max_bytes >= 4 * config_.store.segment_bytes,
          "store.retention.max_bytes", "0 or at least four times", "store.segment_bytes");
  }

  [[nodiscard]] absl::StatusOr<Config> finish() && {
    // Values that are wrong by themselves would only repeat themselves in pairs.
    if (errors_.empty()) check_together();
    if (errors_.empty()) return std::move(config_);
    return absl::InvalidArgumentError(absl::StrJoin(errors_, "\n"));
  }

 private:
  [[nodiscard]] std::string origin(std::string_view key) const {
    const auto found = origins_.find(key);
    return found == origins_.end() ? "default" : found->second;
  }

  Config config_;
  std::map<std::string, std::string, std::less<>> origins_;
  std::vector<std::string> errors_;
};

// NAME=VALUE in two.
std::pair<std::string_view, std::string_view> split_at_equals(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {text, {}};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::optional<std::string_view> find_variable(const std::vector<std::string>& environment,
                                              std::string_view wanted) {
  for (const std::string& entry : environment) {
    const auto [name, value] = split_at_equals(entry);
    if (name == wanted) return value;
  }
  return std::nullopt;
}

// True for GYRE_NET_..., and for what is nearly one of our variables. Others that begin with GYRE_
// are none of our business: Kubernetes, for one, sets GYRE_SERVICE_HOST for a service named gyre.
bool is_meant_for_us(std::string_view variable, const std::vector<std::string>& variables) {
  for (const ConfigKey& key : config_keys()) {
    const std::string full = key.environment();
    if (variable.starts_with(std::string_view(full).substr(0, full.size() - key.name.size()))) {
      return true;
    }
  }
  return !find_closest_name(variable, variables, kVariableDistanceMax).empty();
}

void add_environment(const std::vector<std::string>& environment, ConfigBuilder& builder) {
  const std::vector<std::string> variables = key_names(&ConfigKey::environment);
  for (const std::string& entry : environment) {
    const auto [name, value] = split_at_equals(entry);
    if (!name.starts_with("GYRE_") || !is_meant_for_us(name, variables)) continue;
    const auto found = std::ranges::find(variables, name);
    if (found == variables.end()) {
      const std::string_view closest = find_closest_name(name, variables, kSuggestionDistanceMax);
      builder.add_error(
          complaint(name, "", "environment",
                    closest.empty()
                        ? std::string("no key has this variable; see `gyre config --defaults`")
                        : "no key has this variable; did you mean " + std::string(closest) + "?"));
      continue;
    }
    const ConfigKey& key = config_keys()[static_cast<std::size_t>(found - variables.begin())];
    builder.add(read_value(key.path(), value, "environment " + *found));
  }
}

void add_set_options(const std::vector<std::string>& settings, ConfigBuilder& builder) {
  for (const std::string& setting : settings) {
    if (setting.find('=') == std::string::npos) {
      builder.add_error("--set " + setting + ": must be SECTION.KEY=VALUE");
      continue;
    }
    const auto [key, value] = split_at_equals(setting);
    builder.add(read_value(std::string(key), value, "--set"));
  }
}

}  // namespace

std::vector<std::string> process_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    entries.emplace_back(*entry);
  }
  return entries;
}

absl::StatusOr<Config> load_config(const ConfigSources& sources) {
  ConfigBuilder builder;
  if (sources.file) builder.add(read_toml_file(*sources.file));
  add_environment(sources.environment, builder);
  add_set_options(sources.settings, builder);
  absl::StatusOr<Config> config = std::move(builder).finish();
  if (config.ok() && config->store.path.empty()) {
    config->store.path = default_store_path(sources.environment, geteuid() == 0);
  }
  return config;
}

std::string default_store_path(const std::vector<std::string>& environment, bool is_root) {
  // systemd gives a list if there are several folders; ours is the first.
  if (const auto folders = find_variable(environment, "STATE_DIRECTORY");
      folders && !folders->empty()) {
    return std::string(folders->substr(0, folders->find(':')));
  }
  if (is_root) return "/var/lib/gyre";
  // The XDG specification: a relative path is to be ignored.
  if (const auto state = find_variable(environment, "XDG_STATE_HOME");
      state && state->starts_with('/')) {
    return std::string(*state) + "/gyre";
  }
  if (const auto home = find_variable(environment, "HOME"); home && home->starts_with('/')) {
    return std::string(*home) + "/.local/state/gyre";
  }
  return "/var/lib/gyre";
}

std::vector<std::string> own_urls(const Config& config, const std::string& listen) {
  if (!config.relay.urls.empty()) return config.relay.urls;
  const std::string port = listen.substr(listen.rfind(':') + 1);
  const std::string path = config.net.base_path == "/" ? "" : config.net.base_path;
  std::vector<std::string> urls = {"ws://localhost:" + port + path,
                                   "ws://127.0.0.1:" + port + path};
  const std::string host = listen.substr(0, listen.rfind(':'));
  const bool is_wildcard = host == "0.0.0.0" || host == "[::]";
  if (host == "[::]") urls.push_back("ws://[::1]:" + port + path);
  if (!is_wildcard && host != "127.0.0.1") urls.push_back("ws://" + listen + path);
  return urls;
}

std::vector<ConfigChange> diff(const Config& before, const Config& after) {
  std::vector<ConfigChange> changes;
  for (const ConfigKey& key : config_keys()) {
    std::string old_value = key.field.print(before);
    std::string new_value = key.field.print(after);
    if (old_value == new_value) continue;
    changes.push_back(
        {key.path(), std::move(old_value), std::move(new_value), key.reload == Reload::kRestart});
  }
  return changes;
}

Config merge_reload(const Config& running, const Config& loaded) {
  Config merged = loaded;
  for (const ConfigKey& key : config_keys()) {
    if (key.reload == Reload::kRestart) key.field.copy(running, merged);
  }
  return merged;
}

}  // namespace gyre::app
