#include "estimator/training/import_model_fn.h"

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/graphdef/testing/small_training.h"
#include "estimator/training/estimator.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::estimator::testing::SmallTraining;
using ::testing::HasSubstr;

// features and labels f32 [4, 1]: every row is x = 1, y = 0.
Dataset One(const TinyParams&) {
  const Array x = Array::Of<float>({4, 1}, {1.f, 1.f, 1.f, 1.f});
  const Array y(DType::kFloat32, {4, 1});  // zeros
  return Dataset::FromTensors({.features = x, .labels = y});
}
Dataset Ones(const TinyParams& params) { return One(params).Repeat(); }

class ImportModelFnTest : public ::testing::Test {
 protected:
  std::string Write(const SmallTraining& training, const std::string& name = "graph.meta") {
    const std::string path = dir_.File(name);
    EXPECT_TRUE(WriteFileAtomically(path, training.Bytes()).ok());
    return path;
  }
  Estimator<TinyParams>::Options Options(const ImportedModelFn& model_fn) {
    Estimator<TinyParams>::Options options = TinyOptions(dir_.File("model"));
    options.model_fn = model_fn;
    options.config.checkpoint_save_graph_def = true;
    return options;
  }
  float Weight() { return LoadVariable(dir_.File("model"), "w").value().data<float>()[0]; }

  const TempDir dir_;
};

TEST_F(ImportModelFnTest, TrainsTheGraphOfTheFile) {
  const absl::StatusOr<ImportedModelFn> model_fn = ImportModelFn(Write(SmallTraining::Small()));
  ASSERT_TRUE(model_fn.ok()) << model_fn.status();
  Estimator<TinyParams> estimator(Options(*model_fn));
  const absl::Status status = estimator.Train(Ones, MaxSteps(2));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_NEAR(Weight(), 2 * 0.8 * 0.8, 1e-6);
}

TEST_F(ImportModelFnTest, AResumedRunContinuesFromTheCheckpoint) {
  const absl::StatusOr<ImportedModelFn> model_fn = ImportModelFn(Write(SmallTraining::Small()));
  ASSERT_TRUE(model_fn.ok()) << model_fn.status();
  for (const int64_t steps : {1, 3}) {
    Estimator<TinyParams> estimator(Options(*model_fn));
    const absl::Status status = estimator.Train(Ones, MaxSteps(steps));
    ASSERT_TRUE(status.ok()) << status;
  }
  EXPECT_NEAR(Weight(), 2 * 0.8 * 0.8 * 0.8, 1e-6);
}

// The graph that this run writes beside its checkpoint is imported again.
TEST_F(ImportModelFnTest, ImportsTheGraphOfItsOwnModelDir) {
  const absl::StatusOr<ImportedModelFn> model_fn = ImportModelFn(Write(SmallTraining::Small()));
  ASSERT_TRUE(model_fn.ok()) << model_fn.status();
  {
    Estimator<TinyParams> estimator(Options(*model_fn));
    ASSERT_TRUE(estimator.Train(Ones, MaxSteps(1)).ok());
  }
  const absl::StatusOr<ImportedModelFn> again = ImportModelFn(dir_.File("model/model.ckpt-1.meta"));
  ASSERT_TRUE(again.ok()) << again.status();
  Estimator<TinyParams> estimator(Options(*again));
  const absl::Status status = estimator.Train(Ones, MaxSteps(2));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_NEAR(Weight(), 2 * 0.8 * 0.8, 1e-6);
}

TEST_F(ImportModelFnTest, EvaluatesTheLoss) {
  const absl::StatusOr<ImportedModelFn> model_fn = ImportModelFn(Write(SmallTraining::Small()));
  ASSERT_TRUE(model_fn.ok()) << model_fn.status();
  Estimator<TinyParams> estimator(Options(*model_fn));
  ASSERT_TRUE(estimator.Train(Ones, MaxSteps(1)).ok());
  const auto result = estimator.Evaluate(One);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_NEAR((*result)["loss"], 1.6 * 1.6, 1e-6);
}

TEST_F(ImportModelFnTest, RefusesAFolderWithTheTable) {
  SmallTraining training = SmallTraining::Small();
  training.Node("py", "PyFunc", {"gradients/MatMul"});
  training.Rewire("apply", {"w", "rate", "py"});
  const absl::Status status = ImportModelFn(Write(training)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("PyFunc"));
}

}  // namespace
}  // namespace estimator
