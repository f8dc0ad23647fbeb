// --check_kernels says what it does not check.
#include "estimator/runtime/compare_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/op_registry.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/evaluate.h"
#include "estimator/runtime/testing/testing_ops.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

absl::StatusOr<std::vector<TensorSpec>> First(const ShapeContext& context) {
  return std::vector<TensorSpec>{context.input(0)};
}

std::unique_ptr<Kernel> Doubles(const KernelSpec&) {
  return MakeKernel([](const KernelArgs& args) {
    *args.out<float>(0) = 2 * *args.in<float>(0);
    return absl::OkStatus();
  });
}

EST_REGISTER_OP({.name = "OnlyFast", .num_inputs = 1, .shape = First});
EST_REGISTER_KERNEL("OnlyFast", KernelTier::kFused, Doubles);
// The reference does vectors only.
EST_REGISTER_OP({.name = "FastScalars", .num_inputs = 1, .shape = First});
EST_REGISTER_KERNEL("FastScalars", KernelTier::kFused, Doubles);
EST_REGISTER_KERNEL("FastScalars", KernelTier::kReference, [](const KernelSpec& spec) {
  return spec.inputs[0].shape.rank() == 0 ? nullptr : Doubles(spec);
});

// Products by the first number of the filter.
template <typename T>
std::unique_ptr<Kernel> Products(const KernelSpec& spec) {
  return MakeKernel([count = spec.inputs[0].shape.num_elements()](const KernelArgs& args) {
    const float filter = static_cast<float>(args.in<T>(1)[0]);
    for (int64_t i = 0; i < count; ++i)
      args.out<T>(0)[i] = T(static_cast<float>(args.in<T>(0)[i]) * filter);
    return absl::OkStatus();
  });
}
EST_REGISTER_KERNEL("Conv2D", KernelTier::kReference, [](const KernelSpec& spec) {
  return spec.inputs[0].dtype == DType::kFloat32 ? Products<float>(spec) : Products<Bfloat16>(spec);
});

class CheckTest : public GraphTest {
 protected:
  // Of a checked step that gives `fetch` for x = 3.
  std::map<std::string, int> Unchecked(const Tensor& fetch, float expected) {
    VariableStore store;
    const std::unique_ptr<Backend> backend = MakeCpuBackend(store, {.check_kernels = true});
    const ProgramSpec spec = {.feeds = {x_}, .fetches = {fetch}, .updates = {}};
    const auto result = RunOnce(*backend, graph_, spec, {Array::Scalar(3.0f)});
    EST_EXPECT_OK(result);
    if (result.ok()) {
      EXPECT_EQ((*result)[0].scalar<float>(), expected);
    }
    const auto executable = backend->Compile(graph_, spec);
    return executable.ok() ? (*executable)->info().unchecked_ops : std::map<std::string, int>();
  }

  Tensor x_ = testing::Placeholder({});
};

TEST_F(CheckTest, OpsWithoutAReferenceKernelAreCounted) {
  const Tensor once = graph_.AddOp("OnlyFast", {x_}), twice = graph_.AddOp("OnlyFast", {once});
  const Tensor scalar = graph_.AddOp("FastScalars", {twice});
  EXPECT_THAT(Unchecked(testing::Add(scalar, x_), 27),
              ElementsAre(Pair("FastScalars", 1), Pair("OnlyFast", 2)));
}

TEST_F(CheckTest, AStepOfReferenceKernelsIsCheckedWhole) {
  EXPECT_THAT(Unchecked(testing::Add(x_, x_), 6), IsEmpty());
}

// Winograd's algorithm rounds sums of inputs, but only in bf16, for filters of 3x3. For filters of
// 5x5 it may have larger tiles, but only where the errors of bf16 are small enough.
TEST_F(CheckTest, ConvolutionsThatMayRoundSumsHaveALargerTolerance) {
  const auto check = [](DType dtype, float error, int64_t taps = 3,
                        ConvAlgorithm algorithm = ConvAlgorithm::kAuto,
                        DType compute_dtype = DType::kFloat32) {
    const Array x = Array::Of<float>({1, 1, 2, 1}, {1, -1}).Cast(dtype);
    Array filter(DType::kFloat32, {taps, taps, 1, 1});
    filter.data<float>()[0] = 2;
    filter = filter.Cast(dtype);
    const KernelSpec spec = {.op = "Conv2D",
                             .name = "y",
                             .inputs = {{dtype, x.shape()}, {dtype, filter.shape()}},
                             .outputs = {{dtype, x.shape()}},
                             .constants = {std::nullopt, std::nullopt},
                             .conv_algorithm = algorithm,
                             .compute_dtype = compute_dtype};
    ir::Node node;
    node.op = spec.op;
    const Array y = Array::Of<float>({1, 1, 2, 1}, {2 + error, -2}).Cast(dtype);
    return ir::CheckAgainstReference(node, spec, {x, filter}, {y}, {});
  };
  EST_EXPECT_OK(check(DType::kBfloat16, 0.2F));
  EXPECT_TRUE(absl::IsInternal(check(DType::kBfloat16, 0.5F)));
  EXPECT_TRUE(absl::IsInternal(check(DType::kBfloat16, 0.2F, 1)));
  EXPECT_TRUE(absl::IsInternal(check(DType::kBfloat16, 0.2F, 3, ConvAlgorithm::kDirect)));
  EST_EXPECT_OK(check(DType::kFloat32, 0.001F));
  EXPECT_TRUE(absl::IsInternal(check(DType::kFloat32, 0.2F)));
  const auto check_f32 = [&check](float error, int64_t taps, ConvAlgorithm algorithm,
                                  DType compute_dtype) {
    return check(DType::kFloat32, error, taps, algorithm, compute_dtype);
  };
  constexpr ConvAlgorithm kAuto = ConvAlgorithm::kAuto, kDirect = ConvAlgorithm::kDirect;
  EST_EXPECT_OK(check_f32(0.02F, 5, kAuto, DType::kBfloat16));
  EXPECT_TRUE(absl::IsInternal(check_f32(0.2F, 5, kAuto, DType::kBfloat16)));
  EXPECT_TRUE(absl::IsInternal(check_f32(0.02F, 5, kAuto, DType::kFloat32)));
  EXPECT_TRUE(absl::IsInternal(check_f32(0.02F, 3, kAuto, DType::kBfloat16)));
  EXPECT_TRUE(absl::IsInternal(check_f32(0.02F, 5, kDirect, DType::kBfloat16)));
}

TEST_F(CheckTest, AFusedNodeNeedsAReferenceOfEveryOpInIt) {
  ir::Node node;
  node.op = "_Fused";
  auto origin = std::make_shared<ir::Origin>();
  const std::vector<TensorSpec> scalar = {{DType::kFloat32, {}}};
  origin->steps = {{"AddV2", "a", {}, {{-1, 0}, {-1, 0}}, scalar},
                   {"OnlyFast", "b", {}, {{0, 0}}, scalar},
                   {"FastScalars", "c", {}, {{1, 0}}, scalar}};
  node.origin = origin;
  const KernelSpec spec = {
      .op = "_Fused", .inputs = scalar, .outputs = scalar, .constants = {std::nullopt}};
  EXPECT_THAT(ir::OpsWithoutReference(node, spec), ElementsAre("OnlyFast", "FastScalars"));
}

TEST_F(CheckTest, CountsAreListedByName) {
  EXPECT_EQ(ir::CountedOps({{"OnlyFast", 2}, {"FastScalars", 1}}), "FastScalars (1), OnlyFast (2)");
}

}  // namespace
}  // namespace estimator
