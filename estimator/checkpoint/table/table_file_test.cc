#include "estimator/checkpoint/table/table_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <snappy.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/table/index_table.h"
#include "estimator/checkpoint/table/varint.h"

namespace estimator {
namespace {

using std::string_literals::operator""s;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

absl::Status ReadAll(const TableFile& table) {
  return table.ReadEntries(
      [](const std::string& /*key*/, absl::string_view /*value*/) { return absl::OkStatus(); });
}

class TableFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::map<std::string, std::string> entries = {{"", "header"}};
    for (int i = 1000; i < 1500; ++i) {
      entries[absl::StrCat("layer_", i, "/kernel")] = std::string(30, 'v');
    }
    EST_ASSERT_OK(WriteIndexTable(path_, entries));
    bytes_ = ReadFile(path_).value();
  }
  std::string Damage(int64_t at) const {
    std::string damaged = bytes_;
    damaged[static_cast<size_t>(at)] ^= 0x04;
    EST_EXPECT_OK(WriteFileAtomically(path_, damaged));
    const auto table = TableFile::Open(path_);
    if (!table.ok()) return std::string(table.status().message());
    const absl::Status read = ReadAll(**table);
    for (size_t i = 0; i < (*table)->blocks().size(); ++i) {
      const absl::Status status = (*table)->VerifyBlock(i);
      if (status.ok()) continue;
      EXPECT_EQ(read, status);
      return std::string(status.message());
    }
    return "whole";
  }

  const TempDir dir_;
  const std::string path_ = dir_.File("t");
  std::string bytes_;
};

TEST_F(TableFileTest, BlocksFollowEachOtherAndTheirKeysSayWhatIsInThem) {
  const auto table = TableFile::Open(path_).value();
  ASSERT_GT(table->blocks().size(), 3u);
  int64_t end = 0;
  for (const TableFile::Block& block : table->blocks()) {
    EXPECT_EQ(block.offset, end);
    end += block.size + 5;
  }
  std::vector<std::string> keys;
  EST_ASSERT_OK(table->WalkEntries([&](const std::string& key, const TableFile::ValuePlace& place) {
    const TableFile::Block& block = table->blocks()[place.block];
    EXPECT_LE(key, block.last_key);
    EXPECT_LT(block.offset, place.begin);
    EXPECT_LE(place.end, block.offset + block.size);
    EXPECT_EQ(bytes_.substr(static_cast<size_t>(place.begin),
                            static_cast<size_t>(place.end - place.begin)),
              key.empty() ? "header" : std::string(30, 'v'));
    keys.push_back(key);
    return absl::OkStatus();
  }));
  ASSERT_EQ(keys.size(), 501u);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(keys.back(), "layer_1499/kernel");
}

// A block as leveldb writes it, of entries that share nothing.
std::string BlockOf(const std::map<std::string, std::string>& entries) {
  std::string block;
  for (const auto& [key, value] : entries) {
    AppendVarint(0, &block);
    AppendVarint(key.size(), &block);
    AppendVarint(value.size(), &block);
    block += key + value;
  }
  return block + std::string("\0\0\0\0\1\0\0\0", 8);  // one restart, at 0
}

constexpr char kPlain = 0, kSnappy = 1;

// Appends a block of type `type` and its crc32c to `file`, and returns its handle.
std::string Append(std::string block, char type, std::string* file) {
  std::string handle;
  AppendVarint(file->size(), &handle);
  AppendVarint(block.size(), &handle);
  block.push_back(type);
  const uint32_t crc = MaskCrc32c(ExtendCrc32c(0, block));
  *file += block + std::string(reinterpret_cast<const char*>(&crc), sizeof(crc));
  return handle;
}

// A whole table: the data blocks in `blocks`, then a meta and an index block, then a footer.
std::string TableOf(std::string blocks, const std::map<std::string, std::string>& handles) {
  const std::string meta = Append(BlockOf({}), kPlain, &blocks);
  std::string footer = meta + Append(BlockOf(handles), kPlain, &blocks);
  footer.resize(40, '\0');
  return blocks + footer + "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
}

// Two names for the bytes of one block would be two types of values at one place.
TEST_F(TableFileTest, BlocksThatOverlapAreRefused) {
  std::string bytes;
  const std::string data = Append(BlockOf({{"a", "1"}}), kPlain, &bytes);
  const std::string next = Append(BlockOf({{"b", "2"}}), kPlain, &bytes);
  for (const auto& [second, is_good] : {std::pair(next, true), std::pair(data, false)}) {
    EST_ASSERT_OK(WriteFileAtomically(path_, TableOf(bytes, {{"a", data}, {"b", second}})));
    const absl::Status status = TableFile::Open(path_).status();
    EXPECT_EQ(status.ok(), is_good) << status;
    if (is_good) continue;
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                                 HasSubstr("at offset 0 begins before the end of the one before")));
  }
}

// The crc32c is right, so that snappy is what finds the damage.
TEST_F(TableFileTest, ABlockThatIsNotWholeSnappyIsDamage) {
  std::string whole;
  const std::string plain = BlockOf({{"a", std::string(200, 'v')}});
  snappy::Compress(plain.data(), plain.size(), &whole);
  ASSERT_LT(whole.size(), plain.size() / 4) << "nothing was compressed";

  std::vector<std::string> damaged = {
      "\x09\x04\x61\x62\x0d\x03"s,          // a copy from before the beginning
      "\x09\x04\x61\x62\x0d\x00"s,          // a copy with offset 0
      "\x08\x04\x61\x62\x0d\x02"s,          // more bytes than it states
      "\xff\xff\xff\xff\x0f\x00\x78"s,      // states 4 GiB
      "\xff\xff\xff\xff\xff\x0f\x00\x78"s,  // states a size of more than 32 bits
  };
  for (size_t size = 0; size < whole.size(); ++size) damaged.push_back(whole.substr(0, size));
  for (const std::string& block : damaged) {
    std::string bytes;
    const std::string handle = Append(block, kSnappy, &bytes);
    ASSERT_TRUE(WriteFileAtomically(path_, TableOf(bytes, {{"a", handle}})).ok());
    const absl::Status status = ReadAll(*TableFile::Open(path_).value());
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(path_),
                      HasSubstr(absl::StrCat("the block of ", block.size(),
                                             " bytes at offset 0: it is "
                                             "compressed, but not by snappy")),
                      HasSubstr("it holds every entry, of which none can be read")));
  }

  std::string bytes;
  const std::string handle = Append(whole, kSnappy, &bytes);
  ASSERT_TRUE(WriteFileAtomically(path_, TableOf(bytes, {{"a", handle}})).ok());
  const absl::Status status = ReadAll(*TableFile::Open(path_).value());
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(TableFileTest, DamageIsToldWithItsBlockAndTheVariablesOfIt) {
  const auto table = TableFile::Open(path_).value();
  const TableFile::Block& first = table->blocks()[0];
  EXPECT_THAT(
      Damage(first.size / 2),
      AllOf(HasSubstr(path_),
            HasSubstr(absl::StrCat("block of ", first.size, " bytes at offset 0: its crc32c is ")),
            HasSubstr("it holds the entries from the first up to \"layer_1"),
            HasSubstr(" variables, layer_1000/kernel, ")));
  EXPECT_THAT(Damage(static_cast<int64_t>(bytes_.size()) - 1),
              AllOf(HasSubstr("the footer at offset"), HasSubstr("every variable is lost")));
  EXPECT_THAT(Damage(static_cast<int64_t>(bytes_.size()) - 60),
              AllOf(HasSubstr("the index block of "), HasSubstr("every variable is lost")));
  EXPECT_EQ(Damage(first.size).substr(0, path_.size()), path_) << "the type of a block";
}

TEST_F(TableFileTest, WhereEntriesAreSteppedOverTheMessageSaysThatMoreMayBeLost) {
  // The fourth entry's first length: how much of its key is that of the key before.
  size_t at = bytes_.find("2/kernel");
  ASSERT_LT(at, bytes_.find("3/kernel"));
  at = bytes_.find("3/kernel", at);
  ASSERT_NE(at, std::string::npos);
  std::string damaged = bytes_;
  damaged[at - 3] = '\x7f';
  EST_ASSERT_OK(WriteFileAtomically(path_, damaged));
  const absl::Status status = TableFile::Open(path_).value()->VerifyBlock(0);
  EXPECT_THAT(status, ErrorIs(AllOf(HasSubstr("layer_1000/kernel"),
                                    HasSubstr("as far as they can be read"))));
  EXPECT_THAT(Damage(static_cast<int64_t>(bytes_.find("vvvv"))), Not(HasSubstr("as far as")));
}

// A disk that fails now may not fail at the next try: nothing is known of the file.
TEST_F(TableFileTest, AnErrorOfTheFileSystemIsNoDamage) {
  int num_reads = 0;
  {
    const ScopedFaultInjector faults([&](FileOperation operation, absl::string_view /*path*/) {
      num_reads += operation == FileOperation::kRead;
      return Fault();
    });
    EST_ASSERT_OK(ReadAll(*TableFile::Open(path_).value()));
  }
  ASSERT_GT(num_reads, 8) << "footer, meta block, index block, data blocks";
  for (int failing = 0; failing < num_reads; ++failing) {
    int read = 0;
    const ScopedFaultInjector faults([&](FileOperation operation, absl::string_view /*path*/) {
      const bool fails = operation == FileOperation::kRead && read++ == failing;
      return Fault{.status = fails ? absl::UnavailableError("stale handle") : absl::OkStatus(),
                   .truncate_after_bytes = {}};
    });
    const auto table = TableFile::Open(path_);
    const absl::Status status = table.ok() ? ReadAll(**table) : table.status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable)) << failing;
  }
}

TEST_F(TableFileTest, AFileThatBecomesShorterIsDamage) {
  const auto table = TableFile::Open(path_).value();
  ASSERT_EQ(::truncate(path_.c_str(), 100), 0);
  const absl::Status status = ReadAll(*table);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                               AllOf(HasSubstr(path_), HasSubstr("the file was truncated: "))));
}

TEST_F(TableFileTest, WhatIsNoTableIsToldSo) {
  EST_ASSERT_OK(WriteFileAtomically(path_, std::string(100, 'x')));
  EXPECT_THAT(TableFile::Open(path_), ErrorHas("its last 8 bytes are not those of a table"));
  EST_ASSERT_OK(WriteFileAtomically(path_, "x"));
  EXPECT_THAT(TableFile::Open(path_), ErrorHas("it ends at offset 1, too short for a footer"));
}

TEST_F(TableFileTest, OfADamagedBlockWithoutATypeTheMessageSaysThatMoreMayBeLost) {
  int num_reads = 0;
  const auto verify_block = [&](int failing) {
    const auto table = TableFile::Open(path_).value();
    num_reads = 0;
    const ScopedFaultInjector faults([&](FileOperation operation, absl::string_view /*path*/) {
      const bool fails = operation == FileOperation::kRead && num_reads++ == failing;
      return Fault{.status = fails ? absl::UnavailableError("stale handle") : absl::OkStatus(),
                   .truncate_after_bytes = {}};
    });
    return table->VerifyBlock(0);
  };
  EST_ASSERT_OK(verify_block(-1));
  // That of the type follows those that find the damage.
  const int read_of_type = num_reads;
  std::string damaged = bytes_;
  damaged[damaged.find("vvvv")] = 'w';
  EST_ASSERT_OK(WriteFileAtomically(path_, damaged));
  EXPECT_THAT(verify_block(-1), ErrorIs(Not(HasSubstr("as far as they can be read"))));
  EXPECT_THAT(verify_block(read_of_type), ErrorHas("as far as they can be read"));
}

}  // namespace
}  // namespace estimator
