#include "estimator/export/serving/model_fn_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

// A model of features x and z: f32 [batch, 2], its result as y. Counts how often it is built.
class ModelSignatureTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<const ServableSignature>> Make(
      std::function<Tensor(const NamedTensors& features)> model,
      const std::vector<int64_t>& batch_sizes = {}, const std::string& key = "serving_default") {
    const ExportGraphFn build = [this, model](int64_t batch_size) -> absl::StatusOr<ExportGraph> {
      ++calls_;
      ExportGraph built;
      built.graph = std::make_unique<Graph>();
      const GraphScope scope(*built.graph);
      const InputReceiver receiver = BuildRawServingInputReceiverFn(
          {{"x", {DType::kFloat32, {-1, 2}}}, {"z", {DType::kFloat32, {-1, 2}}}})(batch_size);
      std::map<std::string, std::string> excluded;
      built.signatures = BuildServingSignatures(
          {{"serving_default", PredictOutput({{"y", model(receiver.features)}})}}, receiver,
          excluded);
      return built;
    };
    EST_ASSIGN_OR_RETURN(BatchModel found, FindBatchModel(build));
    return MakeModelFnSignature(std::move(found), key, build, batch_sizes);
  }
  static InputShapes Rows(int64_t x, int64_t z) { return {{"x", {x, 2}}, {"z", {z, 2}}}; }

  int calls_ = 0;
};

TEST_F(ModelSignatureTest, MakesTheGraphForTheRowsOfARequest) {
  const auto source =
      Make([](const NamedTensors& features) { return Exp(features.at("x") + features.at("z")); });
  EST_ASSERT_OK(source);
  EXPECT_EQ((*source)->signature().method_name, "tensorflow/serving/predict");
  EXPECT_EQ((*source)->signature().inputs.at("x").ToString(), "f32 [?,2]");
  EXPECT_EQ((*source)->signature().outputs.at("y").ToString(), "f32 [?,2]");
  const int before = calls_;
  for (const int64_t rows : {1, 7, 100000}) {
    const auto made = (*source)->GraphFor(Rows(rows, rows));
    EST_ASSERT_OK(made);
    EXPECT_EQ(made->outputs.at("y").shape(), (Shape{rows, 2}));
  }
  EXPECT_EQ(calls_, before);
}

TEST_F(ModelSignatureTest, InputsOfDifferentBatchesAreNamed) {
  const auto source =
      Make([](const NamedTensors& features) { return features.at("x") + features.at("z"); });
  EST_ASSERT_OK(source);
  EXPECT_THAT((*source)->GraphFor(Rows(2, 3)),
              ErrorHas("input 'z' is [3,2], but must be [2,2] for a batch of 2"));
  EXPECT_THAT((*source)->GraphFor(Rows(0, 0)), ErrorHas("has no rows"));
}

TEST_F(ModelSignatureTest, ABatchThatAReshapeCannotDivideIsRefused) {
  const auto source = Make([](const NamedTensors& features) {
    const Tensor& x = features.at("x");
    return Reshape(x, {x.dim(0) / 4, 8}, "groups");
  });
  EST_ASSERT_OK(source);
  EXPECT_EQ((*source)->GraphFor(Rows(12, 12))->outputs.at("y").shape(), (Shape{3, 8}));
  EXPECT_THAT((*source)->GraphFor(Rows(6, 6)),
              ErrorHas("the model does not take a batch of 6: 'groups/shape'"));
}

TEST_F(ModelSignatureTest, AModelThatIsTiedToItsBatchIsBuiltForTheSizesThatAreNamed) {
  const auto source = Make(
      [](const NamedTensors& features) {
        const Tensor& x = features.at("x");
        return Multiply(x, 1.0 / static_cast<double>(x.dim(0)));
      },
      {1, 2, 4});
  EST_ASSERT_OK(source);
  EXPECT_EQ((*source)->signature().inputs.at("x").ToString(), "f32 [?,2]");
  const int before = calls_;
  EXPECT_EQ((*source)->GraphFor(Rows(4, 4))->outputs.at("y").shape(), (Shape{4, 2}));
  const absl::Status error = (*source)->GraphFor(Rows(3, 3)).status();
  EXPECT_THAT(error, ErrorHas("was built for 1, 2, 4 (set MakePredictorOptions::batch_sizes"));
  EXPECT_THAT(error, ErrorHas("depend on the batch size"));
  EXPECT_EQ(calls_, before);
}

TEST_F(ModelSignatureTest, AnUnknownSignatureIsRefusedWithTheNamesThatThereAre) {
  EXPECT_THAT(Make([](const NamedTensors& features) { return features.at("x"); }, {}, "classify"),
              ErrorHas("no signature 'classify'; it has: serving_default"));
}

}  // namespace
}  // namespace estimator
