#include <string>
#include <utility>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

TensorSpec F32(const Shape& shape) { return {DType::kFloat32, shape}; }

KernelSpec Chain(std::vector<std::string> ops, std::vector<int64_t> args,
                 std::vector<int64_t> outputs, std::vector<TensorSpec> specs) {
  return {.op = "_FusedElementwise",
          .name = "chain",
          .attrs = {{"ops", std::move(ops)},
                    {"args", std::move(args)},
                    {"outputs", std::move(outputs)}},
          .outputs = std::move(specs)};
}

KernelSpec WithSum(KernelSpec chain, int64_t value, TensorSpec sums) {
  chain.op = "_FusedElementwiseSum";
  chain.attrs.Set("sum", value);
  chain.outputs.push_back(std::move(sums));
  return chain;
}

std::vector<Array> RunFused(const KernelSpec& spec, const std::vector<Array>& inputs) {
  const auto result = RunKernel(spec, inputs, KernelTier::kFused);
  EST_EXPECT_OK(result);
  return result.ok() ? *result : std::vector<Array>(spec.outputs.size());
}

Array BiasGradient(const Array& x, DType dtype) {
  return RunFused({.op = "BiasAddGrad",
                   .name = "grad",
                   .attrs = {{"data_format", std::string("NHWC")}},
                   .outputs = {{dtype, {x.shape()[-1]}}}},
                  {x})[0];
}

// Rows that are shorter and longer than a tile of 1024 numbers, runs of 64 rows and rests of them,
// one thread and several.
const std::vector<Shape>& Shapes() {
  static const auto& shapes = *new std::vector<Shape>{
      {4096, 16}, {1000, 100}, {300, 1024}, {70, 3000}, {5, 40, 33}, {1, 7}, {9, 1}};
  return shapes;
}

TEST(FusedElementwiseSum, AddsTheBitsOfTheChainAndOfBiasAddGrad) {
  for (const Shape& shape : Shapes()) {
    const std::vector<Array> inputs = {RandomArray(shape, 1), RandomArray(shape, 2),
                                       Array::Scalar(0.25f)};
    // value 3 = a b, value 4 = value 3 + s, value 5 = tanh(value 4)
    const std::vector<std::string> ops = {"Mul", "AddV2", "Tanh"};
    const std::vector<int64_t> args = {0, 1, -1, 3, 2, -1, 4, -1, -1};
    const std::vector<Array> all =
        RunFused(Chain(ops, args, {3, 4, 5}, {F32(shape), F32(shape), F32(shape)}), inputs);
    for (const int64_t value : {1, 3, 4, 5}) {
      const std::vector<Array> actual =
          RunFused(WithSum(Chain(ops, args, {5}, {F32(shape)}), value, F32({shape[-1]})), inputs);
      const Array& summed = value == 1 ? inputs[1] : all[static_cast<size_t>(value - 3)];
      EXPECT_TRUE(SameBits(actual[0], all[2])) << shape.ToString() << " value " << value;
      EXPECT_TRUE(SameBits(actual[1], BiasGradient(summed, DType::kFloat32)))
          << shape.ToString() << " value " << value;
    }
  }
}

TEST(FusedElementwiseSum, SumsBeforeOrAfterACast) {
  for (const Shape& shape : Shapes()) {
    const Array x = RandomArray(shape, 1);
    const Array narrow = x.Cast(DType::kBfloat16);
    const TensorSpec bf16{DType::kBfloat16, shape}, sums{DType::kBfloat16, {shape[-1]}};
    const KernelSpec cast = Chain({"Cast"}, {0, -1, -1}, {1}, {bf16});
    const std::vector<Array> before = RunFused(WithSum(cast, 0, F32({shape[-1]})), {x});
    EXPECT_TRUE(SameBits(before[0], narrow));
    EXPECT_TRUE(SameBits(before[1], BiasGradient(x, DType::kFloat32)));
    const std::vector<Array> after = RunFused(WithSum(cast, 1, sums), {x});
    EXPECT_TRUE(SameBits(after[0], narrow));
    EXPECT_TRUE(SameBits(after[1], BiasGradient(narrow, DType::kBfloat16)));
  }
}

TEST(FusedElementwiseSum, RefusesWhatIsNoNumberOfFullSize) {
  const Shape shape{8, 4};
  const KernelSpec chain = Chain({"Greater", "SelectV2"}, {0, 2, -1, 3, 0, 1}, {4}, {F32(shape)});
  const std::vector<TensorSpec> inputs = {F32(shape), F32(shape), F32({})};
  for (const auto& [value, accepted] : std::vector<std::pair<int64_t, bool>>{
           {-1, false}, {0, true}, {2, false}, {3, false}, {4, true}, {5, false}}) {
    KernelSpec spec = WithSum(chain, value, F32({4}));
    spec.inputs = inputs;
    EXPECT_EQ(TierAccepts(spec, KernelTier::kFused), accepted) << value;
  }
  KernelSpec wrong = WithSum(chain, 0, F32({8}));
  wrong.inputs = inputs;
  EXPECT_FALSE(TierAccepts(wrong, KernelTier::kFused)) << "sums of another axis";
}

}  // namespace
}  // namespace estimator
