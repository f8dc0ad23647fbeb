#include "estimator/base/name_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

NamePattern Compiled(const std::string& pattern) {
  return NamePattern::Compile("option", pattern).value();
}

absl::Status ErrorOf(const std::string& pattern) {
  const absl::Status status = NamePattern::Compile("--include", pattern).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << pattern.substr(0, 100);
  return status;
}

TEST(NamePatternTest, FindsMatchesTheStartAndMatchesAllAsPythonsThreeDo) {
  const NamePattern dense = Compiled("dense");
  EXPECT_TRUE(dense.FoundIn("my/dense/kernel"));
  EXPECT_FALSE(dense.FoundIn("conv2d/kernel"));
  EXPECT_TRUE(dense.MatchesStartOf("dense_1/kernel"));
  EXPECT_FALSE(dense.MatchesStartOf("my/dense/kernel"));
  EXPECT_FALSE(dense.MatchesAllOf("dense/kernel"));
  EXPECT_TRUE(Compiled("dense/.*").MatchesAllOf("dense/kernel"));
}

TEST(NamePatternTest, AnErrorNamesTheOptionTheExpressionAndWhatIsWrong) {
  EXPECT_THAT(ErrorOf("dense/(kernel"),
              ErrorIs(AllOf(HasSubstr("--include: 'dense/(kernel' is not a regular expression"),
                            HasSubstr("Mismatched '(' and ')'"), Not(HasSubstr("Python")))));
}

TEST(NamePatternTest, WhatOnlyPythonKnowsIsSaidToBeThat) {
  EXPECT_THAT(ErrorOf("(?i)bias"), ErrorHas("(?i of Python's expressions"));
  EXPECT_THAT(ErrorOf("(?P<layer>a)(?<!b)c"), ErrorHas("(?P and (?< of Python's expressions"));
}

TEST(NamePatternTest, AllBrokenExpressionsAreNamedTogether) {
  const absl::Status status =
      CompileNamePatterns("exclude_from_weight_decay", {"bias", "(", "[z-a]"}).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               AllOf(HasSubstr("exclude_from_weight_decay: '('"),
                                     HasSubstr("exclude_from_weight_decay: '[z-a]'"),
                                     Not(HasSubstr("'bias'")))));
}

TEST(NamePatternTest, AnyOfSeveralIsEnoughAndABrokenOneFindsNothing) {
  EXPECT_TRUE(AnyFoundIn("bert/encoder/LayerNorm/gamma", {"LayerNorm", "bias"}));
  EXPECT_TRUE(AnyFoundIn("dense/bias", {"LayerNorm", "bias$"}));
  EXPECT_FALSE(AnyFoundIn("dense/kernel", {"LayerNorm", "bias"}));
  EXPECT_FALSE(AnyFoundIn("dense/kernel", {}));
  EXPECT_FALSE(AnyFoundIn("(", {"("}));
}

// By way of all its prefixes this takes 2^200 steps.
TEST(NamePatternTest, NoExpressionTakesExponentialTime) {
  const std::string name(200, 'a');
  EXPECT_FALSE(Compiled("(a*)*b").MatchesAllOf(name));
  EXPECT_TRUE(Compiled("(a*)*b").MatchesAllOf(name + "b"));
}

TEST(NamePatternTest, AnExpressionThatIsTooLongTooDeepOrRepeatsTooMuchIsAnErrorAndNoCrash) {
  EXPECT_THAT(ErrorOf(std::string(1 << 20, 'a')), ErrorHas("has 1048576 characters"));
  const std::string deep = std::string(5000, '(') + "a" + std::string(5000, ')');
  EXPECT_THAT(ErrorOf(deep.substr(1, 9998)), ErrorHas("deep"));
  EXPECT_THAT(ErrorOf("(a{1000}){1000}"), ErrorHas("smaller numbers in {}"));
  std::string names = "a";
  while (names.size() < 9000) names += "|dense_" + std::to_string(names.size());
  EXPECT_TRUE(Compiled(names).MatchesAllOf("dense_1"));
}

TEST(NamePatternTest, GroupsCanBeReferredTo) {
  EXPECT_TRUE(Compiled("(layer_\\d)/\\1").FoundIn("layer_3/layer_3/kernel"));
  EXPECT_FALSE(Compiled("(layer_\\d)/\\1").FoundIn("layer_3/layer_4/kernel"));
}

}  // namespace
}  // namespace estimator
