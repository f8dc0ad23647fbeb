// Whatever happens to the files of a V1 checkpoint is detected, never crashes, and is told with the
// file, the variables and the offset.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/testing/corruption.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

class V1CorruptionTest : public ::testing::Test {
 protected:
  void Copy(const std::string& name) {
    contents_[name] = ReadFile("testdata/checkpoints_v1/" + name).value();
    EST_ASSERT_OK(ReplaceFile(dir_.File(name), contents_[name]));
  }
  // Of the checkpoint `prefix` with other contents in one file.
  void ExpectLoss(const std::string& prefix, const std::string& name, absl::string_view damaged) {
    const std::string path = dir_.File(name);
    EST_ASSERT_OK(ReplaceFile(path, damaged));
    const absl::Status status = ReadEverything(dir_.File(prefix));
    ASSERT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)));
    ASSERT_THAT(status, ErrorHas("at offset "));
    ASSERT_TRUE(SaysWhatIsLost(status.message())) << status;
  }
  void ExpectLossAt(const std::string& prefix, const std::string& name, size_t at) {
    SCOPED_TRACE(absl::StrCat(name, " byte ", at));
    std::string damaged = contents_[name];
    damaged[at] = static_cast<char>(damaged[at] ^ (at % 9 == 8 ? 0xff : 1 << (at % 9)));
    ExpectLoss(prefix, name, damaged);
  }

  const TempDir dir_;
  std::map<std::string, std::string> contents_;
};

TEST_F(V1CorruptionTest, EveryFlippedByteIsDataLossNamingFileVariablesAndOffset) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"all_dtypes", "all_dtypes"},
      {"partitioned", "partitioned"},
      {"sharded", "sharded-00000-of-00002"},
      {"sharded", "sharded-00001-of-00002"}};
  for (const auto& [prefix, name] : files) Copy(name);
  for (const auto& [prefix, name] : files) {
    for (size_t at = 0; at < contents_[name].size(); ++at) {
      ASSERT_NO_FATAL_FAILURE(ExpectLossAt(prefix, name, at));
    }
    EST_ASSERT_OK(ReplaceFile(dir_.File(name), contents_[name]));
    EST_EXPECT_OK(ReadEverything(dir_.File(prefix)));
  }
}

TEST_F(V1CorruptionTest, EveryTruncationIsDataLossNamingFileVariablesAndOffset) {
  for (const std::string name : {"all_dtypes", "partitioned"}) {
    Copy(name);
    // Two bytes are the least that tell a damaged V1 checkpoint from any other file.
    for (size_t size = 2; size < contents_[name].size(); ++size) {
      ASSERT_NO_FATAL_FAILURE(ExpectLoss(name, name, contents_[name].substr(0, size))) << size;
    }
  }
}

TEST_F(V1CorruptionTest, DamageToALargeBlockNamesTheVariablesOfThatBlockOnly) {
  Copy("blocks");
  const size_t size = contents_["blocks"].size();
  std::vector<size_t> places;
  for (size_t at = 0; at < size; at += at < 1000 || at > size - 1200 ? 7 : 9973)
    places.push_back(at);
  for (const size_t at : places) ASSERT_NO_FATAL_FAILURE(ExpectLossAt("blocks", "blocks", at));
  // In the zeros of c/large: it and what lies beside it is lost, the list of tensors too.
  std::string damaged = contents_["blocks"];
  damaged[100000] ^= 1;
  EST_ASSERT_OK(ReplaceFile(dir_.File("blocks"), damaged));
  const absl::Status status = BundleReader::Open(dir_.File("blocks")).status();
  EXPECT_THAT(status, ErrorHas("those of 3 variables, a/small, b/small, c/large"));
}

}  // namespace
}  // namespace estimator
