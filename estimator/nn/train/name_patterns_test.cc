#include "estimator/nn/train/name_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace estimator::train {
namespace {

TEST(NamePatternsTest, APatternIsSearchedAnywhereInTheName) {
  EXPECT_TRUE(MatchesAny("bert/encoder/LayerNorm/gamma", {"LayerNorm", "bias"}));
  EXPECT_TRUE(MatchesAny("dense/bias", {"LayerNorm", "bias$"}));
  EXPECT_FALSE(MatchesAny("dense/kernel", {"LayerNorm", "bias"}));
  EXPECT_FALSE(MatchesAny("dense/kernel", {}));
}

TEST(NamePatternsTest, ABrokenPatternIsNamedWithItsOption) {
  const absl::Status status = CheckPatterns("exclude_from_weight_decay", {"bias", "("});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              ::testing::AllOf(::testing::HasSubstr("exclude_from_weight_decay"),
                               ::testing::HasSubstr("'('")));
  EXPECT_FALSE(MatchesAny("(", {"("}));
}

}  // namespace
}  // namespace estimator::train
