#include "app/config_source.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <utility>

#include "app/config_key.h"

// Debian's shared library is built with exceptions, which makes another ABI: header only it is.
#undef TOML_SHARED_LIB
#undef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace gyre::app {
namespace {

// Enough to recognise a value by; a list of a thousand keys is not repeated in a message.
constexpr std::size_t kShownCharsMax = 80;

std::string shortened(std::string text) {
  if (text.size() <= kShownCharsMax) return text;
  std::size_t end = kShownCharsMax - 3;
  // Not within a UTF-8 sequence.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

std::string shown_node(const toml::node& node) {
  if (const auto* text = node.as_string()) return shortened(toml_quoted(text->get()));
  std::ostringstream out;
  if (const auto* table = node.as_table()) {
    std::string_view separator = "{ ";
    for (const auto& [key, value] : *table) {
      out << std::exchange(separator, ", ") << key.str() << " = " << shown_node(value);
    }
    out << (table->empty() ? "{}" : " }");
  } else {
    node.visit([&out](const auto& concrete) { out << concrete; });
  }
  return shortened(std::move(out).str());
}

template <typename T>
SettingValue list_of(const toml::array& array) {
  std::vector<T> values;
  values.reserve(array.size());
  for (const toml::node& item : array) values.push_back(item.ref<T>());
  return values;
}

SettingValue table_of(const toml::table& table) {
  TextTable texts;
  for (const auto& [key, node] : table) {
    if (!node.is_string()) return UnsupportedValue{};
    texts.emplace_back(std::string(key.str()), node.ref<std::string>());
  }
  return texts;
}

SettingValue value_of(const toml::node& node) {
  if (const auto* boolean = node.as_boolean()) return boolean->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* array = node.as_array()) {
    if (array->empty()) return std::vector<std::string>{};
    if (array->is_homogeneous<std::int64_t>()) return list_of<std::int64_t>(*array);
    if (array->is_homogeneous<std::string>()) return list_of<std::string>(*array);
  }
  if (const auto* table = node.as_table()) return table_of(*table);
  return UnsupportedValue{};
}

std::string at_line(const std::string& name, const toml::source_region& source) {
  return name + ":" + std::to_string(source.begin.line);
}

void append_table(const toml::table& table, const std::string& prefix, const std::string& name,
                  std::vector<Setting>& out) {
  for (const auto& [key, node] : table) {
    const std::string path = prefix + std::string(key.str());
    const toml::table* section = node.as_table();
    if (section != nullptr && (prefix.empty() || is_config_section(path))) {
      append_table(*section, path + ".", name, out);
    } else {
      out.push_back({path, value_of(node), shown_node(node), at_line(name, key.source())});
    }
  }
}

// What a bare word cannot begin with, because TOML would: quotes, a list, a table.
bool begins_like_toml(std::string_view text) {
  return !text.empty() && std::string_view("\"'[{").find(text.front()) != std::string_view::npos;
}

}  // namespace

Settings read_toml(std::string_view text, const std::string& name) {
  Settings result;
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    result.errors.push_back(at_line(name, parsed.error().source()) + ": " +
                            std::string(parsed.error().description()));
    return result;
  }
  append_table(parsed.table(), "", name, result.settings);
  return result;
}

Settings read_toml_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  std::string text;
  while (file != nullptr && std::feof(file.get()) == 0 && std::ferror(file.get()) == 0) {
    char part[4096];
    text.append(part, std::fread(part, 1, sizeof part, file.get()));
  }
  if (file == nullptr || std::ferror(file.get()) != 0) {
    return {{}, {path + ": cannot be read: " + std::strerror(errno)}};
  }
  return read_toml(text, path);
}

Setting read_value(std::string key, std::string_view text, std::string origin) {
  Setting setting{std::move(key), std::string(text), shortened(toml_quoted(text)),
                  std::move(origin)};
  const std::string document = "value = " + std::string(text);
  const toml::parse_result parsed = toml::parse(document);
  // Exactly one key: a line break in `text` must not smuggle in others.
  const bool is_toml = parsed && parsed.table().size() == 1;
  if (is_toml) {
    const toml::node& node = *parsed.table().get("value");
    setting.value = value_of(node);
    setting.shown = shown_node(node);
  } else if (begins_like_toml(text)) {
    setting.value = UnsupportedValue{};
    setting.shown = shortened(std::string(text));
  }
  return setting;
}

std::string toml_quoted(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace gyre::app
