#include "tools/to_tfrecord/splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(MakeSplits, ANameAloneGetsAllSamplesInOrder) {
  EST_ASSERT_OK_AND_ASSIGN(const auto splits, MakeSplits("test", 4, /*shuffle=*/false, 0));
  ASSERT_EQ(splits.size(), 1u);
  EXPECT_EQ(splits[0].name, "test");
  EXPECT_THAT(splits[0].samples, ElementsAre(0, 1, 2, 3));
}

TEST(MakeSplits, FractionsDivideAPermutationThatDependsOnTheSeedOnly) {
  EST_ASSERT_OK_AND_ASSIGN(const auto splits, MakeSplits("train=0.7,test=.3", 10, true, 5));
  ASSERT_EQ(splits.size(), 2u);
  EXPECT_EQ(splits[0].samples.size(), 7u);
  EXPECT_EQ(splits[1].samples.size(), 3u);
  std::vector<int64_t> all = splits[0].samples;
  all.insert(all.end(), splits[1].samples.begin(), splits[1].samples.end());
  EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
  EST_ASSERT_OK_AND_ASSIGN(const auto again, MakeSplits("train=0.7,test=.3", 10, true, 5));
  EXPECT_EQ(again[0].samples, splits[0].samples);
  EST_ASSERT_OK_AND_ASSIGN(const auto other, MakeSplits("train=0.7,test=.3", 10, true, 6));
  EXPECT_NE(other[0].samples, splits[0].samples);
  std::sort(all.begin(), all.end());
  EXPECT_THAT(all, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

TEST(MakeSplits, MistakesAreNamed) {
  const auto message = [](const std::string& splits) {
    return std::string(MakeSplits(splits, 3, true, 0).status().message());
  };
  EXPECT_THAT(message("a=0.5,b=0.4"), HasSubstr("the sum of the fractions is 0.9"));
  EXPECT_THAT(message("a,b"), HasSubstr("\"a\" has no positive fraction"));
  EXPECT_THAT(message("a=-1,b=2"), HasSubstr("\"a=-1\" has no positive fraction"));
  EXPECT_THAT(message("a=nan"), HasSubstr("no positive fraction"));
  EXPECT_THAT(message("a=.5,a=.5"), HasSubstr("occurs twice"));
  EXPECT_THAT(message("a/b"), HasSubstr("cannot be the beginning of file names"));
  EXPECT_THAT(message(""), HasSubstr("cannot be the beginning of file names"));
  EXPECT_THAT(message("a=0.99,b=0.01"), HasSubstr("\"b\" would have none of the 3 images"));
}

}  // namespace
}  // namespace estimator
