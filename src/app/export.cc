#include "app/export.h"

#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "app/interrupt.h"
#include "app/offline_store.h"
#include "app/progress.h"
#include "gyre/nostr/client_message.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/verify.h"

namespace gyre::app {
namespace {

using nostr::PackedEventView;
using storage::Scan;

class EverythingIsReadable final : public storage::ReadAccess {
 public:
  [[nodiscard]] bool may_read(PackedEventView) const override { return true; }
  [[nodiscard]] std::span<const std::uint16_t> restricted_kinds() const override { return {}; }
  [[nodiscard]] bool may_read_some_restricted() const override { return true; }
};

// One shard's scan and the event it stands at.
struct Source {
  std::unique_ptr<Scan> scan;
  PackedEventView event;  // Null at the end.

  void advance() {
    while (true) {
      std::uint64_t budget = 1'000'000;
      storage::Sequence sequence = 0;
      const Scan::Step step = scan->next(budget, sequence, event);
      if (step == Scan::Step::kEvent) return;
      if (step == Scan::Step::kFinished) {
        event = PackedEventView();
        return;
      }
    }
  }
};

bool comes_before(PackedEventView a, PackedEventView b) {
  if (a.created_at() != b.created_at()) return a.created_at() > b.created_at();
  return a.id_hex() < b.id_hex();
}

class Export {
 public:
  Export(OfflineStore& store, const nostr::Filter& filter, std::FILE* out)
      : limit_(filter.limit.value_or(UINT64_MAX)),
        out_(out),
        verifier_(nostr::make_signature_verifier(16'384)),
        progress_("events", 0) {
    for (std::uint32_t i = 0; i < store.shard_count(); ++i) {
      Source source;
      source.scan = std::make_unique<Scan>(
          store.shard(static_cast<ShardId>(i)).sources(), std::span(&filter, 1),
          storage::ScanLimits{{limit_}, limit_}, access_, store.clock().unix_s());
      source.advance();
      sources_.push_back(std::move(source));
    }
  }

  absl::StatusOr<std::uint64_t> run() {
    std::uint64_t written = 0;
    std::uint64_t damaged = 0;
    while (written < limit_ && !is_interrupted()) {
      Source* const source = newest();
      if (source == nullptr) break;
      if (!is_sound(source->event)) {
        ++damaged;
        std::fprintf(stderr, "event %.64s is damaged and left out\n",
                     source->event.id_hex().data());
      } else if (!write(source->event.json())) {
        return absl::UnavailableError(std::string("cannot write: ") + std::strerror(errno));
      } else {
        ++written;
      }
      source->advance();
      progress_.update(written, 0, "");
    }
    progress_.finish();
    if (std::fflush(out_) != 0) {
      return absl::UnavailableError(std::string("cannot write: ") + std::strerror(errno));
    }
    if (damaged > 0) {
      return absl::DataLossError(std::to_string(damaged) +
                                 " events are damaged and were left out, " +
                                 std::to_string(written) + " were written");
    }
    return written;
  }

 private:
  Source* newest() {
    Source* newest = nullptr;
    for (Source& source : sources_) {
      if (source.event.is_null()) continue;
      if (newest == nullptr || comes_before(source.event, newest->event)) newest = &source;
    }
    return newest;
  }

  bool is_sound(PackedEventView event) {
    if (nostr::compute_id(event) != event.id()) return false;
    nostr::SignatureCheck check{event, false};
    verifier_->verify({&check, 1});
    return check.is_valid;
  }

  bool write(std::string_view json) {
    return std::fwrite(json.data(), 1, json.size(), out_) == json.size() &&
           std::fputc('\n', out_) != EOF;
  }

  EverythingIsReadable access_;
  std::uint64_t limit_;
  std::FILE* const out_;
  std::unique_ptr<nostr::SignatureVerifier> verifier_;
  Progress progress_;
  std::vector<Source> sources_;
};

}  // namespace

absl::StatusOr<std::uint64_t> run_export(const ExportOptions& options) {
  if (!nostr::is_valid_utf8(options.filter)) {
    return absl::InvalidArgumentError("--filter is not UTF-8");
  }
  nostr::MessageParser parser((nostr::MessageLimits()));
  std::string padded = options.filter + std::string(nostr::MessageParser::kPadding, '\0');
  const nostr::ClientMessage& message =
      parser.parse_filter(std::string_view(padded.data(), options.filter.size()));
  if (message.kind != nostr::MessageKind::kReq) {
    return absl::InvalidArgumentError("--filter " + options.filter + ": " +
                                      std::string(message.refusal.text));
  }
  const nostr::Filter filter = message.filters.front();

  auto store = OfflineStore::open(options.store_path, OfflineStore::Mode::kMustExist, 1, {});
  if (!store.ok()) return store.status();
  const bool is_standard_output = options.file.empty() || options.file == "-";
  std::FILE* const out = is_standard_output ? stdout : std::fopen(options.file.c_str(), "w");
  if (out == nullptr) {
    return absl::NotFoundError("cannot write " + options.file + ": " + std::strerror(errno));
  }
  catch_interrupts();
  absl::StatusOr<std::uint64_t> written = Export(**store, filter, out).run();
  if (out != stdout && std::fclose(out) != 0 && written.ok()) {
    written = absl::UnavailableError("cannot write " + options.file + ": " + std::strerror(errno));
  }
  const absl::Status closed = (*store)->close();
  if (!closed.ok() && written.ok()) return closed;
  return written;
}

}  // namespace gyre::app
