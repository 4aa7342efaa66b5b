#include "corpus.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

#include "failure.h"

namespace gyre::load {

Corpus Corpus::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || fstat(file, &status) != 0) fail_errno(path);
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes == 0) fail(path + " is empty");
  // Populated now: a page fault within a measurement would be ours, not the relay's.
  void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (mapped == MAP_FAILED) fail_errno(path);
  close(file);

  Corpus corpus;
  std::string_view rest(static_cast<const char*>(mapped), bytes);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (!line.starts_with(kIdStart) || line.size() < kIdStart.size() + 65) {
      fail(path + ": a line does not begin with an id");
    }
    corpus.lines_.push_back(line);
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return corpus;
}

std::uint16_t Corpus::kind(std::size_t index) const {
  static constexpr std::string_view kKey = R"("kind":)";
  const std::string_view line = lines_[index];
  // Ours stands before tags and content, so the first occurrence is the event's own.
  const std::size_t found = line.find(kKey);
  std::uint16_t kind = 0;
  if (found == std::string_view::npos ||
      std::from_chars(line.data() + found + kKey.size(), line.data() + line.size(), kind).ec !=
          std::errc{}) {
    fail("an event without a kind");
  }
  return kind;
}

std::uint64_t Corpus::bytes() const {
  std::uint64_t sum = 0;
  for (const std::string_view line : lines_) sum += line.size();
  return sum;
}

}  // namespace gyre::load
