#include "estimator/data/parsing/parse_example.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/data/parsing/example_builder.h"

namespace estimator {
namespace {

std::string TestExample() {
  return ExampleBuilder()
      .Ints("label", {3})
      .Floats("box", {1, 2, 3, 4})
      .Bytes("image", {"abc"})
      .Serialize();
}

absl::Status ErrorOf(const FeatureSpecs& specs) {
  return ParseSingleExample(TestExample(), specs).status();
}

TEST(ParseExample, FixedLengthFeaturesHaveTheirShape) {
  const ArrayMap parsed =
      ParseSingleExample(TestExample(),
                         {{"label", FixedLenFeature{.dtype = DType::kInt32}},
                          {"box", FixedLenFeature{.dtype = DType::kFloat32, .shape = {2, 2}}},
                          {"image", FixedLenFeature{.dtype = DType::kString}},
                          {"weight", FixedLenFeature{.dtype = DType::kFloat32,
                                                     .default_value = Array::Scalar(0.5f)}}})
          .value();
  EXPECT_EQ(parsed.Get("label")->scalar<int32_t>(), 3);
  EXPECT_EQ(Compare(*parsed.Get("box"), Array::Of<float>({2, 2}, {1, 2, 3, 4})).report, "");
  EXPECT_EQ(parsed.Get("image")->scalar<std::string>(), "abc");
  EXPECT_EQ(parsed.Get("weight")->scalar<float>(), 0.5f);
}

TEST(ParseExample, VariableLengthFeaturesArePaddedAndCounted) {
  const ArrayMap parsed =
      ParseSingleExample(
          TestExample(),
          {{"box", VarLenFeature{.dtype = DType::kFloat32, .max_length = 6, .default_value = -1}},
           {"label", VarLenFeature{.dtype = DType::kInt64}},
           {"none", VarLenFeature{.dtype = DType::kInt64, .max_length = 2}}})
          .value();
  EXPECT_EQ(Compare(*parsed.Get("box"), Array::Of<float>({6}, {1, 2, 3, 4, -1, -1})).report, "");
  EXPECT_EQ(parsed.Get("box_length")->scalar<int32_t>(), 4);
  EXPECT_EQ(Compare(*parsed.Get("label"), Array::Of<int64_t>({1}, {3})).report, "");
  EXPECT_EQ(Compare(*parsed.Get("none"), Array::Of<int64_t>({2}, {0, 0})).report, "");
  EXPECT_EQ(parsed.Get("none_length")->scalar<int32_t>(), 0);
}

TEST(ParseExample, SequencesOfRowsArePadded) {
  const FixedLenSequenceFeature pairs{.dtype = DType::kFloat32, .shape = {2}, .max_length = 3};
  const ArrayMap parsed = ParseSingleExample(TestExample(), {{"box", pairs}}).value();
  EXPECT_EQ(Compare(*parsed.Get("box"), Array::Of<float>({3, 2}, {1, 2, 3, 4, 0, 0})).report, "");
}

TEST(ParseExample, ErrorsHaveTensorFlowsWords) {
  EXPECT_THAT(ErrorOf({{"image", FixedLenFeature{.dtype = DType::kInt64}}}),
              ErrorIs("Key: image.  Data types don't match. Expected type: int64, got string"));
  EXPECT_THAT(ErrorOf({{"weight", FixedLenFeature{.dtype = DType::kFloat32}}}),
              ErrorIs("Feature: weight (data type: float) is required but could not be found."));
  EXPECT_THAT(
      ErrorOf({{"box", FixedLenFeature{.dtype = DType::kFloat32, .shape = {3}}}}),
      ErrorIs(
          "Key: box.  Number of float values != expected.  Values size: 4 but output shape: [3]"));
  EXPECT_THAT(ErrorOf({{"box", VarLenFeature{.dtype = DType::kFloat32, .max_length = 3}}}),
              ErrorHas("It has 4 rows, but max_length is 3"));
  EXPECT_THAT(ParseSingleExample("\xff\xff", {}), ErrorHas("Could not parse example input"));
  const std::string large = ExampleBuilder().Ints("x", {int64_t{1} << 40}).Serialize();
  EXPECT_THAT(ParseSingleExample(large, {{"x", FixedLenFeature{.dtype = DType::kInt32}}}),
              ErrorHas("does not fit int32"));
}

TEST(ParseExample, APaddingThatIsNoIntegerIsRefused) {
  EXPECT_THAT(ErrorOf({{"none", VarLenFeature{.dtype = DType::kInt64, .default_value = 0.5}}}),
              ErrorIs("Key: none.  default_value: the padding 0.5 cannot be represented in int64; "
                      "give another value"));
}

// protobuf's ints wrapped: 4 GiB were an Example without features, 2 GiB a negative size.
TEST(ParseExample, MoreThanProtobufCanCountIsRefusedUnread) {
  for (const size_t size : {size_t{1} << 31, size_t{1} << 32}) {
    EXPECT_THAT(ParseSingleExample(absl::string_view("x", size), {}),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(ParseExample, ADefaultThatDoesNotFitItsFeatureIsRefused) {
  const auto error = [](Array value) {
    return ErrorOf({{"weight", FixedLenFeature{.shape = {2}, .default_value = std::move(value)}}});
  };
  EXPECT_THAT(error(Array(DType::kFloat32, {1000})),
              ErrorIs("Key: weight.  default_value is f32 [1000], but the feature is f32 [2]; give "
                      "a default of "
                      "this dtype with 2 values"));
  EXPECT_THAT(error(Array::Scalar(1.0f)), ErrorHas("default_value is f32 [], but the"));
  EXPECT_THAT(error(Array(DType::kInt64, {2})), ErrorHas("default_value is i64 [2], but the"));
  EXPECT_THAT(error(Array(DType::kString, {2})), ErrorHas("default_value is str [2]"));
  // Also where the Example has the feature: what is wrong shows in the first one.
  EXPECT_THAT(ErrorOf({{"label", FixedLenFeature{.dtype = DType::kInt64,
                                                 .default_value = Array(DType::kInt64, {3})}}}),
              ErrorHas("default_value is i64 [3], but the feature is i64 []"));
  EXPECT_THAT(ErrorOf({{"box", FixedLenFeature{.shape = {Shape::kUnknownDim, 2}}}}),
              ErrorHas("must be known"));
}

TEST(ParseExample, ADefaultTakesTheShapeOfItsFeature) {
  const FixedLenFeature spec{.shape = {2, 1}, .default_value = Array::Of<float>({2}, {5, 6})};
  const ArrayMap parsed = ParseSingleExample(TestExample(), {{"weight", spec}}).value();
  EXPECT_EQ(Compare(*parsed.Get("weight"), Array::Of<float>({2, 1}, {5, 6})).report, "");
}

TEST(ParseExample, IsAMapFunctionThatSplitsOffLabels) {
  const Dataset dataset =
      Dataset::FromTensors({.features = Array::String(TestExample()), .labels = {}})
          .Map(ParseExample({{"box", FixedLenFeature{.dtype = DType::kFloat32, .shape = {4}}},
                             {"label", FixedLenFeature{.dtype = DType::kInt32}}},
                            {"label"}))
          .Repeat(2)
          .Batch(2);
  const auto batch = dataset.MakeIterator().value()->Next().value();
  EXPECT_EQ(batch->ToString(), "box f32 [2,4], labels i32 [2]");
}

TEST(ExampleBuilder, BytesAreTensorFlows) {
  // tf.train.Example with int64 feature a = [1, 2], serialized by TF 2.15.
  EXPECT_EQ(ExampleBuilder().Ints("a", {1, 2}).Serialize(),
            std::string("\x0a\x0d\x0a\x0b\x0a\x01\x61\x12\x06\x1a\x04\x0a\x02\x01\x02"));
}

TEST(DecodeRaw, ReadsLittleEndianNumbers) {
  const std::string bytes("\x01\x02\xff\xff", 4);
  EXPECT_EQ(Compare(DecodeRaw(Array::String(bytes), DType::kInt16).value(),
                    Array::Of<int16_t>({2}, {0x0201, -1}))
                .report,
            "");
  EXPECT_EQ(Compare(DecodeRaw(Array::Of<std::string>({2}, {"ab", "cd"}), DType::kUint8).value(),
                    Array::Of<uint8_t>({2, 2}, {'a', 'b', 'c', 'd'}))
                .report,
            "");
  EXPECT_FALSE(DecodeRaw(Array::String("abc"), DType::kInt16).ok());
  EXPECT_FALSE(DecodeRaw(Array::Of<std::string>({2}, {"ab", "c"}), DType::kUint8).ok());
}

TEST(ParseExample, RowsWithoutASizeAreRefused) {
  for (const Shape& row : {Shape{0}, Shape{2, Shape::kUnknownDim}}) {
    EXPECT_THAT(ErrorOf({{"box", FixedLenSequenceFeature{.dtype = DType::kFloat32, .shape = row}}}),
                ErrorHas(absl::StrCat("Key: box.  A row is ", row.ToString())))
        << row;
  }
}

}  // namespace
}  // namespace estimator
