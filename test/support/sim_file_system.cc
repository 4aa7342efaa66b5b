#include "support/sim_file_system.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "gyre/base/assert.h"

namespace gyre::test {
namespace {

// What a disk writes whole or not at all.
constexpr std::uint64_t kSectorBytes = 512;

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(slash == 0 ? "/" : path.substr(0, slash));
}

std::string text(std::string_view action, std::string_view path) {
  return std::string(action) + " " + std::string(path);
}

std::uint64_t below(Random& random, std::uint64_t bound) { return random.next_u64() % bound; }

}  // namespace

struct SimFileSystem::Node {
  using Sector = std::vector<std::uint8_t>;

  std::vector<std::uint8_t> content;  // As it reads now.
  std::vector<std::uint8_t> durable;  // As of the last sync.
  // Each version a sector has had since, and each size of the file.
  std::map<std::uint64_t, std::vector<Sector>> unsynced_sectors;
  std::vector<std::uint64_t> unsynced_sizes;
  struct Mapping {
    std::uint8_t* memory;
    std::uint64_t bytes;
  };
  std::vector<Mapping> mappings;

  // To be called after [begin, end) of the content has changed.
  void note_change(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t sector = begin / kSectorBytes; sector * kSectorBytes < end; ++sector) {
      unsynced_sectors[sector].push_back(sector_of(content, sector));
    }
    for (const Mapping& mapping : mappings) {
      for (std::uint64_t i = begin; i < std::min(end, mapping.bytes); ++i) {
        mapping.memory[i] = i < content.size() ? content[i] : 0;
      }
    }
  }

  void resize(std::uint64_t size) {
    const std::uint64_t before = content.size();
    content.resize(size, 0);
    unsynced_sizes.push_back(size);
    if (size < before) note_change(size, before);
  }

  void sync() {
    durable = content;
    unsynced_sectors.clear();
    unsynced_sizes.clear();
  }

  static Sector sector_of(const std::vector<std::uint8_t>& bytes, std::uint64_t sector) {
    Sector out(kSectorBytes, 0);
    const std::uint64_t begin = std::min<std::uint64_t>(sector * kSectorBytes, bytes.size());
    const std::uint64_t end = std::min<std::uint64_t>(begin + kSectorBytes, bytes.size());
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
              bytes.begin() + static_cast<std::ptrdiff_t>(end), out.begin());
    return out;
  }

  enum class Survival : std::uint8_t { kNothing, kEverything, kSome };
  [[nodiscard]] NodeHandle after_crash(Survival survival, Random& random) const;
  static Sector choose_sector(const Sector& old, const std::vector<Sector>& versions,
                              Survival survival, Random& random);
};

SimFileSystem::NodeHandle SimFileSystem::Node::after_crash(Survival survival,
                                                           Random& random) const {
  std::vector<std::uint64_t> sizes = {durable.size()};
  sizes.insert(sizes.end(), unsynced_sizes.begin(), unsynced_sizes.end());
  std::size_t chosen = below(random, sizes.size());
  if (survival == Survival::kNothing) chosen = 0;
  if (survival == Survival::kEverything) chosen = sizes.size() - 1;

  auto node = std::make_shared<Node>();
  node->content = durable;
  node->content.resize(sizes[chosen], 0);
  for (const auto& [number, versions] : unsynced_sectors) {
    const Sector sector = choose_sector(sector_of(durable, number), versions, survival, random);
    for (std::uint64_t i = 0; i < kSectorBytes; ++i) {
      const std::uint64_t at = number * kSectorBytes + i;
      if (at < node->content.size()) node->content[at] = sector[i];
    }
  }
  node->durable = node->content;
  return node;
}

SimFileSystem::Node::Sector SimFileSystem::Node::choose_sector(const Sector& old,
                                                               const std::vector<Sector>& versions,
                                                               Survival survival, Random& random) {
  if (survival == Survival::kNothing) return old;
  if (survival == Survival::kEverything) return versions.back();
  const std::uint64_t chosen = below(random, versions.size() + 1);
  Sector sector = chosen == 0 ? old : versions[chosen - 1];
  if (below(random, 8) != 0) return sector;
  const auto torn_at = static_cast<std::ptrdiff_t>(below(random, kSectorBytes));
  const bool was_never_used =
      std::all_of(old.begin(), old.end(), [](std::uint8_t byte) { return byte == 0; });
  if (was_never_used) {
    // Freshly allocated space may show what another file had there.
    random.fill({sector.data() + torn_at, kSectorBytes - static_cast<std::size_t>(torn_at)});
  } else {
    std::copy(old.begin() + torn_at, old.end(), sector.begin() + torn_at);
  }
  return sector;
}

class SimFileSystem::SimFile final : public storage::File {
 public:
  SimFile(SimFileSystem& files, std::string path, NodeHandle node, bool is_writable)
      : files_(files),
        path_(std::move(path)),
        node_(std::move(node)),
        is_writable_(is_writable),
        descriptor_(files.next_descriptor_++) {
    files_.open_files_[descriptor_] = this;
  }
  SimFile(const SimFile&) = delete;
  SimFile& operator=(const SimFile&) = delete;
  ~SimFile() override {
    files_.open_files_.erase(descriptor_);
    std::erase_if(node_->mappings, [&](const auto& each) { return each.memory == mapping_; });
    std::free(mapping_);
  }

  absl::Status write_at(std::uint64_t offset, std::span<const ByteSpan> parts) override {
    GYRE_ASSERT(is_writable_);
    if (absl::Status status = files_.begin(Operation::kWrite, path_); !status.ok()) return status;
    std::vector<std::uint8_t> bytes;
    for (const ByteSpan part : parts) bytes.insert(bytes.end(), part.begin(), part.end());
    const bool is_short = std::exchange(files_.is_short_write_due_, false);
    if (is_short) bytes.resize(bytes.size() / 2);
    const std::uint64_t end = offset + bytes.size();
    if (end > node_->content.size()) {
      if (!files_.has_space_for(end - node_->content.size())) {
        return absl::ResourceExhaustedError(text("write", path_));
      }
      node_->resize(end);
    }
    std::copy(bytes.begin(), bytes.end(),
              node_->content.begin() + static_cast<std::ptrdiff_t>(offset));
    node_->note_change(offset, end);
    return is_short ? absl::InternalError(text("write", path_)) : absl::OkStatus();
  }

  absl::Status read_at(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    const auto& content = node_->content;
    if (offset > content.size() || out.size() > content.size() - offset) {
      return absl::OutOfRangeError(text("read", path_));
    }
    std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return absl::OkStatus();
  }

  absl::Status sync_data() override {
    if (!files_.begin(Operation::kSync, path_).ok()) {
      return absl::DataLossError(text("sync", path_));
    }
    node_->sync();
    return absl::OkStatus();
  }

  absl::StatusOr<std::uint64_t> size() const override { return node_->content.size(); }

  absl::Status truncate(std::uint64_t size) override {
    GYRE_ASSERT(is_writable_);
    if (absl::Status status = files_.begin(Operation::kTruncate, path_); !status.ok()) {
      return status;
    }
    node_->resize(size);
    return absl::OkStatus();
  }

  absl::Status allocate(std::uint64_t offset, std::uint64_t bytes) override {
    GYRE_ASSERT(is_writable_);
    if (absl::Status status = files_.begin(Operation::kAllocate, path_); !status.ok()) {
      return status;
    }
    const std::uint64_t end = offset + bytes;
    if (end <= node_->content.size()) return absl::OkStatus();
    if (!files_.has_space_for(end - node_->content.size())) {
      return absl::ResourceExhaustedError(text("allocate space for", path_));
    }
    node_->resize(end);
    return absl::OkStatus();
  }

  absl::StatusOr<const std::uint8_t*> map(std::uint64_t bytes) override {
    GYRE_ASSERT(mapping_ == nullptr);
    // calloc: untouched parts of a large mapping cost nothing.
    mapping_ = static_cast<std::uint8_t*>(std::calloc(1, bytes));
    std::memcpy(mapping_, node_->content.data(),
                std::min<std::size_t>(bytes, node_->content.size()));
    node_->mappings.push_back({mapping_, bytes});
    return mapping_;
  }

  [[nodiscard]] int descriptor() const override { return descriptor_; }

  [[nodiscard]] std::int32_t read_some(std::uint64_t offset, std::span<std::uint8_t> out) const {
    const auto& content = node_->content;
    if (offset >= content.size()) return 0;
    const std::size_t count = std::min<std::size_t>(out.size(), content.size() - offset);
    std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(offset), count, out.begin());
    return static_cast<std::int32_t>(count);
  }

 private:
  SimFileSystem& files_;
  const std::string path_;
  const NodeHandle node_;
  const bool is_writable_;
  const int descriptor_;
  std::uint8_t* mapping_ = nullptr;
};

class SimFileSystem::SimLock final : public Lock {
 public:
  SimLock(SimFileSystem& files, std::string path)
      : files_(files), path_(std::move(path)), process_(files.process_) {}
  SimLock(const SimLock&) = delete;
  SimLock& operator=(const SimLock&) = delete;
  ~SimLock() override {
    if (process_ == files_.process_) files_.locked_.erase(path_);
  }

 private:
  SimFileSystem& files_;
  const std::string path_;
  const std::uint64_t process_;
};

SimFileSystem::SimFileSystem() : directories_{"/", "."} {}
SimFileSystem::~SimFileSystem() = default;

absl::Status SimFileSystem::begin(Operation operation, std::string_view path) {
  ++operation_count_;
  if (is_powered_off()) return absl::AbortedError(text("the power is off:", path));
  if (!planned_ || planned_->operation != operation) return absl::OkStatus();
  if (planned_->skipped != 0) {
    --planned_->skipped;
    return absl::OkStatus();
  }
  const Fault fault = planned_->fault;
  planned_.reset();
  switch (fault) {
    case Fault::kNoSpace: return absl::ResourceExhaustedError(text("no space:", path));
    case Fault::kIoError: return absl::InternalError(text("I/O error:", path));
    case Fault::kPermissionDenied: return absl::PermissionDeniedError(text("no right:", path));
    case Fault::kNoDescriptors: return absl::UnavailableError(text("no descriptors:", path));
    case Fault::kShortWrite: is_short_write_due_ = true; return absl::OkStatus();
  }
  return absl::OkStatus();
}

void SimFileSystem::fail(Operation operation, std::uint64_t skipped, Fault fault) {
  planned_ = PlannedFault{operation, skipped, fault};
}

std::uint64_t SimFileSystem::used_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [path, node] : names_) bytes += node->content.size();
  return bytes;
}

bool SimFileSystem::has_space_for(std::uint64_t growth) const {
  return growth <= capacity_ && used_bytes() <= capacity_ - growth;
}

absl::StatusOr<std::uint64_t> SimFileSystem::free_bytes(std::string_view /*path*/) const {
  return capacity_ - std::min(capacity_, used_bytes());
}

absl::StatusOr<std::unique_ptr<storage::File>> SimFileSystem::open(std::string_view path,
                                                                   OpenMode mode) {
  const auto found = names_.find(path);
  if (mode != OpenMode::kCreateNew) {
    if (found == names_.end()) return absl::NotFoundError(text("open", path));
    return std::make_unique<SimFile>(*this, std::string(path), found->second,
                                     mode == OpenMode::kReadWrite);
  }
  if (found != names_.end()) return absl::AlreadyExistsError(text("open", path));
  if (!directories_.contains(parent_of(path))) return absl::NotFoundError(text("open", path));
  if (absl::Status status = begin(Operation::kCreate, path); !status.ok()) return status;
  auto node = std::make_shared<Node>();
  change_directory({parent_of(path), "", std::string(path), node});
  return std::make_unique<SimFile>(*this, std::string(path), std::move(node), true);
}

bool SimFileSystem::exists(std::string_view path) const {
  return names_.contains(path) || directories_.contains(path);
}

absl::StatusOr<std::vector<std::string>> SimFileSystem::list(std::string_view directory) const {
  if (names_.contains(directory)) return absl::FailedPreconditionError(text("list", directory));
  if (!directories_.contains(directory)) return absl::NotFoundError(text("list", directory));
  std::vector<std::string> found;
  const auto add_if_inside = [&](const std::string& path) {
    if (path != directory && parent_of(path) == directory) {
      found.push_back(path.substr(path.rfind('/') + 1));
    }
  };
  for (const auto& [path, node] : names_) add_if_inside(path);
  for (const std::string& path : directories_) add_if_inside(path);
  std::sort(found.begin(), found.end());
  return found;
}

absl::Status SimFileSystem::create_directories(std::string_view path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string_view part = path.substr(0, end);
    if (names_.contains(part)) return absl::FailedPreconditionError(text("not a folder:", part));
    if (!directories_.contains(part)) {
      absl::Status status = begin(Operation::kCreateDirectories, part);
      if (!status.ok()) return status;
      directories_.emplace(part);
    }
    if (end == std::string_view::npos) return absl::OkStatus();
  }
}

absl::Status SimFileSystem::rename(std::string_view from, std::string_view to) {
  const auto found = names_.find(from);
  if (found == names_.end()) return absl::NotFoundError(text("rename", from));
  if (absl::Status status = begin(Operation::kRename, from); !status.ok()) return status;
  const NodeHandle node = found->second;
  if (parent_of(from) == parent_of(to)) {
    change_directory({parent_of(to), std::string(from), std::string(to), node});
  } else {
    // Two folders become durable one by one.
    change_directory({parent_of(to), "", std::string(to), node});
    change_directory({parent_of(from), std::string(from), "", nullptr});
  }
  return absl::OkStatus();
}

absl::Status SimFileSystem::remove(std::string_view path) {
  if (!names_.contains(path)) return absl::NotFoundError(text("remove", path));
  if (absl::Status status = begin(Operation::kRemove, path); !status.ok()) return status;
  change_directory({parent_of(path), std::string(path), "", nullptr});
  return absl::OkStatus();
}

absl::Status SimFileSystem::sync_directory(std::string_view path) {
  if (!begin(Operation::kSyncDirectory, path).ok()) {
    return absl::DataLossError(text("sync", path));
  }
  std::vector<Change> others;
  for (Change& change : changes_) {
    if (change.directory == path) {
      apply(change, durable_names_);
    } else {
      others.push_back(std::move(change));
    }
  }
  changes_ = std::move(others);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<storage::FileSystem::Lock>> SimFileSystem::lock(
    std::string_view path) {
  if (!directories_.contains(parent_of(path))) return absl::NotFoundError(text("lock", path));
  if (absl::Status status = begin(Operation::kLock, path); !status.ok()) return status;
  if (!locked_.emplace(path).second) {
    return absl::UnavailableError(std::string(path) + " is locked by another process");
  }
  if (!names_.contains(path)) {
    change_directory({parent_of(path), "", std::string(path), std::make_shared<Node>()});
  }
  return std::make_unique<SimLock>(*this, std::string(path));
}

void SimFileSystem::apply(const Change& change, Names& names) {
  if (!change.from.empty()) names.erase(change.from);
  if (!change.to.empty()) names[change.to] = change.node;
}

void SimFileSystem::change_directory(Change change) {
  apply(change, names_);
  changes_.push_back(std::move(change));
}

void SimFileSystem::crash(Random& random) {
  using Survival = Node::Survival;
  const std::uint64_t mood = below(random, 6);
  const Survival survival = mood == 0   ? Survival::kNothing
                            : mood == 1 ? Survival::kEverything
                                        : Survival::kSome;
  // Changes of one folder keep their order; a journal is cut somewhere.
  std::map<std::string, std::uint64_t> kept;
  for (const Change& change : changes_) ++kept[change.directory];
  for (auto& [directory, count] : kept) {
    if (survival == Survival::kNothing) count = 0;
    if (survival == Survival::kSome) count = below(random, count + 1);
  }
  for (const Change& change : changes_) {
    if (kept[change.directory] == 0) continue;
    --kept[change.directory];
    apply(change, durable_names_);
  }
  for (auto& [path, node] : durable_names_) node = node->after_crash(survival, random);
  names_ = durable_names_;
  changes_.clear();
  restart();
}

void SimFileSystem::kill_process() { restart(); }

void SimFileSystem::restart() {
  ++process_;
  locked_.clear();
  planned_.reset();
  is_short_write_due_ = false;
  power_off_at_ = std::numeric_limits<std::uint64_t>::max();
}

std::int32_t SimFileSystem::read_open_file(int descriptor, std::uint64_t offset,
                                           std::span<std::uint8_t> out) const {
  return open_files_.at(descriptor)->read_some(offset, out);
}

std::map<std::string, std::vector<std::uint8_t>> SimFileSystem::contents() const {
  std::map<std::string, std::vector<std::uint8_t>> all;
  for (const auto& [path, node] : names_) all[path] = node->content;
  return all;
}

void SimFileSystem::overwrite(std::string_view path, std::vector<std::uint8_t> content) {
  auto node = std::make_shared<Node>();
  node->content = std::move(content);
  node->sync();
  names_[std::string(path)] = node;
  durable_names_[std::string(path)] = std::move(node);
  GYRE_ASSERT(directories_.contains(parent_of(path)));
}

}  // namespace gyre::test
