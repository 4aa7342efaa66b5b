#include "app/import.h"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "app/import_lane.h"
#include "app/input_file.h"
#include "app/interrupt.h"
#include "app/offline_store.h"
#include "app/progress.h"
#include "gyre/nostr/client_message.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/kind.h"
#include "gyre/relay/relay_url.h"
#include "gyre/runtime/topology.h"

namespace gyre::app {
namespace {

using nostr::MessageKind;
using nostr::PackedEventView;
using storage::Verdict;

std::string describe(const Refusal& refusal) {
  return std::string(prefix_word(refusal.prefix)) + ": " + std::string(refusal.text);
}

std::string describe(Verdict verdict) {
  switch (verdict) {
    case Verdict::kStale: return "duplicate: a newer version is stored";
    case Verdict::kDeleted: return "blocked: deleted by its author";
    case Verdict::kVanished: return "blocked: its author asked to vanish";
    case Verdict::kExpired: return "invalid: its expiration has passed";
    case Verdict::kDiskFull: return "error: the disk is full";
    case Verdict::kTooLarge: return "invalid: larger than a segment of the log";
    case Verdict::kAccept:
    case Verdict::kDuplicate:
    case Verdict::kBusy:
    case Verdict::kReading: break;
  }
  return "error: unexpected verdict";
}

class Import {
 public:
  Import(const ImportOptions& options, OfflineStore& store, std::FILE* file,
         std::uint64_t file_bytes)
      : options_(options),
        store_(store),
        file_(file),
        parser_(message_limits(options)),
        verifier_(nostr::make_signature_verifier(1024)),
        progress_("lines", file_bytes) {
    for (const std::string& url : options.relay_urls) {
      own_urls_.push_back(*relay::parse_relay_url(url));  // run_import() has checked them.
    }
    for (std::uint32_t i = 0; i < store.shard_count(); ++i) {
      lanes_.push_back(std::make_unique<ImportLane>(store.shard(static_cast<ShardId>(i))));
    }
  }

  ImportReport run() {
    for (const auto& lane : lanes_) lane->start();
    while (!is_interrupted() && !is_disk_full_ && read_line()) take_line();
    finish_lanes();
    progress_.finish();
    if (is_disk_full_) {
      report_.failure = "the disk is full; the import stopped behind line " +
                        std::to_string(line_number_) + ". Make space and run it again";
    }
    report_.was_interrupted = is_interrupted();
    return std::move(report_);
  }

 private:
  static nostr::MessageLimits message_limits(const ImportOptions& options) {
    nostr::MessageLimits limits;
    limits.message_bytes_max = options.line_bytes_max;
    limits.content_chars_max = options.line_bytes_max;
    limits.event_tags_max = options.line_bytes_max;
    return limits;
  }

  // Reads one line into text_ without its end; of a line that is too long only so much as shows
  // that. False at the end of the file, and when reading fails (read_error_).
  bool read_line() {
    text_.clear();
    int c = getc_unlocked(file_);
    if (c == EOF) return note_end();
    for (; c != EOF && c != '\n'; c = getc_unlocked(file_)) {
      ++bytes_read_;
      if (text_.size() <= options_.line_bytes_max) text_.push_back(static_cast<char>(c));
    }
    if (c == EOF && std::ferror(file_) != 0) return note_end();
    ++bytes_read_;
    ++line_number_;
    while (!text_.empty() && text_.back() == '\r') text_.pop_back();
    text_bytes_ = text_.size();
    text_.append(nostr::MessageParser::kPadding, '\0');
    return true;
  }

  bool note_end() {
    if (std::ferror(file_) != 0) {
      report_.failure =
          "line " + std::to_string(line_number_ + 1) + " cannot be read: " + std::strerror(errno);
    }
    return false;
  }

  void take_line() {
    progress_.update(line_number_, bytes_read_, "");
    take_results();
    if (text_.find_first_not_of(" \t") >= text_bytes_) return;
    ++report_.lines;
    const std::string_view text(text_.data(), text_bytes_);
    if (text.size() > options_.line_bytes_max) {
      return refuse(line_number_, "invalid: the line is longer than " +
                                      std::to_string(options_.line_bytes_max) +
                                      " bytes (--line-bytes-max)");
    }
    if (!nostr::is_valid_utf8(text)) return refuse(line_number_, "invalid: not UTF-8");
    const nostr::ClientMessage& message = parser_.parse_event(text);
    if (message.kind != MessageKind::kEvent) return refuse(line_number_, describe(message.refusal));
    take_event(message.event);
  }

  void take_event(PackedEventView event) {
    if (nostr::kind_class(event.kind()) == nostr::KindClass::kEphemeral) {
      return refuse(line_number_, "invalid: ephemeral events are not stored");
    }
    if (event.is_protected() && !options_.accepts_protected) {
      return refuse(line_number_, "restricted: protected event (NIP-70); --protected takes it");
    }
    if (event.kind() == nostr::kKindVanish && !is_vanish_for_us(event)) {
      return refuse(line_number_,
                    "invalid: the request to vanish names other relays; --relay-url names yours");
    }
    const SharedBytes bytes = SharedBytes::copy_of(event.bytes());
    const ShardId owner = store_.owner_of(event.pubkey());
    push(owner, {SharedBytes(bytes).detach(), line_number_, ImportLane::Origin::kUnverified});
    if (storage::Store::has_foreign_effects(event) && lanes_.size() > 1) spread(owner, bytes);
  }

  // Effects of a request on other shards' gift wraps. Verified here, since only the owner would.
  void spread(ShardId owner, const SharedBytes& bytes) {
    nostr::SignatureCheck check{PackedEventView(bytes.data()), false};
    verifier_->verify({&check, 1});
    if (!check.is_valid) return;
    for (ShardId shard = 0; shard < lanes_.size(); ++shard) {
      if (shard == owner) continue;
      push(shard, {SharedBytes(bytes).detach(), line_number_, ImportLane::Origin::kForeignRequest});
    }
  }

  [[nodiscard]] bool is_vanish_for_us(PackedEventView event) const {
    nostr::TagCursor tags(event);
    while (tags.next()) {
      if (tags.name() != "relay") continue;
      if (tags.value() == "ALL_RELAYS") return true;
      if (relay::names_this_relay(nostr::unescape(tags.value()), own_urls_)) return true;
    }
    return false;
  }

  void push(ShardId shard, const ImportLane::Item& item) {
    while (!lanes_[shard]->try_push(item)) {
      if (!take_results()) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  bool take_results() {
    bool took = false;
    ImportLane::Result result;
    for (const auto& lane : lanes_) {
      while (lane->try_take(result)) {
        took = true;
        count(result);
      }
    }
    return took;
  }

  void count(const ImportLane::Result& result) {
    if (result.is_signature_bad)
      return refuse(result.line, "invalid: the signature does not verify");
    if (result.verdict == Verdict::kAccept) {
      ++report_.added;
    } else if (result.verdict == Verdict::kDuplicate) {
      ++report_.duplicates;
    } else {
      is_disk_full_ = is_disk_full_ || result.verdict == Verdict::kDiskFull;
      refuse(result.line, describe(result.verdict));
    }
  }

  void refuse(std::uint64_t line, const std::string& reason) {
    progress_.finish();
    std::fprintf(stderr, "line %" PRIu64 ": %s\n", line, reason.c_str());
    ++report_.refused[reason];
  }

  void finish_lanes() {
    for (const auto& lane : lanes_) lane->request_finish();
    for (const auto& lane : lanes_) {
      while (!lane->is_done()) {
        if (!take_results()) std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      lane->finish();
    }
    take_results();
  }

  const ImportOptions& options_;
  OfflineStore& store_;
  std::FILE* const file_;
  nostr::MessageParser parser_;
  std::unique_ptr<nostr::SignatureVerifier> verifier_;
  Progress progress_;
  std::vector<std::unique_ptr<ImportLane>> lanes_;
  ImportReport report_;
  std::vector<relay::RelayUrl> own_urls_;
  std::string text_;  // The line and the parser's padding.
  std::size_t text_bytes_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t line_number_ = 0;
  bool is_disk_full_ = false;
};

}  // namespace

absl::StatusOr<ImportReport> run_import(const ImportOptions& options) {
  for (const std::string& url : options.relay_urls) {
    if (relay::parse_relay_url(url)) continue;
    return absl::InvalidArgumentError("--relay-url " + url +
                                      ": not a relay's URL, such as wss://relay.example");
  }
  const absl::StatusOr<InputFile> opened = open_input(options.file);
  if (!opened.ok()) return opened.status();
  const InputFile& file = *opened;
  struct stat information{};
  const bool has_size =
      fstat(fileno(file.get()), &information) == 0 && S_ISREG(information.st_mode);
  const std::uint64_t file_bytes = has_size ? static_cast<std::uint64_t>(information.st_size) : 0;

  const std::uint32_t shards = options.shards != 0
                                   ? options.shards
                                   : static_cast<std::uint32_t>(runtime::usable_cores().size());
  auto store = OfflineStore::open(options.store_path, OfflineStore::Mode::kCreate, shards, {});
  if (!store.ok()) return store.status();
  catch_interrupts();
  ImportReport report = Import(options, **store, file.get(), file_bytes).run();
  if (absl::Status status = (*store)->close(); !status.ok()) return status;
  return report;
}

}  // namespace gyre::app
