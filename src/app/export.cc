#include "app/export.h"

#include <cstdio>
#include <memory>
#include <vector>

#include "app/filter_argument.h"
#include "app/interrupt.h"
#include "app/offline_store.h"
#include "app/output_file.h"
#include "app/progress.h"
#include "gyre/nostr/verify.h"

namespace gyre::app {
namespace {

using nostr::PackedEventView;
using storage::Scan;

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
  Export(OfflineStore& store, const nostr::Filter& filter, OutputFile& out)
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
      } else if (absl::Status status = out_.write_line(source->event.json()); !status.ok()) {
        return status;
      } else {
        ++written;
      }
      source->advance();
      progress_.update(written, 0, "");
    }
    progress_.finish();
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

  OfflineAccess access_;
  std::uint64_t limit_;
  OutputFile& out_;
  std::unique_ptr<nostr::SignatureVerifier> verifier_;
  Progress progress_;
  std::vector<Source> sources_;
};

}  // namespace

absl::StatusOr<std::uint64_t> run_export(const ExportOptions& options) {
  const auto filter = parse_filter_argument(options.filter);
  if (!filter.ok()) return filter.status();
  auto store = OfflineStore::open(options.store_path, OfflineStore::Mode::kMustExist, 1, {});
  if (!store.ok()) return store.status();
  auto out = OutputFile::open(options.file);
  if (!out.ok()) return out.status();
  catch_interrupts();
  absl::StatusOr<std::uint64_t> written = Export(**store, *filter, *out).run();
  if (absl::Status status = out->close(); !status.ok() && written.ok()) written = status;
  const absl::Status closed = (*store)->close();
  if (!closed.ok() && written.ok()) return closed;
  return written;
}

}  // namespace gyre::app
