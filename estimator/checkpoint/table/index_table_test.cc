#include "estimator/checkpoint/table/index_table.h"

#include <gtest/gtest.h>
#include <leveldb/env.h>
#include <leveldb/options.h>
#include <leveldb/table_builder.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

// As the index of a deep network: names alike, entries alike, several blocks of 4 KiB.
std::map<std::string, std::string> ManyEntries() {
  std::map<std::string, std::string> entries = {{"", "header"}};
  for (int i = 0; i < 500; ++i) {
    entries[absl::StrCat("bert/encoder/layer_", i, "/attention/self/query/kernel/adam_m")] =
        absl::StrCat(std::string(30, 'v'), i, std::string(30, 'w'));
  }
  return entries;
}

TEST(IndexTable, WhatIsWrittenIsReadInOrder) {
  const TempDir dir;
  const auto entries = ManyEntries();
  EST_ASSERT_OK(WriteIndexTable(dir.File("t"), entries));
  const auto read = ReadIndexTable(dir.File("t"));
  EST_ASSERT_OK(read);
  EXPECT_EQ(Entries(read->begin(), read->end()), Entries(entries.begin(), entries.end()));
}

// Blocks as snappy itself makes them: literals, copies of all kinds, one after another.
TEST(IndexTable, ReadsBlocksThatLevelDbCompressedWithSnappy) {
  const TempDir dir;
  const auto entries = ManyEntries();
  leveldb::WritableFile* opened = nullptr;
  ASSERT_TRUE(leveldb::Env::Default()->NewWritableFile(dir.File("t"), &opened).ok());
  const std::unique_ptr<leveldb::WritableFile> file(opened);
  leveldb::Options options;
  options.compression = leveldb::kSnappyCompression;
  leveldb::TableBuilder builder(options, file.get());
  for (const auto& [key, value] : entries) builder.Add(key, value);
  ASSERT_TRUE(builder.Finish().ok());
  ASSERT_TRUE(file->Close().ok());
  EST_ASSERT_OK(WriteIndexTable(dir.File("plain"), entries));
  ASSERT_LT(2 * ReadFile(dir.File("t"))->size(), ReadFile(dir.File("plain"))->size())
      << "nothing was compressed";
  const auto read = ReadIndexTable(dir.File("t"));
  EST_ASSERT_OK(read);
  EXPECT_EQ(Entries(read->begin(), read->end()), Entries(entries.begin(), entries.end()));
}

}  // namespace
}  // namespace estimator
