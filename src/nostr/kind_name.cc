#include "gyre/nostr/kind_name.h"

#include <algorithm>
#include <iterator>

namespace gyre::nostr {
namespace {

struct KindName {
  std::uint16_t kind;
  std::string_view name;
};

constexpr KindName kNames[] = {
    {0, "profile"},
    {1, "short text note"},
    {2, "recommended relay"},
    {3, "follow list"},
    {4, "encrypted direct message"},
    {5, "deletion request"},
    {6, "repost"},
    {7, "reaction"},
    {8, "badge award"},
    {9, "chat message"},
    {10, "group chat threaded reply"},
    {11, "thread"},
    {13, "seal"},
    {14, "direct message"},
    {15, "file message"},
    {16, "generic repost"},
    {17, "reaction to a website"},
    {20, "picture"},
    {21, "video"},
    {22, "short video"},
    {40, "channel creation"},
    {41, "channel metadata"},
    {42, "channel message"},
    {43, "channel hide message"},
    {44, "channel mute user"},
    {62, "request to vanish"},
    {64, "chess game"},
    {78, "application data"},
    {443, "key package"},
    {444, "welcome message"},
    {445, "group event"},
    {818, "merge request"},
    {1018, "poll response"},
    {1021, "bid"},
    {1022, "bid confirmation"},
    {1040, "OpenTimestamps attestation"},
    {1059, "gift wrap"},
    {1063, "file metadata"},
    {1068, "poll"},
    {1111, "comment"},
    {1222, "voice message"},
    {1311, "live chat message"},
    {1337, "code snippet"},
    {1617, "patch"},
    {1621, "issue"},
    {1971, "problem tracker"},
    {1984, "report"},
    {1985, "label"},
    {2003, "torrent"},
    {2004, "torrent comment"},
    {4550, "community post approval"},
    {5000, "job request"},
    {6000, "job result"},
    {7000, "job feedback"},
    {7374, "reserved Cashu tokens"},
    {7375, "Cashu wallet tokens"},
    {7376, "Cashu wallet history"},
    {9000, "group: add user"},
    {9001, "group: remove user"},
    {9002, "group: edit metadata"},
    {9005, "group: delete event"},
    {9007, "group: create"},
    {9008, "group: delete"},
    {9009, "group: create invite"},
    {9021, "group: join request"},
    {9022, "group: leave request"},
    {9041, "zap goal"},
    {9321, "nutzap"},
    {9734, "zap request"},
    {9735, "zap"},
    {9802, "highlight"},
    {10000, "mute list"},
    {10001, "pin list"},
    {10002, "relay list"},
    {10003, "bookmark list"},
    {10004, "communities list"},
    {10005, "public chats list"},
    {10006, "blocked relays list"},
    {10007, "search relays list"},
    {10009, "user groups"},
    {10013, "private event relay list"},
    {10015, "interests list"},
    {10019, "nutzap mint recommendation"},
    {10030, "emoji list"},
    {10050, "direct message relay list"},
    {10051, "key package relays list"},
    {10063, "file server list"},
    {10096, "file storage server list"},
    {13194, "wallet info"},
    {17375, "Cashu wallet"},
    {21000, "Lightning public RPC"},
    {21059, "ephemeral gift wrap"},
    {22242, "client authentication"},
    {23194, "wallet request"},
    {23195, "wallet response"},
    {24133, "Nostr Connect"},
    {24242, "blob authorisation"},
    {27235, "HTTP authentication"},
    {30000, "follow set"},
    {30001, "generic list"},
    {30002, "relay set"},
    {30003, "bookmark set"},
    {30004, "article curation set"},
    {30005, "video curation set"},
    {30007, "kind mute set"},
    {30008, "profile badges"},
    {30009, "badge definition"},
    {30015, "interest set"},
    {30017, "stall"},
    {30018, "product"},
    {30019, "marketplace"},
    {30020, "auction product"},
    {30023, "long-form article"},
    {30024, "draft of a long-form article"},
    {30030, "emoji set"},
    {30063, "release artifact set"},
    {30078, "application-specific data"},
    {30311, "live event"},
    {30315, "user status"},
    {30402, "classified listing"},
    {30403, "draft of a classified listing"},
    {30617, "repository announcement"},
    {30618, "repository state"},
    {30818, "wiki article"},
    {30819, "redirect"},
    {31922, "date-based calendar event"},
    {31923, "time-based calendar event"},
    {31924, "calendar"},
    {31925, "calendar event reply"},
    {31989, "handler recommendation"},
    {31990, "handler information"},
    {34550, "community definition"},
    {38383, "peer-to-peer order"},
    {39000, "group metadata"},
    {39001, "group admins"},
    {39002, "group members"},
    {39089, "starter pack"},
};

constexpr bool is_before(const KindName& a, const KindName& b) { return a.kind < b.kind; }

static_assert(std::is_sorted(std::begin(kNames), std::end(kNames), is_before));

}  // namespace

std::string_view kind_name(std::uint16_t kind) {
  const auto* const found =
      std::lower_bound(std::begin(kNames), std::end(kNames), KindName{kind, ""}, is_before);
  return found != std::end(kNames) && found->kind == kind ? found->name : std::string_view();
}

std::string_view kind_class_name(KindClass kind_class) {
  switch (kind_class) {
    case KindClass::kRegular: return "regular";
    case KindClass::kReplaceable: return "replaceable";
    case KindClass::kEphemeral: return "ephemeral";
    case KindClass::kAddressable: return "addressable";
  }
  return "";
}

}  // namespace gyre::nostr
