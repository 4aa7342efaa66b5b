#include "app/secret_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

namespace gyre::app {
namespace {

// An nsec has 63 characters; more than this is something else.
constexpr std::size_t kSecretBytesMax = 512;

volatile sig_atomic_t g_signal = 0;

void note_signal(int number) { g_signal = number; }

// All that end a process from outside and can be waited for.
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};

// Turns a terminal's echo off for as long as it lives. Signals that would end the process wait
// until the echo is back.
class SilentTerminal {
 public:
  explicit SilentTerminal(int fd) : fd_(fd) {
    if (isatty(fd) != 1 || tcgetattr(fd, &echoing_) != 0) return;
    is_silent_ = true;
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int number : kSignals) sigaddset(&blocked, number);
    pthread_sigmask(SIG_BLOCK, &blocked, &mask_);
    struct sigaction action{};
    action.sa_handler = note_signal;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], &action, &actions_[i]);
    }
    termios silent = echoing_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(fd, TCSAFLUSH, &silent);
    std::fputs("secret key (hex or nsec, not shown): ", stderr);
  }
  ~SilentTerminal() {
    if (!is_silent_) return;
    tcsetattr(fd_, TCSAFLUSH, &echoing_);
    std::fputc('\n', stderr);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], &actions_[i], nullptr);
    }
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    if (g_signal != 0) raise(g_signal);
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;

  // Returns when a terminal has a line; false (EINTR) if a signal came first. Signals are let in
  // here alone: one that came between a look at g_signal and read() would leave that waiting.
  [[nodiscard]] bool wait_for_line() const {
    if (!is_silent_) return true;
    pollfd line{.fd = fd_, .events = POLLIN, .revents = 0};
    int ready = 0;
    while (g_signal == 0 && (ready = ppoll(&line, 1, nullptr, &mask_)) < 0 && errno == EINTR) {
    }
    return g_signal == 0 && ready > 0;
  }

 private:
  int fd_;
  termios echoing_{};
  sigset_t mask_{};
  std::array<struct sigaction, kSignals.size()> actions_{};
  bool is_silent_ = false;
};

// The last word of the first line that has one: `gyre keygen` writes what it is in front of it.
std::string_view key_word(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  text = text.substr(0, text.find('\n'));
  text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  return text.substr(text.find_last_of(kBlanks) + 1);
}

// The text of a key, wiped when it is not needed any more.
struct SecretText {
  std::array<char, kSecretBytesMax> bytes{};
  std::size_t size = 0;

  SecretText() = default;
  ~SecretText() { nostr::wipe(bytes.data(), bytes.size()); }
  SecretText(const SecretText&) = delete;
  SecretText& operator=(const SecretText&) = delete;
};

absl::Status failure(const std::string& what) {
  return absl::UnavailableError(what + ": " + std::strerror(errno));
}

absl::Status read_line(int fd, const std::string& name, SecretText& text) {
  const SilentTerminal silent(fd);
  while (text.size < text.bytes.size()) {
    const ssize_t got = silent.wait_for_line()
                            ? read(fd, text.bytes.data() + text.size, text.bytes.size() - text.size)
                            : -1;
    if (got < 0 && errno == EINTR && g_signal == 0) continue;
    if (got < 0) return failure("cannot read the secret key from " + name);
    text.size += static_cast<std::size_t>(got);
    const std::string_view so_far(text.bytes.data(), text.size);
    if (got == 0 || so_far.find('\n') != std::string_view::npos) break;
  }
  return absl::OkStatus();
}

absl::Status read_file(const std::string& path, SecretText& text) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failure("cannot open " + path);
  struct stat status{};
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 077) != 0) {
    std::fprintf(stderr, "gyre: warning: %s can be read by others; chmod 600 %s\n", path.c_str(),
                 path.c_str());
  }
  const absl::Status result = read_line(fd, path, text);
  close(fd);
  return result;
}

absl::StatusOr<nostr::SecretKey> parse(std::string_view text, const std::string& name) {
  std::optional<nostr::SecretKey> key;
  const nostr::DecodeError error = nostr::SecretKey::parse(text, key);
  if (error == nostr::DecodeError::kNone) return *std::move(key);
  return absl::InvalidArgumentError(name + " holds no secret key (64 hex digits or nsec1...): " +
                                    std::string(nostr::describe(error)));
}

}  // namespace

absl::StatusOr<nostr::SecretKey> read_secret_key(const std::string& file) {
  if (file.empty()) {
    const char* const text = std::getenv(kSecretVariable);
    if (text != nullptr)
      return parse(key_word(text), std::string("environment ") + kSecretVariable);
    return absl::InvalidArgumentError(
        std::string("a secret key is needed: --secret-file FILE (- is standard input), or ") +
        kSecretVariable + " in the environment");
  }
  SecretText text;
  const std::string name = file == "-" ? "standard input" : file;
  const absl::Status result =
      file == "-" ? read_line(STDIN_FILENO, name, text) : read_file(file, text);
  if (!result.ok()) return result;
  return parse(key_word({text.bytes.data(), text.size}), name);
}

}  // namespace gyre::app
