// The kernel's file system.

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <ctime>
#include <system_error>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/storage/file.h"
#include "storage/concat.h"

namespace gyre::storage {
namespace {

// Names are for the relay's user and group; an event store may hold what only few may read.
constexpr mode_t kFileMode = 0640;
constexpr mode_t kDirectoryMode = 0750;

// After a SIGKILL the kernel may hold the lock of the dead process for a moment, because io_uring
// requests keep references to its files.
constexpr int kLockAttempts = 5;
constexpr long kLockRetryNs = 50'000'000;

absl::StatusCode code_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return absl::StatusCode::kResourceExhausted;
    case ENOENT: return absl::StatusCode::kNotFound;
    case EEXIST: return absl::StatusCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return absl::StatusCode::kPermissionDenied;
    case ENOTDIR:
    case EISDIR:
    case ENOTEMPTY: return absl::StatusCode::kFailedPrecondition;
    case EINVAL:
    case ENAMETOOLONG: return absl::StatusCode::kInvalidArgument;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return absl::StatusCode::kUnavailable;
    default: return absl::StatusCode::kInternal;
  }
}

// A store of many files meets these limits before any other; their names are not in the messages of
// the C library.
std::string_view cure_of(int error) {
  switch (error) {
    case EMFILE: return "; raise LimitNOFILE (systemd) or `ulimit -n`";
    case ENFILE: return "; raise the sysctl fs.file-max";
    case ENOMEM: return "; raise the sysctl vm.max_map_count, or free memory";
    default: return "";
  }
}

std::string error_text(std::string_view action, std::string_view path, int error) {
  return concat(action, " ", path, ": ", std::generic_category().message(error), cure_of(error));
}

absl::Status error_status(std::string_view action, std::string_view path, int error) {
  return {code_of(error), error_text(action, path, error)};
}

absl::Status sync_error_status(std::string_view path, int error) {
  return absl::DataLossError(error_text("sync", path, error));
}

// Takes what has been written off the front of the list.
void consume(std::span<iovec>& parts, std::size_t bytes) {
  while (!parts.empty() && bytes >= parts.front().iov_len) {
    bytes -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  if (parts.empty()) return;
  parts.front().iov_base = static_cast<std::uint8_t*>(parts.front().iov_base) + bytes;
  parts.front().iov_len -= bytes;
}

constexpr std::uint64_t kPageBytes = 4096;

// Of all files of the process. Whatever the limits say, half of the memory is left to the rest.
std::atomic<std::uint64_t> locked_bytes_of_all{0};

bool take_lockable_bytes(std::uint64_t bytes) {
  static const std::uint64_t bytes_max =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * kPageBytes / 2;
  if (locked_bytes_of_all.fetch_add(bytes, std::memory_order_relaxed) + bytes <= bytes_max) {
    return true;
  }
  locked_bytes_of_all.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void give_back_lockable_bytes(std::uint64_t bytes) {
  locked_bytes_of_all.fetch_sub(bytes, std::memory_order_relaxed);
}

std::string lock_limit_text() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return "the kernel refuses to lock more memory";
  }
  return concat("RLIMIT_MEMLOCK allows ", limit.rlim_cur / 1024,
                " KiB; set LimitMEMLOCK=infinity in the service's unit, or ulimit -l unlimited");
}

class PosixFile final : public File {
 public:
  PosixFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override {
    if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
    give_back_lockable_bytes(locked_bytes_);
    close(fd_);
  }

  absl::Status write_at(std::uint64_t offset, std::span<const ByteSpan> parts) override {
    while (!parts.empty()) {
      const std::size_t count = std::min<std::size_t>(parts.size(), kVectorMax);
      iovec vector[kVectorMax];
      for (std::size_t i = 0; i < count; ++i) {
        vector[i] = {const_cast<std::uint8_t*>(parts[i].data()), parts[i].size()};
      }
      if (absl::Status status = write_vector(offset, {vector, count}); !status.ok()) return status;
      parts = parts.subspan(count);
    }
    return absl::OkStatus();
  }

  absl::Status read_at(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    while (!out.empty()) {
      const ssize_t got = pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return error_status("read", path_, errno);
      if (got == 0) return absl::OutOfRangeError(concat("read ", path_, ": ends too early"));
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
    return absl::OkStatus();
  }

  absl::Status sync_data() override {
    return fdatasync(fd_) == 0 ? absl::OkStatus() : sync_error_status(path_, errno);
  }

  absl::StatusOr<std::uint64_t> size() const override {
    struct stat information{};
    if (fstat(fd_, &information) != 0) return error_status("stat", path_, errno);
    return static_cast<std::uint64_t>(information.st_size);
  }

  absl::Status truncate(std::uint64_t size) override {
    return ftruncate(fd_, static_cast<off_t>(size)) == 0 ? absl::OkStatus()
                                                         : error_status("truncate", path_, errno);
  }

  absl::Status allocate(std::uint64_t offset, std::uint64_t bytes) override {
    int error;
    do {
      // Not fallocate(2): where the file system has none, this writes the space instead.
      error = posix_fallocate(fd_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (error == EINTR);
    return error == 0 ? absl::OkStatus() : error_status("allocate space for", path_, error);
  }

  absl::StatusOr<const std::uint8_t*> map(std::uint64_t bytes) override {
    GYRE_ASSERT(mapping_ == nullptr);
    void* const address = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd_, 0);
    if (address == MAP_FAILED) return error_status("map", path_, errno);
    mapping_ = address;
    mapping_bytes_ = bytes;
    expect(Access::kRandom);
    return static_cast<const std::uint8_t*>(address);
  }

  absl::Status keep_resident(std::uint64_t offset, std::uint64_t bytes) const override {
    populate(offset, bytes);
    const std::uint64_t begin = offset & ~(kPageBytes - 1);
    const std::uint64_t end = std::min<std::uint64_t>(offset + bytes, mapping_bytes_);
    if (begin >= end) return absl::OkStatus();
    if (!take_lockable_bytes(end - begin)) {
      return absl::ResourceExhaustedError("half of this machine's memory is locked already");
    }
    locked_bytes_ += end - begin;
    if (mlock(static_cast<const std::uint8_t*>(mapping_) + begin, end - begin) == 0) {
      return absl::OkStatus();
    }
    return absl::ResourceExhaustedError(lock_limit_text());
  }

  void expect(Access access) const override {
    // Without MADV_RANDOM each miss would read the device's whole read-ahead window, megabytes on
    // some disks, for one record.
    madvise(mapping_, mapping_bytes_, access == Access::kRandom ? MADV_RANDOM : MADV_SEQUENTIAL);
    // The same for reads by the descriptor.
    posix_fadvise(fd_, 0, 0, access == Access::kRandom ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
  }

  void read_ahead(std::uint64_t offset, std::uint64_t bytes) const override {
    // The kernel cuts each request to the device's read-ahead window, commonly 128 KiB.
    constexpr std::uint64_t kStepBytes = 128 * 1024;
    for (std::uint64_t done = 0; done < bytes; done += kStepBytes) {
      advise(offset + done, std::min(kStepBytes, bytes - done), MADV_WILLNEED);
    }
  }

  bool populate(std::uint64_t offset, std::uint64_t bytes) const override {
#ifdef MADV_POPULATE_READ  // Linux 5.14; older kernels answer EINVAL and fault page by page.
    return advise(offset, bytes, MADV_POPULATE_READ);
#else
    return advise(offset, bytes, 22);
#endif
  }

  [[nodiscard]] int descriptor() const override { return fd_; }
  void drop_cached() const override { (void)posix_fadvise(fd_, 0, 0, POSIX_FADV_DONTNEED); }

 private:
  static constexpr std::size_t kVectorMax = 64;
  static_assert(kVectorMax <= IOV_MAX);

  // Moves `offset` behind what it has written.
  absl::Status write_vector(std::uint64_t& offset, std::span<iovec> vector) {
    consume(vector, 0);  // Empty parts, so that a write of nothing is an error below.
    while (!vector.empty()) {
      const ssize_t written =
          pwritev(fd_, vector.data(), static_cast<int>(vector.size()), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return error_status("write", path_, written < 0 ? errno : EIO);
      offset += static_cast<std::uint64_t>(written);
      consume(vector, static_cast<std::size_t>(written));
    }
    return absl::OkStatus();
  }

  // Advice is just that: what it answers is mostly of no interest.
  bool advise(std::uint64_t offset, std::uint64_t bytes, int advice) const {
    const std::uint64_t begin = offset & ~(kPageBytes - 1);
    const std::uint64_t end = std::min<std::uint64_t>(offset + bytes, mapping_bytes_);
    if (begin >= end) return true;
    auto* const address = static_cast<std::uint8_t*>(mapping_) + begin;
    int result;
    do result = madvise(address, end - begin, advice);
    while (result != 0 && errno == EINTR);
    return result == 0;
  }

  const int fd_;
  const std::string path_;
  void* mapping_ = nullptr;
  std::uint64_t mapping_bytes_ = 0;
  mutable std::uint64_t locked_bytes_ = 0;  // Or tried to be.
};

class PosixLock final : public FileSystem::Lock {
 public:
  explicit PosixLock(int fd) : fd_(fd) {}
  PosixLock(const PosixLock&) = delete;
  PosixLock& operator=(const PosixLock&) = delete;
  ~PosixLock() override { close(fd_); }

 private:
  const int fd_;
};

bool try_lock(int fd) {
  for (int attempt = 1;; ++attempt) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    if (attempt == kLockAttempts) {
      errno = EWOULDBLOCK;
      return false;
    }
    const timespec pause{0, kLockRetryNs};
    nanosleep(&pause, nullptr);
  }
}

// The process that holds the lock has left its number in the file; for the message only.
std::string describe_holder(int fd) {
  char text[16];
  const ssize_t got = pread(fd, text, sizeof text, 0);
  int pid = 0;
  if (got > 0) std::from_chars(text, text + got, pid);
  return pid > 0 ? concat("process ", pid) : std::string("another process");
}

class PosixFileSystem final : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<File>> open(std::string_view path, OpenMode mode) override {
    std::string name(path);
    int flags = O_CLOEXEC;
    switch (mode) {
      case OpenMode::kRead: flags |= O_RDONLY; break;
      case OpenMode::kReadWrite: flags |= O_RDWR; break;
      case OpenMode::kCreateNew: flags |= O_RDWR | O_CREAT | O_EXCL; break;
    }
    const int fd = ::open(name.c_str(), flags, kFileMode);
    if (fd < 0) return error_status("open", path, errno);
    return std::make_unique<PosixFile>(fd, std::move(name));
  }

  bool exists(std::string_view path) const override {
    return access(std::string(path).c_str(), F_OK) == 0;
  }

  absl::StatusOr<std::vector<std::string>> list(std::string_view directory) const override {
    DIR* const stream = opendir(std::string(directory).c_str());
    if (stream == nullptr) return error_status("list", directory, errno);
    std::vector<std::string> names;
    errno = 0;
    for (const dirent* entry = readdir(stream); entry != nullptr; entry = readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    const int error = errno;
    closedir(stream);
    if (error != 0) return error_status("list", directory, error);
    std::sort(names.begin(), names.end());
    return names;
  }

  absl::Status create_directories(std::string_view path) override {
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      if (absl::Status status = create_one(path.substr(0, end)); !status.ok()) return status;
      if (end == std::string_view::npos) return absl::OkStatus();
    }
  }

  absl::Status rename(std::string_view from, std::string_view to) override {
    return ::rename(std::string(from).c_str(), std::string(to).c_str()) == 0
               ? absl::OkStatus()
               : error_status("rename", concat(from, " to ", to), errno);
  }

  absl::Status remove(std::string_view path) override {
    return unlink(std::string(path).c_str()) == 0 ? absl::OkStatus()
                                                  : error_status("remove", path, errno);
  }

  absl::Status copy(std::string_view from, std::string_view to,
                    const std::function<absl::Status(std::uint64_t)>& advance) override {
    const int source = ::open(std::string(from).c_str(), O_RDONLY | O_CLOEXEC);
    if (source < 0) return error_status("open", from, errno);
    const int target =
        ::open(std::string(to).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode);
    if (target < 0) {
      const int error = errno;
      close(source);
      return error_status("create", to, error);
    }
    const absl::StatusOr<bool> is_copied = copy_in_kernel(source, target, from, advance);
    close(source);
    const int closed = close(target);
    if (!is_copied.ok()) return is_copied.status();
    if (closed != 0) return error_status("write", to, errno);
    if (*is_copied) return absl::OkStatus();
    if (absl::Status status = remove(to); !status.ok()) return status;
    return copy_by_reading(*this, from, to, advance);
  }

  absl::Status sync_directory(std::string_view path) override {
    const int fd = ::open(std::string(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return error_status("open", path, errno);
    // Some network file systems do not know the operation for folders and say EINVAL.
    const int error = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
    close(fd);
    return error == 0 ? absl::OkStatus() : sync_error_status(path, error);
  }

  absl::StatusOr<std::uint64_t> free_bytes(std::string_view path) const override {
    struct statvfs information{};
    if (statvfs(std::string(path).c_str(), &information) != 0) {
      return error_status("ask for the free space of", path, errno);
    }
    return std::uint64_t{information.f_bavail} * information.f_frsize;
  }

  absl::StatusOr<std::unique_ptr<Lock>> lock(std::string_view path) override {
    const int fd = ::open(std::string(path).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
    if (fd < 0) return error_status("open", path, errno);
    if (!try_lock(fd)) {
      absl::Status status =
          errno == EWOULDBLOCK
              ? absl::UnavailableError(concat(path, " is locked by ", describe_holder(fd)))
              : error_status("lock", path, errno);
      close(fd);
      return status;
    }
    const std::string pid = concat(getpid(), "\n");
    // Only the message of a second process suffers if this fails, on a full disk for example.
    if (ftruncate(fd, 0) == 0) {
      [[maybe_unused]] const ssize_t written = pwrite(fd, pid.data(), pid.size(), 0);
    }
    return std::make_unique<PosixLock>(fd);
  }

 private:
  // False if this kernel or file system cannot do it.
  static absl::StatusOr<bool> copy_in_kernel(
      int source, int target, std::string_view path,
      const std::function<absl::Status(std::uint64_t)>& advance) {
    struct stat information{};
    if (fstat(source, &information) != 0) return error_status("stat", path, errno);
    const auto size = static_cast<std::uint64_t>(information.st_size);
    // On btrfs, XFS and bcachefs both files then share their blocks.
    if (ioctl(target, FICLONE, source) == 0) {
      if (absl::Status status = advance(size); !status.ok()) return status;
      return true;
    }
    // So that an interruption is noticed soon.
    constexpr std::uint64_t kStepBytes = 64 * 1024 * 1024;
    for (std::uint64_t done = 0; done < size;) {
      const ssize_t copied =
          copy_file_range(source, nullptr, target, nullptr, std::min(kStepBytes, size - done), 0);
      if (copied < 0 && errno == EINTR) continue;
      const bool is_unable =
          errno == EXDEV || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL;
      if (copied < 0 && done == 0 && is_unable) return false;
      if (copied < 0) return error_status("copy", path, errno);
      if (copied == 0) break;  // It has been cut meanwhile.
      done += static_cast<std::uint64_t>(copied);
      if (absl::Status status = advance(static_cast<std::uint64_t>(copied)); !status.ok()) {
        return status;
      }
    }
    return true;
  }

  absl::Status create_one(std::string_view path) {
    if (mkdir(std::string(path).c_str(), kDirectoryMode) == 0) {
      const std::size_t slash = path.rfind('/');
      if (slash == std::string_view::npos) return sync_directory(".");
      return sync_directory(slash == 0 ? "/" : path.substr(0, slash));
    }
    const int error = errno;
    struct stat information{};
    const bool is_directory =
        stat(std::string(path).c_str(), &information) == 0 && S_ISDIR(information.st_mode);
    if (is_directory) return absl::OkStatus();
    return error_status("create folder", path, error == EEXIST ? ENOTDIR : error);
  }
};

}  // namespace

FileSystem& posix_file_system() {
  static PosixFileSystem files;
  return files;
}

}  // namespace gyre::storage
