#include "app/secret_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace gyre::app {
namespace {

using ::testing::HasSubstr;

const std::string kSecret = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa";

class SecretSource : public ::testing::Test {
 protected:
  SecretSource() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gyre-secret-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    unsetenv(kSecretVariable);
  }
  ~SecretSource() override {
    std::filesystem::remove_all(folder_);
    unsetenv(kSecretVariable);
  }

  std::string write(const std::string& text, mode_t mode) {
    const std::string path = folder_ / "key";
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }

  std::filesystem::path folder_;
};

TEST_F(SecretSource, ReadsTheFirstLineOfAFile) {
  for (const std::string& text : {kSecret, kSecret + "\n", kSecret + " \r\nmore",
                                  "secret      " + kSecret + "\nnsec        nsec1\n"}) {
    const absl::StatusOr<nostr::SecretKey> key = read_secret_key(write(text, 0600));
    ASSERT_TRUE(key.ok()) << key.status();
    EXPECT_EQ(to_hex(key->bytes().bytes), kSecret);
  }
}

TEST_F(SecretSource, WarnsOfAFileThatOthersCanRead) {
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(read_secret_key(write(kSecret, 0640)).ok());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("chmod 600"));
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(read_secret_key(write(kSecret, 0600)).ok());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(SecretSource, TakesTheEnvironmentWithoutAFile) {
  EXPECT_THAT(std::string(read_secret_key("").status().message()), HasSubstr("--secret-file"));
  setenv(kSecretVariable, kSecret.c_str(), 1);
  const absl::StatusOr<nostr::SecretKey> key = read_secret_key("");
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(to_hex(key->bytes().bytes), kSecret);
}

TEST_F(SecretSource, NeverShowsWhatItCouldNotRead) {
  const std::string almost = kSecret.substr(0, 60);
  const absl::Status status = read_secret_key(write(almost, 0600)).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("no secret key"));
  EXPECT_THAT(std::string(status.message()), ::testing::Not(HasSubstr(almost)));
  EXPECT_THAT(std::string(read_secret_key((folder_ / "absent").string()).status().message()),
              HasSubstr("absent"));
  EXPECT_FALSE(read_secret_key(write(std::string(10'000, 'a'), 0600)).ok());
}

}  // namespace
}  // namespace gyre::app
