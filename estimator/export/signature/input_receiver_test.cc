#include "estimator/export/signature/input_receiver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

class InputReceiverTest : public GraphTest {
 protected:
  const Tensor x_ = Placeholder(DType::kFloat32, {4, 2}, "x");
};

TEST_F(InputReceiverTest, BareTensorsAreNamedAsInTensorFlow) {
  const InputReceiver receiver = ServingInputReceiver(x_, x_);
  EST_EXPECT_OK(receiver.status);
  EXPECT_EQ(receiver.features.count("feature"), 1u);
  EXPECT_EQ(receiver.receiver_tensors.count("input"), 1u);
}

TEST_F(InputReceiverTest, ATensorReceiverHandsTheBareTensorOn) {
  const InputReceiver receiver = TensorServingInputReceiver(x_, {{"raw", x_}});
  EXPECT_TRUE(receiver.features.at("") == x_);
  EXPECT_EQ(receiver.receiver_tensors.count("raw"), 1u);
}

TEST_F(InputReceiverTest, NamesAndTensorsMustBeGiven) {
  EXPECT_THAT(ServingInputReceiver({{"x", x_}}, NamedTensors()).status,
              ErrorHas("receiver_tensor must be defined"));
  EXPECT_THAT(ServingInputReceiver(NamedTensors(), x_).status, ErrorHas("feature must be defined"));
  EXPECT_THAT(ServingInputReceiver({{"x", x_}}, x_, {{"raw", NamedTensors()}}).status,
              ErrorHas("receiver_tensors_alternatives['raw'] must be defined"));
}

TEST_F(InputReceiverTest, ARawReceiverHasAPlaceholderForEachFeature) {
  const InputReceiver receiver = BuildRawServingInputReceiverFn(
      {{"a", {DType::kUint8, {-1, 28}}}, {"b", {DType::kFloat32, {7}}}})(5);
  EST_ASSERT_OK(receiver.status);
  EXPECT_EQ(receiver.features.at("a").spec().ToString(), "u8 [5,28]");
  EXPECT_EQ(receiver.features.at("b").spec().ToString(), "f32 [5]");
  EXPECT_EQ(receiver.features.at("a").node()->name(), "a");
  EXPECT_TRUE(receiver.receiver_tensors.at("b") == receiver.features.at("b"));
}

TEST_F(InputReceiverTest, AFixedBatchSizeStaysWhateverIsAskedFor) {
  const InputReceiver receiver =
      BuildRawServingInputReceiverFn({{"a", {DType::kFloat32, {-1}}}}, 8)(5);
  EXPECT_EQ(receiver.features.at("a").spec().ToString(), "f32 [8]");
}

TEST_F(InputReceiverTest, AFeatureWithoutABatchAxisIsRefused) {
  EXPECT_THAT(BuildRawServingInputReceiverFn({{"a", {DType::kFloat32, {}}}})(2).status,
              ErrorHas("feature 'a' is f32 []; its axis 0 must be the batch"));
}

TEST_F(InputReceiverTest, FeaturesAndLabelsOfOneNameAreRefused) {
  const std::map<std::string, TensorSpec> spec = {{"a", {DType::kFloat32, {-1}}}};
  EXPECT_THAT(BuildRawSupervisedInputReceiverFn(spec, spec)(2).status,
              ErrorHas("distinct keys; both have a"));
  const InputReceiver receiver =
      BuildRawSupervisedInputReceiverFn(spec, {{"", {DType::kInt32, {-1}}}})(2);
  EST_ASSERT_OK(receiver.status);
  EXPECT_EQ(receiver.receiver_tensors.count("label"), 1u);
  EXPECT_EQ(receiver.labels.count(""), 1u);
}

TEST_F(InputReceiverTest, AParsingReceiverStandsBehindOneStringPlaceholder) {
  const InputReceiver receiver = BuildParsingServingInputReceiverFn(
      {{"image", FixedLenFeature{.shape = {2, 3}}},
       {"label",
        FixedLenFeature{.dtype = DType::kInt32, .default_value = Array::Scalar<int32_t>(7)}}})(4);
  EST_ASSERT_OK(receiver.status);
  const Tensor examples = receiver.receiver_tensors.at("examples");
  EXPECT_EQ(examples.node()->name(), "input_example_tensor");
  EXPECT_EQ(examples.spec().ToString(), "str [4]");
  EXPECT_EQ(receiver.features.at("image").spec().ToString(), "f32 [4,2,3]");
  // Examples hold int64; the model asked for int32.
  EXPECT_EQ(receiver.features.at("label").spec().ToString(), "i32 [4]");
  EXPECT_EQ(receiver.parsing->parsed.at("label").spec().ToString(), "i64 [4]");
}

// TensorFlow takes no other node names; the signature has the feature's own.
TEST_F(InputReceiverTest, NodesOfFeaturesHaveNamesThatTensorFlowTakes) {
  const InputReceiver parsing =
      BuildParsingServingInputReceiverFn({{"größe, in m", FixedLenFeature{}}})(4);
  EXPECT_EQ(parsing.features.at("größe, in m").node()->name(), "ParseExample/gr____e__in_m");
  const InputReceiver raw = BuildRawServingInputReceiverFn({{"_a b", {DType::kFloat32, {-1}}}})(4);
  EXPECT_EQ(raw.receiver_tensors.at("_a b").node()->name(), ".a_b");
}

TEST_F(InputReceiverTest, FeaturesOfVariableLengthArePaddedToMaxLength) {
  const InputReceiver receiver = BuildParsingServingInputReceiverFn(
      {{"boxes", FixedLenSequenceFeature{.shape = {4}, .max_length = 5}},
       {"ids", VarLenFeature{.dtype = DType::kInt32, .max_length = 3}},
       {"tags", VarLenFeature{.dtype = DType::kString, .max_length = 2}}})(6);
  EST_ASSERT_OK(receiver.status);
  EXPECT_EQ(receiver.features.at("boxes").spec().ToString(), "f32 [6,5,4]");
  EXPECT_EQ(receiver.features.at("ids").spec().ToString(), "i32 [6,3]");
  EXPECT_EQ(receiver.features.at("ids_length").spec().ToString(), "i32 [6]");
  EXPECT_EQ(receiver.features.at("tags").spec().ToString(), "str [6,2]");
  EXPECT_EQ(receiver.parsing->parsed.at("ids").spec().ToString(), "i64 [6,3]");
}

TEST_F(InputReceiverTest, FeaturesOfVariableLengthNeedAMaxLength) {
  const auto error = [](const FeatureSpecs& specs) {
    return BuildParsingServingInputReceiverFn(specs)(4).status;
  };
  EXPECT_THAT(error({{"tags", VarLenFeature{}}}),
              ErrorHas("feature 'tags': max_length is -1, but a parsing receiver needs it"));
  EXPECT_THAT(error({{"boxes", FixedLenSequenceFeature{.max_length = 0}}}),
              ErrorHas("feature 'boxes': max_length is 0"));
  EXPECT_THAT(error({{"boxes", FixedLenSequenceFeature{.shape = {-1}, .max_length = 2}}}),
              ErrorHas("Key: boxes.  A row is [?]; its sizes must be known and positive"));
  EXPECT_THAT(error({{"ids", VarLenFeature{.dtype = DType::kUint8, .max_length = 2}}}),
              ErrorHas("Key: ids.  Examples hold"));
  EXPECT_THAT(
      error(
          {{"ids", VarLenFeature{.dtype = DType::kInt64, .max_length = 2, .default_value = 0.5}}}),
      ErrorHas("Key: ids.  default_value"));
  EXPECT_THAT(error({{"ids", VarLenFeature{.max_length = 2}}, {"ids_length", FixedLenFeature{}}}),
              ErrorHas("feature 'ids_length' has the name of the length of 'ids'"));
}

TEST_F(InputReceiverTest, FeaturesThatExamplesCannotHoldAreRefusedByName) {
  for (const DType dtype : {DType::kUint8, DType::kBool, DType::kFloat64}) {
    const InputReceiver receiver =
        BuildParsingServingInputReceiverFn({{"image", FixedLenFeature{.dtype = dtype}}})(4);
    EXPECT_THAT(
        receiver.status,
        StatusIs(absl::StatusCode::kInvalidArgument,
                 HasSubstr("Key: image.  Examples hold float32, int64 (also read as int32) and "
                           "string, not ")));
  }
}

TEST_F(InputReceiverTest, DefaultsThatDoNotFitTheirFeatureAreRefused) {
  const auto error = [](const FixedLenFeature& feature) {
    return BuildParsingServingInputReceiverFn({{"x", feature}})(4).status;
  };
  EXPECT_THAT(error({.shape = {2}, .default_value = Array::Scalar(1.0f)}),
              ErrorHas("default_value is f32 [], but the feature is f32 [2]"));
  // An i32 feature is stored as int64, but its default is what the model gets.
  EXPECT_THAT(error({.dtype = DType::kInt32, .default_value = Array::String("seven")}),
              ErrorHas("default_value is str [], but the feature is i32 []"));
}

}  // namespace
}  // namespace estimator
