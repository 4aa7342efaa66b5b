#include "canned_events.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace gyre::null {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  std::fprintf(stderr, "gyre-null: %s: %s\n", path.c_str(), what);
  std::exit(1);
}

}  // namespace

CannedEvents::CannedEvents(const std::string& path) {
  if (path.empty()) return;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, "cannot be read; `gyre-load corpus --out FILE` writes a corpus");
  text_.assign(std::istreambuf_iterator<char>(file), {});
  std::string_view rest = text_;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (end != 0) lines_.push_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (lines_.empty()) fail(path, "holds no event");
}

}  // namespace gyre::null
