// What a WarmStartSettings may say, and how it is said.
#include "estimator/training/warm_start/warm_start_settings.h"

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = VarsToWarmStart::Kind;

TEST(WarmStartSettings, AStringIsAnExpressionForTrainableVariablesAListForAll) {
  EXPECT_EQ(WarmStartSettings{}.vars_to_warm_start.kind(), Kind::kModel);
  EXPECT_THAT(WarmStartSettings{}.vars_to_warm_start.words(), ElementsAre(".*"));
  const WarmStartSettings list{.vars_to_warm_start = {"a", "b"}};
  EXPECT_EQ(list.vars_to_warm_start.kind(), Kind::kAll);
  EXPECT_THAT(list.vars_to_warm_start.words(), ElementsAre("a", "b"));
  const WarmStartSettings one{.vars_to_warm_start = {"a"}};
  EXPECT_EQ(one.vars_to_warm_start.kind(), Kind::kAll);
  const WarmStartSettings named{.vars_to_warm_start = VarsToWarmStart::Named({"a"})};
  EXPECT_EQ(named.vars_to_warm_start.kind(), Kind::kNamed);
  const WarmStartSettings none{.vars_to_warm_start = std::nullopt};
  EXPECT_EQ(none.vars_to_warm_start.kind(), Kind::kOnlyVocab);
}

TEST(WarmStartSettings, APathStandsForSettingsWithDefaults) {
  EXPECT_FALSE(WarmStartFrom().settings().has_value());
  EXPECT_FALSE(WarmStartFrom(std::nullopt).settings().has_value());
  EXPECT_EQ(WarmStartFrom("/m").settings()->ckpt_to_initialize_from, "/m");
  EXPECT_EQ(WarmStartFrom("/m").settings()->vars_to_warm_start.kind(), Kind::kModel);
}

TEST(WarmStartSettings, AnEmptyPathIsRefusedAsInTensorFlow) {
  EXPECT_THAT(ValidateWarmStart(*WarmStartFrom("").settings()),
              ErrorHas("`ckpt_to_initialize_from` MUST be set in WarmStartSettings: the prefix of "
                       "a checkpoint, a model_dir, or a SavedModel's folder"));
}

TEST(WarmStartSettings, AllThatIsWrongIsSaidAtOnce) {
  const WarmStartSettings settings{.ckpt_to_initialize_from = "/m",
                                   .vars_to_warm_start = "(",
                                   .var_name_to_vocab_info = {{"w",
                                                               {.new_vocab = "",
                                                                .new_vocab_size = 0,
                                                                .num_oov_buckets = -1,
                                                                .old_vocab = "old",
                                                                .old_vocab_size = -2,
                                                                .axis = 2}}}};
  EXPECT_THAT(ValidateWarmStart(settings),
              ErrorIs(AllOf(
                  HasSubstr("'(' is not a regular expression"), HasSubstr("new_vocab is not given"),
                  HasSubstr("new_vocab_size must be > 0, got 0"),
                  HasSubstr("num_oov_buckets must be >= 0, got -1"),
                  HasSubstr("old_vocab_size must be > 0, or -1 for all words, got -2"),
                  HasSubstr("The only supported values for the axis argument are 0 and 1"))));
}

}  // namespace
}  // namespace estimator
