#include "estimator/checkpoint/table/table_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/checkpoint/table/varint.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

constexpr char kOneRestart[] = "\0\0\0\0\1\0\0\0";

// Two entries, "ab" -> "1" and "ac" -> "23", the second with a byte of the first's key.
std::string TwoEntries() {
  return std::string("\0\2\1ab1", 6) + std::string("\1\1\2c23", 6) + std::string(kOneRestart, 8);
}

// "key=value" of every entry, then what ended the walk.
std::vector<std::string> Walk(const std::string& block) {
  auto walker = BlockWalker::Open(block);
  if (!walker.ok()) return {std::string(walker.status().message())};
  std::vector<std::string> found;
  for (;;) {
    const auto more = walker->Next();
    if (!more.ok()) found.emplace_back(more.status().message());
    if (!more.ok() || !*more) return found;
    found.push_back(walker->key() + "=" +
                    block.substr(static_cast<size_t>(walker->value_offset()),
                                 static_cast<size_t>(walker->value_size())));
  }
}

TEST(BlockWalker, PutsKeysTogetherFromTheOnesBefore) {
  EXPECT_EQ(Walk(TwoEntries()), (std::vector<std::string>{"ab=1", "ac=23"}));
  EXPECT_EQ(Walk(std::string(kOneRestart, 8)), std::vector<std::string>());
}

TEST(BlockWalker, LengthsThatDoNotFitAreDataLossAtTheirOffset) {
  for (const auto& [at, byte] : {std::pair<size_t, char>{6, 3}, {7, 9}, {8, 100}, {6, -1}}) {
    std::string block = TwoEntries();
    block[at] = byte;
    const auto found = Walk(block);
    ASSERT_EQ(found.size(), 2u) << at;
    EXPECT_EQ(found[1].substr(0, 13), "byte 6 of it:") << found[1];
  }
  EXPECT_EQ(Walk("abc")[0], "byte 0 of it: too short for a block");
  EXPECT_EQ(Walk(std::string("\0\0\0\0\0\0\0\0", 8))[0], "byte 4 of it: it cannot have 0 restarts");
}

TEST(BlockWalker, KeysThatDoNotGrowAreDataLoss) {
  std::string block = TwoEntries();
  block[9] = 'b';
  EXPECT_EQ(Walk(block)[1], "byte 6 of it: the keys are not in order");
}

TEST(BlockWalker, GoesOnAtTheNextRestartAfterDamage) {
  // The restarts are at 0 and 12.
  std::string block = std::string("\0\2\1ab1", 6) + std::string("\1\1\2c23", 6) +
                      std::string("\0\1\1d4", 5) + std::string("\0\0\0\0\14\0\0\0\2\0\0\0", 12);
  block[6] = 9;
  auto walker = BlockWalker::Open(block).value();
  EXPECT_TRUE(walker.Next().value());
  EXPECT_FALSE(walker.Next().ok());
  ASSERT_TRUE(walker.SkipToRestart());
  EXPECT_TRUE(walker.Next().value());
  EXPECT_EQ(walker.key(), "d");
  EXPECT_FALSE(walker.Next().value());
  EXPECT_FALSE(walker.SkipToRestart());
}

// Every restart was looked at again after every damaged entry: 65536 of them are 2 billion reads.
TEST(BlockWalker, LooksAtEachRestartOnceHoweverMuchIsDamaged) {
  constexpr uint32_t kRestarts = 4096;
  std::string block(kRestarts + 64, '\xff');  // no entry begins anywhere
  const auto append = [&block](uint32_t word) {
    for (int i = 0; i < 4; ++i) block.push_back(static_cast<char>(word >> (8 * i)));
  };
  for (uint32_t i = 0; i < kRestarts; ++i) append(i);
  append(kRestarts);
  int64_t num_words = 0;
  BlockWalker walker = BlockWalker::Open(
                           [&](int64_t offset, size_t n, char* bytes) {
                             num_words += n == sizeof(uint32_t);
                             block.copy(bytes, n, static_cast<size_t>(offset));
                             return absl::OkStatus();
                           },
                           static_cast<int64_t>(block.size()))
                           .value();
  uint32_t num_entries = 0;
  do {
    EXPECT_FALSE(walker.Next().ok());
    ++num_entries;
  } while (walker.SkipToRestart());
  EXPECT_EQ(num_entries, kRestarts);
  EXPECT_LE(num_words, kRestarts + 2);
}

// Entries that begin within a damaged one had their keys read again and again.
TEST(BlockWalker, ReadsNoMoreBytesOfKeysThanItWouldHold) {
  constexpr int64_t kKey = 2 << 20;
  constexpr uint32_t kRestarts = 1024;
  // At each restart "b", then a long key that is not greater: an error.
  const std::string two("\0\1\0b\0\x80\x80\x80\1\0a", 11);
  std::string block;
  for (uint32_t i = 0; i < kRestarts; ++i) block += two;
  block.append(static_cast<size_t>(kKey), 'a');
  const auto append = [&block](uint32_t word) {
    for (int i = 0; i < 4; ++i) block.push_back(static_cast<char>(word >> (8 * i)));
  };
  for (uint32_t i = 0; i < kRestarts; ++i) append(i * static_cast<uint32_t>(two.size()));
  append(kRestarts);
  int64_t num_bytes = 0;
  BlockWalker walker = BlockWalker::Open(
                           [&](int64_t offset, size_t n, char* bytes) {
                             num_bytes += static_cast<int64_t>(n);
                             block.copy(bytes, n, static_cast<size_t>(offset));
                             return absl::OkStatus();
                           },
                           static_cast<int64_t>(block.size()))
                           .value();
  int num_errors = 0;
  do {
    absl::StatusOr<bool> more = true;
    while (more.ok() && *more) more = walker.Next();
    num_errors += !more.ok();
  } while (walker.SkipToRestart());
  EXPECT_GT(num_errors, 1000);
  EXPECT_LT(num_bytes, kMaxKeyBytes + (8 << 20));  // 2 GiB if each is read
}

TEST(BlockWalker, ReadsAKeyThatIsLongerThanItsWindow) {
  const std::string key(10000, 'k');
  std::string block("\0\x90\x4e\1", 4);
  block += key + "v" + std::string(kOneRestart, 8);
  EXPECT_EQ(Walk(block), std::vector<std::string>{key + "=v"});
}

// Each key is the one before and a letter: a file of 1 MiB would fill any memory.
TEST(BlockWalker, KeysThatShareTooMuchAreRefused) {
  constexpr size_t kLong = 1 << 20;
  std::string block;
  for (size_t i = 0; i < 300; ++i) {
    const size_t fresh = i == 0 ? kLong : 1;
    AppendVarint(i == 0 ? 0 : kLong + i - 1, &block);
    AppendVarint(fresh, &block);
    AppendVarint(0, &block);
    block.append(fresh, 'k');
  }
  block += std::string(kOneRestart, 8);
  BlockWalker walker = BlockWalker::Open(block).value();
  absl::StatusOr<bool> more = true;
  for (int i = 0; i < 300 && more.ok() && *more; ++i) more = walker.Next();
  EXPECT_THAT(more, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(kTooManyKeyBytes)));
}

}  // namespace
}  // namespace estimator
