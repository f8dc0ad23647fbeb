#include "tools/train_graph/feature_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<FileFeature> Parse(const std::string& text) {
  const auto features = ParseFeatureFile(text, "f.txt");
  EXPECT_TRUE(features.ok()) << features.status();
  return features.ok() ? *features : std::vector<FileFeature>();
}

std::string Error(const std::string& text) {
  const auto features = ParseFeatureFile(text, "f.txt");
  EXPECT_TRUE(absl::IsInvalidArgument(features.status())) << features.status();
  return std::string(features.status().message());
}

TEST(FeatureFile, KeepsTheOrderOfTheLines) {
  const auto features = Parse(
      "# a comment\n"
      "\n"
      "words  int64    [3]\n"
      "image  raw:u8   [28,28]\r\n"
      "\tlabel int32   []\n");
  ASSERT_EQ(features.size(), 3u);
  EXPECT_EQ(features[0].name, "words");
  EXPECT_EQ(features[0].dtype, DType::kInt64);
  EXPECT_EQ(features[0].shape, Shape({3}));
  EXPECT_EQ(std::get<FixedLenFeature>(features[0].spec).default_value, std::nullopt);
  EXPECT_TRUE(features[1].raw);
  EXPECT_EQ(features[1].dtype, DType::kUint8);
  EXPECT_EQ(features[1].shape, Shape({28, 28}));
  EXPECT_EQ(std::get<FixedLenFeature>(features[1].spec).dtype, DType::kString);
  EXPECT_EQ(std::get<FixedLenFeature>(features[1].spec).shape, Shape());
  EXPECT_EQ(features[2].dtype, DType::kInt32);
  EXPECT_EQ(features[2].shape, Shape());
}

TEST(FeatureFile, ReadsDefaults) {
  const auto features = Parse(
      "a float32 [2] default=0.5\n"
      "b int64 [2] default=3,-4\n"
      "c string [] default=none\n"
      "d int32 [] default=7\n");
  ASSERT_EQ(features.size(), 4u);
  const auto value = [&](size_t i) {
    return *std::get<FixedLenFeature>(features[i].spec).default_value;
  };
  EXPECT_THAT(value(0).values<float>(), ElementsAre(0.5f, 0.5f));
  EXPECT_THAT(value(1).values<int64_t>(), ElementsAre(3, -4));
  EXPECT_THAT(value(2).values<std::string>(), ElementsAre("none"));
  EXPECT_THAT(value(3).values<int32_t>(), ElementsAre(7));
}

TEST(FeatureFile, PadsFeaturesOfVariableLength) {
  const auto features = Parse("words int64 var[12] default=-1\nscores float32 var[2]\n");
  ASSERT_EQ(features.size(), 2u);
  const auto words = std::get<VarLenFeature>(features[0].spec);
  EXPECT_EQ(words.max_length, 12);
  EXPECT_EQ(words.default_value, -1);
  EXPECT_EQ(features[0].shape, Shape({12}));
  EXPECT_EQ(std::get<VarLenFeature>(features[1].spec).default_value, 0);
}

TEST(FeatureFile, RefusesASparseTensorWithTheReason) {
  EXPECT_THAT(Error("words int64 var"),
              AllOf(HasSubstr("f.txt:1: "), HasSubstr("SparseTensor"), HasSubstr("write var[N]")));
}

TEST(FeatureFile, ListsAllLinesThatAreWrong) {
  EXPECT_THAT(
      Error("a float32\n"
            "b float33 []\n"
            "c uint8 []\n"
            "d float32 [2\n"
            "e float32 [-1]\n"
            "f float32 [2] 0.5\n"
            "g float32 [2] default=1,2,3\n"
            "h int64 [] default=0.5\n"
            "i int32 [] default=3000000000\n"
            "j float32 []\n"
            "j float32 []\n"
            "k raw:string [2]\n"
            "l raw:u8 [2] default=1\n"
            "m string var[3] default=x\n"
            "n float32 [1000000,1000000]\n"),
      AllOf(HasSubstr("f.txt:1: has 2 words; write NAME TYPE SHAPE [default=VALUE]"),
            HasSubstr("f.txt:2: "), HasSubstr("f.txt:3: Examples do not store uint8"),
            HasSubstr("f.txt:4: the shape '[2' is not"), HasSubstr("f.txt:5: "),
            HasSubstr("f.txt:6: '0.5' is not default=VALUE"),
            HasSubstr("f.txt:7: the default has 3 values, the shape [2] has 2"),
            HasSubstr("f.txt:8: the default '0.5'"), HasSubstr("f.txt:9: the default '3000000000'"),
            HasSubstr("f.txt:11: the feature 'j' is there twice"), HasSubstr("f.txt:12: "),
            HasSubstr("f.txt:13: a feature of type raw"), HasSubstr("f.txt:14: strings are padded"),
            HasSubstr("f.txt:15: ")));
}

TEST(FeatureFile, RefusesAFileWithoutFeatures) {
  EXPECT_THAT(Error("# nothing\n"), HasSubstr("f.txt: has no feature"));
}

}  // namespace
}  // namespace estimator
