// A folder with JSONL files and a store, for the tests of `gyre import` and `gyre export`.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/export.h"
#include "app/import.h"
#include "support/event_factory.h"

namespace gyre::app {

class ImportExportTest : public testing::Test {
 protected:
  ImportExportTest() {
    std::string name = testing::TempDir() + "gyre-import-XXXXXX";
    folder_ = mkdtemp(name.data());
    import_.store_path = folder_ + "/store";
    import_.shards = 3;
  }
  ~ImportExportTest() override { std::filesystem::remove_all(folder_); }

  // What is reported goes to standard error.
  ImportReport import(const std::string& text) {
    import_.file = folder_ + "/in.jsonl";
    std::ofstream(import_.file, std::ios::binary) << text;
    testing::internal::CaptureStderr();
    const auto report = run_import(import_);
    reported_ = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    return report.value_or(ImportReport());
  }
  // The lines that come out.
  std::vector<std::string> export_lines(const std::string& filter = "{}") {
    const ExportOptions options{import_.store_path, filter, folder_ + "/out.jsonl"};
    const auto count = run_export(options);
    EXPECT_TRUE(count.ok()) << count.status().ToString();
    std::ifstream file(options.file, std::ios::binary);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    EXPECT_EQ(count.value_or(0), lines.size());
    return lines;
  }

  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }

  std::string folder_;
  ImportOptions import_;
  std::string reported_;
};

}  // namespace gyre::app
