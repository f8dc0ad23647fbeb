#include "estimator/export/signature/export_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"

namespace estimator {
namespace {

class ExportOutputTest : public GraphTest {
 protected:
  absl::Status Error(const ExportOutputs& outputs) {
    return ResolveExportOutputs(outputs, {{"y", y_}}).status();
  }

  const Tensor y_ = Placeholder(DType::kFloat32, {2, 3}, "y");
  const Tensor ids_ = Placeholder(DType::kInt64, {2}, "ids");
  const Tensor words_ = Placeholder(DType::kString, {2}, "words");
};

// Behaviour C5, in this test and the three below.
TEST_F(ExportOutputTest, WithoutOutputsThePredictionsAreTheDefaultSignature) {
  const auto outputs = ResolveExportOutputs({}, {{"y", y_}, {"ids", ids_}});
  EST_ASSERT_OK(outputs);
  ASSERT_EQ(outputs->size(), 1u);
  const ExportOutput& output = outputs->at("serving_default");
  EXPECT_EQ(output.method_name(), "tensorflow/serving/predict");
  EXPECT_TRUE(output.outputs().at("y") == y_);
  EXPECT_EQ(output.outputs().size(), 2u);
}

TEST_F(ExportOutputTest, ABareTensorIsCalledOutput) {
  EXPECT_TRUE(PredictOutput(y_).outputs().at("output") == y_);
  const auto outputs = ResolveExportOutputs({}, NamedTensors(y_));
  EST_ASSERT_OK(outputs);
  EXPECT_EQ(outputs->at("serving_default").outputs().count("output"), 1u);
}

TEST_F(ExportOutputTest, ALoneOutputIsTheDefaultToo) {
  const auto outputs = ResolveExportOutputs({{"mine", RegressionOutput(y_)}}, {{"y", y_}});
  EST_ASSERT_OK(outputs);
  EXPECT_EQ(outputs->size(), 2u);
  EXPECT_EQ(outputs->at("serving_default").method_name(), "tensorflow/serving/regress");
}

TEST_F(ExportOutputTest, SeveralOutputsNeedADefault) {
  EXPECT_THAT(Error({{"a", PredictOutput(y_)}, {"b", PredictOutput(y_)}}),
              ErrorHas("none of them is the default; name one of them `serving_default`"));
  EST_EXPECT_OK(Error({{"a", PredictOutput(y_)}, {"serving_default", PredictOutput(y_)}}));
}

TEST_F(ExportOutputTest, DtypesAreTensorFlows) {
  EXPECT_THAT(Error({{"c", ClassificationOutput({})}}),
              ErrorHas("export_outputs['c']: Cannot create a ClassificationOutput with empty"));
  EXPECT_THAT(Error({{"c", ClassificationOutput({.scores = ids_})}}),
              ErrorHas("scores must be a float32 Tensor; got i64 [2]"));
  EXPECT_THAT(Error({{"c", ClassificationOutput({.classes = ids_})}}),
              ErrorHas("classes must be a string Tensor; got i64 [2]"));
  EXPECT_THAT(Error({{"r", RegressionOutput(ids_)}}),
              ErrorHas("value must be a float32 Tensor; got i64 [2]"));
  EXPECT_THAT(Error({{"p", PredictOutput(NamedTensors())}}), ErrorHas("at least one output"));
  EST_EXPECT_OK(Error({{"c", ClassificationOutput({.scores = y_, .classes = words_})}}));
}

}  // namespace
}  // namespace estimator
