#include "estimator/training/import_model_fn.h"

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/graphdef/testing/small_training.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/widened.h"
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

constexpr int64_t kRows = 64, kInputs = 64;

// features f32 [64, 64] in (0, 1], most of which bf16 cannot represent; labels f32 [64, outputs],
// all 0.
Dataset Wide(int64_t outputs) {
  Array x(DType::kFloat32, {kRows, kInputs});
  for (int64_t i = 0; i < kRows * kInputs; ++i)
    x.data<float>()[i] = static_cast<float>(1 + i * 7 % 1001) / 1001;
  return Dataset::FromTensors({.features = x, .labels = Array(DType::kFloat32, {kRows, outputs})})
      .Repeat();
}

// Whether products in bf16 have a kernel of their own on this CPU.
bool CpuHasBfloat16() {
  const TensorSpec square = {DType::kBfloat16, {64, 64}};
  const auto kernel = CreateKernel({.op = "MatMul",
                                    .name = "m",
                                    .attrs = {{"transpose_a", false}, {"transpose_b", false}},
                                    .inputs = {square, square},
                                    .outputs = {square}},
                                   KernelTier::kOneDnn);
  return kernel.ok() && !IsWidened(**kernel);
}

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
  // The variable w after one step of a graph with kInputs inputs.
  Array WeightsAfterAStep(int outputs, DType compute_dtype) {
    const absl::StatusOr<ImportedModelFn> model_fn =
        ImportModelFn(Write(SmallTraining::Small(kInputs, outputs)));
    EST_EXPECT_OK(model_fn.status());
    const TempDir model;
    Estimator<TinyParams>::Options options = TinyOptions(model.path());
    options.model_fn = *model_fn;
    options.config.compute_dtype = compute_dtype;
    Estimator<TinyParams> estimator(options);
    EST_EXPECT_OK(estimator.Train([&](const TinyParams&) { return Wide(outputs); }, MaxSteps(1)));
    return LoadVariable(model.path(), "w").value();
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

// A step computes g = x^T (x w) * scale, where all numbers are positive. Each operand is rounded to
// bf16 with a relative error of at most 2^-9: x twice, and the result of x w once; w = 2 is exact.
// So g, which is 10 times the change of w, has a relative error of at most 3 * 2^-9 and a little.
TEST_F(ImportModelFnTest, ProductsRunInBfloat16WithinTheErrorOfTheirOperands) {
  if (!CpuHasBfloat16()) GTEST_SKIP() << "the CPU has no bf16 instructions";
  const Array f32 = WeightsAfterAStep(32, DType::kFloat32);
  const Array bf16 = WeightsAfterAStep(32, DType::kBfloat16);
  ASSERT_EQ(f32.shape(), (Shape{kInputs, 32}));
  int different = 0;
  for (int64_t i = 0; i < f32.num_elements(); ++i) {
    const float change = 2 - f32.data<float>()[i];
    ASSERT_GT(change, 0.01f);
    ASSERT_NEAR(bf16.data<float>()[i], f32.data<float>()[i], 3.1 / 512 * change + 1e-6);
    different += bf16.data<float>()[i] != f32.data<float>()[i];
  }
  EXPECT_GT(different, kInputs * 32 / 2);
}

TEST_F(ImportModelFnTest, ProductsOfANarrowMatrixStayInFloat32) {
  const Array f32 = WeightsAfterAStep(31, DType::kFloat32);
  const Array bf16 = WeightsAfterAStep(31, DType::kBfloat16);
  ASSERT_EQ(f32.num_elements(), kInputs * 31);
  for (int64_t i = 0; i < f32.num_elements(); ++i)
    ASSERT_EQ(bf16.data<float>()[i], f32.data<float>()[i]) << i;
}

// tf.cond(loss < 1, lambda: gather(gradient, int(loss)) + gradient, lambda: gradient). The loss is
// 4, so TensorFlow does not run the gather, whose index is out of range.
TEST_F(ImportModelFnTest, TheBranchOfACondThatIsNotTakenDoesNotRun) {
  const std::string t = SmallTraining::TypeAttr("T"), i32 = "DT_INT32";
  SmallTraining training = SmallTraining::Small();
  training.Float("limit", 1);
  training.Node("pred", "Less", {"loss", "limit"}, t);
  training.Node("switch", "Switch", {"gradients/MatMul", "pred"}, t);
  training.Node("index", "Cast", {"loss"},
                SmallTraining::TypeAttr("SrcT") + SmallTraining::TypeAttr("DstT", i32));
  training.Node("axis", "Const", {},
                SmallTraining::TypeAttr("dtype", i32) +
                    " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { }"
                    " int_val: 0 } } }");
  training.Node("gather", "GatherV2", {"switch:1", "index", "axis"},
                SmallTraining::TypeAttr("Tparams") + SmallTraining::TypeAttr("Tindices", i32) +
                    SmallTraining::TypeAttr("Taxis", i32));
  training.Node("sum", "AddV2", {"gather", "switch:1"}, t);
  training.Node("merge", "Merge", {"switch", "sum"}, t);
  training.Rewire("apply", {"w", "rate", "merge"});
  const absl::StatusOr<ImportedModelFn> model_fn = ImportModelFn(Write(training));
  ASSERT_TRUE(model_fn.ok()) << model_fn.status();
  Estimator<TinyParams> estimator(Options(*model_fn));
  EST_EXPECT_OK(estimator.Train(Ones, MaxSteps(1)));
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
