#include "estimator/data/parsing/parse_example.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/proto/example.pb.h"

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

TEST(ParseExample, OfABatchHasAnAxisOfExamples) {
  const FeatureSpecs specs = {
      {"fixed",
       FixedLenFeature{
           .dtype = DType::kInt32, .shape = {2}, .default_value = Array::Of<int32_t>({2}, {8, 9})}},
      {"name", FixedLenFeature{.dtype = DType::kString, .default_value = Array::String("none")}},
      {"padded", FixedLenSequenceFeature{.shape = {2}, .default_value = -1}},
      {"var", VarLenFeature{.dtype = DType::kInt64, .max_length = 3, .default_value = 7}}};
  const Array batch = Array::Strings(
      {ExampleBuilder().Ints("fixed", {1, 2}).Floats("padded", {1, 2, 3, 4}).Serialize(),
       ExampleBuilder()
           .Ints("var", {5, 6})
           .Bytes("name", {"b"})
           .Floats("padded", {9, 8})
           .Serialize()});
  const auto parse = ParseExample(specs);
  EST_ASSERT_OK_AND_ASSIGN(const Element element, parse({.features = batch, .labels = {}}));
  const auto expect = [&](const std::string& name, const Array& expected) {
    EXPECT_EQ(Compare(element.features.at(name), expected).report, "") << name;
  };
  expect("fixed", Array::Of<int32_t>({2, 2}, {1, 2, 8, 9}));
  expect("name", Array::Strings({"none", "b"}));
  expect("padded", Array::Of<float>({2, 2, 2}, {1, 2, 3, 4, 9, 8, -1, -1}));
  expect("var", Array::Of<int64_t>({2, 3}, {7, 7, 7, 5, 6, 7}));
  expect("var_length", Array::Of<int32_t>({2}, {0, 2}));
  // No examples.
  EST_ASSERT_OK_AND_ASSIGN(const Element none,
                           parse({.features = Array(DType::kString, {0}), .labels = {}}));
  EXPECT_EQ(none.ToString(),
            "fixed i32 [0,2], name str [0], padded f32 [0,0,2], var i64 [0,3], var_length i32 [0]");
}

TEST(ParseExample, AnErrorInABatchNamesTheExample) {
  const auto parse = ParseExample({{"label", FixedLenFeature{.dtype = DType::kInt64}}});
  const auto error = [&](const std::string& second) {
    return parse({.features = Array::Strings({TestExample(), second}), .labels = {}}).status();
  };
  EXPECT_THAT(error(""),
              ErrorIs("example 1: Feature: label (data type: int64) is required but could not be "
                      "found."));
  EXPECT_THAT(error("\xff"), ErrorHas("example 1: Could not parse example input"));
  EXPECT_THAT(error(ExampleBuilder().Ints("label", {1, 2}).Serialize()),
              ErrorHas("example 1: Key: label.  Number of int64 values != expected"));
  EXPECT_THAT(parse({.features = Array(DType::kString, {1, 1}), .labels = {}}),
              ErrorHas("not str [1,1]"));
}

TEST(ParseExample, ARequiredSequenceMayNotBeMissing) {
  const FixedLenSequenceFeature spec{.dtype = DType::kFloat32, .allow_missing = false};
  EST_EXPECT_OK(ParseSingleExample(TestExample(), {{"box", spec}}));
  EXPECT_THAT(ErrorOf({{"weight", spec}}),
              ErrorIs("Feature: weight (data type: float) is required but could not be found."));
}

TEST(ParseExample, TheNameOfALengthMustBeFree) {
  EXPECT_THAT(ErrorOf({{"box", VarLenFeature{}}, {"box_length", VarLenFeature{}}}),
              ErrorHas("Key: box.  Its number of values is the result \"box_length\""));
}

// What TensorFlow's parser takes, which differs from protobuf's here and there.
TEST(ParseExample, TakesTheBytesThatTensorFlowTakes) {
  const FeatureSpecs specs = {{"a", VarLenFeature{.dtype = DType::kInt64}},
                              {"f", VarLenFeature{.dtype = DType::kFloat32}}};
  const auto ints = [&](absl::string_view bytes) -> std::vector<int64_t> {
    const auto parsed = ParseSingleExample(bytes, specs);
    if (!parsed.ok()) return {-1};
    const absl::Span<const int64_t> values = parsed->at("a").values<int64_t>();
    return {values.begin(), values.end()};
  };
  const auto bytes = [](const char* text, size_t size) { return absl::string_view(text, size); };
  using testing::ElementsAre;
  const std::string one = ExampleBuilder().Ints("a", {1}).Serialize();
  // Several Examples, one after another: the last feature of a name counts, unless it is empty.
  EXPECT_THAT(ints(one + ExampleBuilder().Ints("a", {2, 3}).Serialize()), ElementsAre(2, 3));
  EXPECT_THAT(ints(one + std::string("\x0a\x07\x0a\x05\x0a\x01\x61\x12\x00", 9)), ElementsAre(1));
  // Values that are not packed.
  EXPECT_THAT(ints(bytes("\x0a\x0d\x0a\x0b\x0a\x01\x61\x12\x06\x1a\x04\x08\x01\x08\x02", 15)),
              ElementsAre(1, 2));
  // A value before its key, and an unknown field of the Example.
  EXPECT_THAT(ints(bytes("\x18\x05\x0a\x0c\x0a\x0a\x12\x05\x1a\x03\x0a\x01\x07\x0a\x01\x61", 16)),
              ElementsAre(7));
  // An entry without a value, a list of another kind, and a varint that does not end.
  EXPECT_THAT(ints(bytes("\x0a\x05\x0a\x03\x0a\x01\x61", 7)), ElementsAre(-1));
  EXPECT_THAT(ints(bytes("\x0a\x09\x0a\x07\x0a\x01\x61\x12\x02\x22\x00", 11)), ElementsAre(-1));
  EXPECT_THAT(ints(bytes("\x0a\x0c\x0a\x0a\x0a\x01\x61\x12\x05\x1a\x03\x0a\x01\x87", 14)),
              ElementsAre(-1));
}

std::string TestSequence() {
  proto::SequenceExample example;
  (*example.mutable_context()->mutable_feature())["id"].mutable_int64_list()->add_value(7);
  auto& lists = *example.mutable_feature_lists()->mutable_feature_list();
  for (const auto& step : std::vector<std::vector<float>>{{1, 2}, {3, 4}}) {
    auto* values = lists["pairs"].add_feature()->mutable_float_list();
    for (const float value : step) values->add_value(value);
  }
  for (const auto& step : std::vector<std::vector<std::string>>{{"a"}, {}, {"b", "c"}}) {
    auto* values = lists["words"].add_feature()->mutable_bytes_list();
    for (const std::string& value : step) values->add_value(value);
  }
  lists["empty step"].add_feature();
  return example.SerializeAsString();
}

TEST(ParseSequenceExample, HasTheContextAndTheStepsOfItsLists) {
  EST_ASSERT_OK_AND_ASSIGN(
      const ArrayMap parsed,
      ParseSingleSequenceExample(
          TestSequence(), {{"id", FixedLenFeature{.dtype = DType::kInt64}}},
          {{"pairs", FixedLenSequenceFeature{.shape = {2}}},
           {"words", VarLenFeature{.dtype = DType::kString}},
           {"none", FixedLenSequenceFeature{.dtype = DType::kInt64, .shape = {3}}},
           {"empty step", VarLenFeature{}}}));
  EXPECT_EQ(parsed.at("id").scalar<int64_t>(), 7);
  EXPECT_EQ(Compare(parsed.at("pairs"), Array::Of<float>({2, 2}, {1, 2, 3, 4})).report, "");
  EXPECT_EQ(Compare(parsed.at("words"), Array::Of<std::string>({3, 2}, {"a", "", "", "", "b", "c"}))
                .report,
            "");
  EXPECT_EQ(Compare(parsed.at("words_length"), Array::Of<int32_t>({3}, {1, 0, 2})).report, "");
  EXPECT_EQ(parsed.at("none").TypeString(), "i64 [0,3]");
  EXPECT_EQ(parsed.at("empty step").TypeString(), "f32 [1,0]");
  EST_ASSERT_OK_AND_ASSIGN(
      const ArrayMap padded,
      ParseSingleSequenceExample(
          TestSequence(), {},
          {{"pairs",
            FixedLenSequenceFeature{.shape = {2}, .max_length = 3, .default_value = -1}}}));
  EXPECT_EQ(Compare(padded.at("pairs"), Array::Of<float>({3, 2}, {1, 2, 3, 4, -1, -1})).report, "");
}

TEST(ParseSequenceExample, ErrorsNameTheListAndTheStep) {
  const auto error = [](const FeatureSpecs& context, const FeatureSpecs& sequences) {
    return ParseSingleSequenceExample(TestSequence(), context, sequences).status();
  };
  EXPECT_THAT(
      error({}, {{"words", FixedLenSequenceFeature{.dtype = DType::kString}}}),
      ErrorHas("step 1: Key: words.  Number of string values != expected.  Values size: 0"));
  EXPECT_THAT(error({}, {{"pairs", VarLenFeature{.dtype = DType::kInt64}}}),
              ErrorHas("step 0: Key: pairs.  Data types don't match"));
  EXPECT_THAT(error({}, {{"empty step", FixedLenSequenceFeature{}}}),
              ErrorHas("step 0: Feature: empty step (data type: float) is required"));
  EXPECT_THAT(error({}, {{"none", FixedLenSequenceFeature{.allow_missing = false}}}),
              ErrorHas("Feature list: none (data type: float) is required"));
  EXPECT_THAT(error({}, {{"pairs", FixedLenSequenceFeature{.shape = {2}, .max_length = 1}}}),
              ErrorHas("It has 2 steps, but max_length is 1"));
  EXPECT_THAT(error({{"x", FixedLenFeature{}}}, {}), ErrorHas("Feature: x"));
  EXPECT_THAT(error({}, {{"pairs", FixedLenFeature{}}}), ErrorHas("is no sequence"));
  EXPECT_THAT(error({{"x", FixedLenFeature{.default_value = Array::Scalar(0.0f)}}},
                    {{"x", VarLenFeature{}}}),
              ErrorHas("The context and the sequences have the result \"x\""));
  EXPECT_THAT(ParseSingleSequenceExample("\xff", {}, {}),
              ErrorHas("Could not parse example input"));
}

TEST(ParseSequenceExample, IsAMapFunctionThatSplitsOffLabels) {
  const Dataset dataset =
      Dataset::FromTensors({.features = Array::String(TestSequence()), .labels = {}})
          .Map(ParseSequenceExample({{"id", FixedLenFeature{.dtype = DType::kInt32}}},
                                    {{"pairs", FixedLenSequenceFeature{.shape = {2}}}}, {"id"}))
          .Repeat(2)
          .PaddedBatch(2);
  const auto batch = dataset.MakeIterator().value()->Next().value();
  EXPECT_EQ(batch->ToString(), "pairs f32 [2,2,2], labels i32 [2]");
}

TEST(ExampleBuilder, BytesAreTensorFlows) {
  // tf.train.Example with int64 feature a = [1, 2], serialized by TF 2.15.
  EXPECT_EQ(ExampleBuilder().Ints("a", {1, 2}).Serialize(),
            std::string("\x0a\x0d\x0a\x0b\x0a\x01\x61\x12\x06\x1a\x04\x0a\x02\x01\x02"));
}

TEST(EncodeRaw, IsReadByDecodeRaw) {
  EXPECT_EQ(EncodeRaw(Array::Of<int16_t>({2, 1}, {1, -2})).value(),
            std::string("\x01\x00\xfe\xff", 4));
  const Array half = Array::Of<float>({2, 3}, {0, 1, -2, 0.5f, 1000, 1e-3f}).Cast(DType::kFloat16);
  const std::string bytes = EncodeRaw(half).value();
  EXPECT_EQ(bytes.size(), 12u);
  EXPECT_EQ(
      Compare(DecodeRaw(Array::String(bytes), DType::kFloat16).value(), half.Reshaped(Shape{6}))
          .report,
      "");
  EXPECT_EQ(EncodeRaw(Array(DType::kFloat32, {0, 4})).value(), "");
  EXPECT_FALSE(EncodeRaw(Array::String("abc")).ok());
  EXPECT_FALSE(EncodeRaw(Array()).ok());
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
