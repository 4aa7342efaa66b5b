// Printing a Config as the TOML file that documents itself.

#include <algorithm>
#include <string>
#include <string_view>

#include "app/config.h"
#include "app/config_key.h"

namespace gyre::app {
namespace {

constexpr std::size_t kColumns = 100;

constexpr std::string_view kHead =
    "A configuration file of gyre. Every key stands here with its default; a file needs only those "
    "that differ. A key can also be set by the environment variable named with it, and by "
    "--set SECTION.KEY=VALUE, which wins over the environment, which wins over the file. Unknown "
    "keys are errors.";

// `text` as comment lines, broken between words.
void append_comment(std::string& out, std::string_view text) {
  std::size_t column = kColumns;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column + 1 + word.size() > kColumns) {
      if (!out.empty() && out.back() != '\n') out += '\n';
      out += '#';
      column = 1;
    }
    out.append(" ").append(word);
    column += 1 + word.size();
  }
  out += '\n';
}

}  // namespace

std::string config_text(const Config& config) {
  std::string out;
  append_comment(out, kHead);
  std::string_view section;
  for (const ConfigKey& key : config_keys()) {
    if (key.section != section) {
      section = key.section;
      out += '\n';
      append_comment(out, section_meaning(section));
      out.append("[").append(section).append("]\n");
    }
    out += '\n';
    append_comment(out, key.meaning);
    append_comment(out, "Allowed: " + key.field.allowed + ".");
    append_comment(out, "Environment: " + key.environment() +
                            (key.reload == Reload::kLive ? ". Reload: SIGHUP."
                                                         : ". Reload: needs a restart."));
    out.append(key.name).append(" = ").append(key.field.print(config)).append("\n");
  }
  return out;
}

}  // namespace gyre::app
