#include "app/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/config_source.h"

namespace gyre::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A TOML file that goes away with its test.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text) {
    std::string pattern = (std::filesystem::temp_directory_path() / "gyre-config-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::ofstream(path()) << text;
  }
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return folder_ + "/gyre.toml"; }

 private:
  std::string folder_;
};

absl::StatusOr<Config> load_file(std::string_view text) {
  const TemporaryFile file(text);
  return load_config({.file = file.path()});
}

absl::StatusOr<Config> load_settings(std::vector<std::string> settings) {
  return load_config({.settings = std::move(settings)});
}

std::string error_of(const absl::StatusOr<Config>& config) {
  return config.ok() ? "no error" : std::string(config.status().message());
}

TEST(Config, WithoutSourcesTheDefaultsHold) {
  const auto config = load_config({.environment = {"HOME=/nowhere", "STATE_DIRECTORY=/state"}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->net.listen, "127.0.0.1:7447");
  EXPECT_EQ(config->limits.message_bytes, 524288u);
  EXPECT_EQ(config->store.durability, Durability::kFsync);
  EXPECT_THAT(config->auth.gated_kinds, ElementsAre(4, 1059));
  EXPECT_EQ(config->store.path, "/state");
}

TEST(Config, FileSetsEveryTypeOfValue) {
  const auto config = load_file(R"(
[net]
listen = "[::]:8080"
trusted_proxies = ["127.0.0.1", "10.0.0.0/8"]
[store]
path = "/srv/gyre"
durability = "interval"
segment_bytes = "64 MiB"
[limits]
message_bytes = 1_048_576
[auth]
required = true
gated_kinds = [4, 14, 1059]
[log]
level = "debug"
)");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->net.listen, "[::]:8080");
  EXPECT_THAT(config->net.trusted_proxies, ElementsAre("127.0.0.1", "10.0.0.0/8"));
  EXPECT_EQ(config->store.path, "/srv/gyre");
  EXPECT_EQ(config->store.durability, Durability::kInterval);
  EXPECT_EQ(config->store.segment_bytes, 64u * 1024 * 1024);
  EXPECT_EQ(config->limits.message_bytes, 1048576u);
  EXPECT_TRUE(config->auth.required);
  EXPECT_THAT(config->auth.gated_kinds, ElementsAre(4, 14, 1059));
  EXPECT_EQ(config->log.level, LogLevel::kDebug);
}

TEST(Config, DottedKeysAreTheSameAsSections) {
  const auto config = load_file("net.ping_s = 7\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->net.ping_s, 7u);
}

TEST(Config, LaterSourcesWin) {
  const TemporaryFile file("[net]\nping_s = 1\npong_timeout_s = 1\nsend_timeout_s = 1\n");
  const auto config = load_config({
      .file = file.path(),
      .environment = {"GYRE_NET_PONG_TIMEOUT_S=2", "GYRE_NET_SEND_TIMEOUT_S=2"},
      .settings = {"net.send_timeout_s=3", "net.send_timeout_s=4"},
  });
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->net.close_timeout_s, 5u);
  EXPECT_EQ(config->net.ping_s, 1u);
  EXPECT_EQ(config->net.pong_timeout_s, 2u);
  EXPECT_EQ(config->net.send_timeout_s, 4u);
}

TEST(Config, BareWordsAreTexts) {
  const std::string key(64, '1');  // As a number it would overflow.
  const auto config = load_config({
      .environment = {"GYRE_NET_LISTEN=0.0.0.0:80", "GYRE_RELAY_PUBKEY=" + key},
      .settings = {"relay.name=my relay", "store.path=/srv/x=y",
                   "relay.contact=", "store.durability=os", "limits.message_bytes=1 MiB"},
  });
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->net.listen, "0.0.0.0:80");
  EXPECT_EQ(config->relay.pubkey, key);
  EXPECT_EQ(config->relay.name, "my relay");
  EXPECT_EQ(config->store.path, "/srv/x=y");
  EXPECT_EQ(config->relay.contact, "");
  EXPECT_EQ(config->store.durability, Durability::kOs);
  EXPECT_EQ(config->limits.message_bytes, 1048576u);
}

TEST(Config, SettingsAreToml) {
  const auto config = load_settings({"relay.name=\"tab\\there\"", "auth.gated_kinds=[ 4, ]",
                                     "relay.urls=['ws://a', \"wss://b/c\"]", "auth.required=true"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->relay.name, "tab\there");
  EXPECT_THAT(config->auth.gated_kinds, ElementsAre(4));
  EXPECT_THAT(config->relay.urls, ElementsAre("ws://a", "wss://b/c"));
  EXPECT_TRUE(config->auth.required);
}

TEST(Config, EmptyListsAreAllowed) {
  const auto config = load_settings({"auth.gated_kinds=[]", "relay.admins=[]"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->auth.gated_kinds, IsEmpty());
}

TEST(Config, ALineBreakInAValueSmugglesNothingIn) {
  const auto config = load_settings({"net.ping_s=7\nother = 1"});
  EXPECT_THAT(error_of(config), HasSubstr("net.ping_s"));
}

TEST(Config, ErrorNamesKeyValueRangeAndLine) {
  const TemporaryFile file("# a comment\n[limits]\nsubscription_id_chars = 65\n");
  EXPECT_EQ(
      error_of(load_config({.file = file.path()})),
      "limits.subscription_id_chars = 65 (" + file.path() + ":3): must be an integer from 1 to 64");
}

TEST(Config, ErrorNamesTheEnvironmentVariable) {
  EXPECT_EQ(error_of(load_config({.environment = {"GYRE_NET_PING_S=soon"}})),
            "net.ping_s = \"soon\" (environment GYRE_NET_PING_S): must be an integer from 1 to "
            "3600");
}

TEST(Config, ErrorNamesTheSetOption) {
  EXPECT_EQ(error_of(load_settings({"store.durability=never"})),
            "store.durability = \"never\" (--set): must be \"fsync\", \"interval\" or \"os\"");
}

TEST(Config, AllErrorsAreReportedAtOnce) {
  const std::string error = error_of(load_settings({"net.ping_s=0", "net.nonsense_here=1"}));
  EXPECT_THAT(error, AllOf(HasSubstr("net.ping_s"), HasSubstr("\n"), HasSubstr("nonsense")));
}

TEST(Config, UnknownKeysAreErrorsWithASuggestion) {
  EXPECT_THAT(error_of(load_file("[limits]\nmesage_bytes = 1\n")),
              HasSubstr("gyre.toml:2): unknown key; did you mean limits.message_bytes?"));
  EXPECT_THAT(error_of(load_file("listen = \"127.0.0.1:1\"\n")),
              AllOf(HasSubstr("listen ("), HasSubstr("did you mean net.listen?")));
  EXPECT_THAT(error_of(load_settings({"store.listen=127.0.0.1:1"})),
              HasSubstr("did you mean net.listen?"));
  EXPECT_THAT(error_of(load_settings({"colour=blue"})),
              AllOf(HasSubstr("unknown key"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(error_of(load_file("[net.listen]\nhost = \"x\"\n")), HasSubstr("must be an IP"));
}

TEST(Config, UnknownVariablesOfOurSectionsAreErrors) {
  EXPECT_THAT(error_of(load_config({.environment = {"GYRE_NET_LISTENS=x"}})),
              HasSubstr("GYRE_NET_LISTENS (environment): no key has this variable; did you mean "
                        "GYRE_NET_LISTEN?"));
  EXPECT_THAT(error_of(load_config({.environment = {"GYRE_STORE_WHATEVER=x"}})),
              HasSubstr("GYRE_STORE_WHATEVER"));
  EXPECT_THAT(error_of(load_config({.environment = {"GYRE_LIMIT_CONNECTIONS=1"}})),
              HasSubstr("did you mean GYRE_LIMITS_CONNECTIONS?"));
}

TEST(Config, VariablesOfOthersAreLeftAlone) {
  const auto config = load_config({.environment = {"GYRE_SERVICE_HOST=10.0.0.1", "GYRE_PORT=1",
                                                   "NET_PING_S=0", "PATH=/bin", "nonsense"}});
  EXPECT_TRUE(config.ok()) << config.status();
}

TEST(Config, SetWithoutAValueIsAnError) {
  EXPECT_EQ(error_of(load_settings({"net.ping_s"})), "--set net.ping_s: must be SECTION.KEY=VALUE");
}

TEST(Config, AMissingFileIsAnErrorThatNamesIt) {
  EXPECT_EQ(error_of(load_config({.file = "/nonexistent/gyre.toml"})),
            "/nonexistent/gyre.toml: cannot be read: No such file or directory");
}

TEST(Config, AFolderIsNoFile) {
  const std::string folder = std::filesystem::temp_directory_path().string();
  EXPECT_THAT(error_of(load_config({.file = folder})), HasSubstr("cannot be read"));
}

TEST(Config, BrokenTomlIsAnErrorWithItsLine) {
  EXPECT_THAT(error_of(load_file("[net]\nping_s = \n")), HasSubstr("gyre.toml:2: "));
  EXPECT_THAT(error_of(load_file("[net]\nping_s = 1\nping_s = 2\n")), HasSubstr("gyre.toml:3: "));
}

TEST(Config, ValuesOfTheWrongTypeAreRefused) {
  for (const char* setting : {"net.ping_s=1.5",           "net.ping_s=true",
                              "net.ping_s=[1]",           "net.ping_s=-1",
                              "net.ping_s=1979-05-27",    "auth.required=1",
                              "auth.required=yes",        "net.listen=true",
                              "relay.urls=ws://a",        "relay.urls=[1]",
                              "relay.urls=['ws://a', 1]", "relay.urls={a=1}",
                              "auth.gated_kinds=[65536]", "auth.gated_kinds=[-1]",
                              "auth.gated_kinds=['4']",   "auth.gated_kinds=4",
                              "store.durability=0",       "limits.message_bytes=1 MB",
                              "limits.message_bytes=[",   "net.ping_s=9223372036854775807"}) {
    EXPECT_THAT(error_of(load_settings({setting})), HasSubstr("must be ")) << setting;
  }
}

TEST(Config, RangesEndWhereTheySay) {
  struct Bounds {
    std::string key;
    std::uint64_t min;
    std::uint64_t max;
  };
  for (const Bounds& bounds : std::vector<Bounds>{{"net.close_timeout_s", 1, 60},
                                                  {"relay.shards", 0, 256},
                                                  {"limits.connections_per_ip", 0, 1'000'000},
                                                  {"runtime.spin_us", 0, 1000}}) {
    EXPECT_TRUE(load_settings({bounds.key + "=" + std::to_string(bounds.min)}).ok()) << bounds.key;
    EXPECT_TRUE(load_settings({bounds.key + "=" + std::to_string(bounds.max)}).ok()) << bounds.key;
    EXPECT_FALSE(load_settings({bounds.key + "=" + std::to_string(bounds.max + 1)}).ok());
    if (bounds.min > 0) {
      EXPECT_FALSE(load_settings({bounds.key + "=" + std::to_string(bounds.min - 1)}).ok());
    }
  }
}

TEST(Config, LargestMessageIsOneByteUnderSixteenMebibytes) {
  const std::string queue = "limits.send_queue_bytes=16 MiB";
  EXPECT_TRUE(load_settings({"limits.message_bytes=16777215", queue}).ok());
  EXPECT_FALSE(load_settings({"limits.message_bytes=16777216", queue}).ok());
  EXPECT_FALSE(load_settings({"limits.message_bytes=16 MiB", queue}).ok());
}

TEST(Config, TextsAreChecked) {
  const std::string key(64, 'a');
  for (const std::string& setting :
       std::vector<std::string>{"net.listen=localhost:1",
                                "net.listen=127.0.0.1",
                                "net.listen=",
                                "net.listen=::1:80",
                                "net.base_path=relay",
                                "net.base_path=",
                                "net.base_path=\"/a b\"",
                                "net.base_path=/a?b",
                                "net.trusted_proxies=['10.0.0.0/33']",
                                "net.trusted_proxies=['proxy']",
                                "relay.urls=['http://a']",
                                "relay.urls=['wss://']",
                                "relay.urls=['wss:///a']",
                                "relay.urls=['wss://a b']",
                                "relay.pubkey=" + key + "a",
                                "relay.pubkey=abc",
                                "relay.pubkey=" + std::string(64, 'A'),
                                "relay.admins=['']",
                                "relay.admins=['" + key + "', 'x']",
                                "relay.name=\"bell\\u0007\"",
                                "relay.name=" + std::string(4097, 'n')}) {
    EXPECT_THAT(error_of(load_settings({setting})), HasSubstr("must be ")) << setting;
  }
}

TEST(Config, LongValuesAreShortenedInMessages) {
  const std::string error = error_of(load_settings({"relay.pubkey=" + std::string(5000, 'a')}));
  EXPECT_THAT(error, HasSubstr("..."));
  EXPECT_LT(error.size(), 300u);
}

TEST(Config, DefaultLimitMayNotExceedTheLargest) {
  EXPECT_TRUE(load_settings({"limits.filter_limit_max=500"}).ok());
  EXPECT_EQ(error_of(load_settings({"limits.filter_limit_max=499"})),
            "limits.filter_limit_default = 500 (default): must be at most "
            "limits.filter_limit_max, which is 499 (--set)");
}

TEST(Config, SendQueueHoldsAtLeastOneMessage) {
  EXPECT_TRUE(load_settings({"limits.send_queue_bytes=524288"}).ok());
  EXPECT_THAT(error_of(load_settings({"limits.send_queue_bytes=524287"})),
              HasSubstr("must be at least limits.message_bytes, which is 524288 (default)"));
}

TEST(Config, SegmentHoldsTheLargestEvent) {
  EXPECT_TRUE(load_settings({"store.segment_bytes=4 MiB", "limits.message_bytes=1 MiB"}).ok());
  EXPECT_THAT(
      error_of(load_settings({"store.segment_bytes=4 MiB", "limits.message_bytes=1048577"})),
      HasSubstr("store.segment_bytes = 4194304 (--set): must be at least four times"));
}

TEST(Config, RetentionIsASectionWithinStore) {
  const auto config = load_file(
      "[store]\nexpiry_sweep_s = 5\n[store.retention]\nmax_age = \"90d\"\n"
      "max_bytes = \"50 GiB\"\nkinds = { 30000-39999 = \"1y\", 1 = \"30d\", 0 = \"forever\" }\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->store.expiry_sweep_s, 5u);
  EXPECT_EQ(config->retention.max_age_s, 90u * 24 * 3600);
  EXPECT_EQ(config->retention.max_bytes, 50ull << 30);
  ASSERT_EQ(config->retention.kinds.size(), 3u);
  EXPECT_EQ(config->retention.kinds[0].last, 0u);
  EXPECT_EQ(config->retention.kinds[0].max_age_s, 0u);
  EXPECT_EQ(config->retention.kinds[2].first, 30'000u);
  EXPECT_EQ(config->retention.kinds[2].last, 39'999u);
  EXPECT_EQ(config->retention.kinds[2].max_age_s, 365u * 24 * 3600);
}

TEST(Config, RetentionKindsCanBeATableOfTheirOwn) {
  const auto config = load_file("[store.retention.kinds]\n7 = \"1d\"\n");
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->retention.kinds.size(), 1u);
  EXPECT_EQ(config->retention.kinds[0].first, 7u);
}

TEST(Config, RetentionComesFromEnvironmentAndSetToo) {
  const auto config = load_config({.environment = {"GYRE_STORE_RETENTION_MAX_AGE=90d"},
                                   .settings = {"store.retention.kinds={ 1 = '12h' }"}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->retention.max_age_s, 90u * 24 * 3600);
  ASSERT_EQ(config->retention.kinds.size(), 1u);
  EXPECT_EQ(config->retention.kinds[0].max_age_s, 12u * 3600);
}

TEST(Config, RetentionThatMakesNoSenseIsRefused) {
  for (const char* setting :
       {"store.retention.max_age=90", "store.retention.max_age=0d", "store.retention.max_age=''",
        "store.retention.kinds=[1]", "store.retention.kinds={ 1 = 30 }",
        "store.retention.kinds={ 65536 = '1d' }", "store.retention.kinds={ x = '1d' }",
        "store.retention.kinds={ 9-1 = '1d' }", "store.retention.kinds={ 1- = '1d' }",
        "store.retention.kinds={ 1 = '1d', 0-5 = '2d' }", "store.retention.max_bytes=-1",
        "store.retention.max_bytes=1 MiB"}) {
    EXPECT_THAT(error_of(load_settings({setting})), HasSubstr("must be ")) << setting;
  }
  EXPECT_THAT(error_of(load_settings({"store.retention.kinds={ 9-1 = '1d', 4 = '2d' }"})),
              HasSubstr("store.retention.kinds = { 4 = \"2d\", 9-1 = \"1d\" } (--set): must be"));
  EXPECT_THAT(error_of(load_file("[store.retention]\nmax_ages = \"1d\"\n")),
              HasSubstr("did you mean store.retention.max_age?"));
}

TEST(Config, StorePathFollowsOneRule) {
  EXPECT_EQ(default_store_path({"HOME=/h", "XDG_STATE_HOME=/x", "STATE_DIRECTORY=/s:/t"}, true),
            "/s");
  EXPECT_EQ(default_store_path({"HOME=/h", "XDG_STATE_HOME=/x"}, true), "/var/lib/gyre");
  EXPECT_EQ(default_store_path({"HOME=/h", "XDG_STATE_HOME=/x"}, false), "/x/gyre");
  EXPECT_EQ(default_store_path({"HOME=/h", "XDG_STATE_HOME=relative"}, false),
            "/h/.local/state/gyre");
  EXPECT_EQ(default_store_path({"HOME=/h"}, false), "/h/.local/state/gyre");
  EXPECT_EQ(default_store_path({"HOME="}, false), "/var/lib/gyre");
  EXPECT_EQ(default_store_path({}, false), "/var/lib/gyre");
}

TEST(Config, OwnUrlsFollowTheAddressUnlessGiven) {
  Config config;
  EXPECT_THAT(own_urls(config, "127.0.0.1:7447"),
              ElementsAre("ws://localhost:7447", "ws://127.0.0.1:7447"));
  EXPECT_THAT(own_urls(config, "0.0.0.0:80"),
              ElementsAre("ws://localhost:80", "ws://127.0.0.1:80"));
  EXPECT_THAT(own_urls(config, "[::]:80"),
              ElementsAre("ws://localhost:80", "ws://127.0.0.1:80", "ws://[::1]:80"));
  config.net.base_path = "/relay";
  EXPECT_THAT(
      own_urls(config, "192.0.2.1:80"),
      ElementsAre("ws://localhost:80/relay", "ws://127.0.0.1:80/relay", "ws://192.0.2.1:80/relay"));
  config.relay.urls = {"wss://relay.example"};
  EXPECT_THAT(own_urls(config, "127.0.0.1:7447"), ElementsAre("wss://relay.example"));
}

TEST(Config, DiffNamesChangedKeysAndWhatNeedsARestart) {
  Config after;
  EXPECT_THAT(diff(Config{}, after), IsEmpty());
  after.net.listen = "127.0.0.1:1";
  after.limits.filters = 7;
  const std::vector<ConfigChange> changes = diff(Config{}, after);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].key, "net.listen");
  EXPECT_EQ(changes[0].before, "\"127.0.0.1:7447\"");
  EXPECT_EQ(changes[0].after, "\"127.0.0.1:1\"");
  EXPECT_TRUE(changes[0].needs_restart);
  EXPECT_EQ(changes[1].key, "limits.filters");
  EXPECT_EQ(changes[1].before, "200");
  EXPECT_EQ(changes[1].after, "7");
  EXPECT_FALSE(changes[1].needs_restart);
}

TEST(Config, ReloadKeepsWhatNeedsARestart) {
  Config running;
  running.relay.shards = 4;
  Config loaded;
  loaded.net.listen = "127.0.0.1:1";
  loaded.store.durability = Durability::kOs;
  loaded.store.path = "/elsewhere";
  loaded.runtime.pin = false;
  loaded.net.ping_s = 9;
  loaded.relay.admins = {std::string(64, 'a')};
  loaded.auth.required = true;
  const Config merged = merge_reload(running, loaded);
  EXPECT_EQ(merged.net.listen, running.net.listen);
  EXPECT_EQ(merged.relay.shards, 4u);
  EXPECT_EQ(merged.store.durability, Durability::kFsync);
  EXPECT_EQ(merged.store.path, "");
  EXPECT_TRUE(merged.runtime.pin);
  EXPECT_EQ(merged.net.ping_s, 9u);
  EXPECT_EQ(merged.relay.admins, loaded.relay.admins);
  EXPECT_TRUE(merged.auth.required);
}

}  // namespace
}  // namespace gyre::app
