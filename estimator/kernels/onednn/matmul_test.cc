#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/onednn/primitive_chain.h"
#include "estimator/kernels/onednn/testing/activations.h"
#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using onednn::Chain;
using onednn::kActivations;
using onednn::SetFusedOps;

// The same products summed in f32 in another order; at most 300 terms below 1.
constexpr Tolerance kSummationOrder{.relative = 1e-5, .absolute = 5e-5};

TEST(OneDnnMatMul, AllTranspositionsMatchTheReference) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      const Shape a = transpose_a ? Shape{300, 17} : Shape{17, 300};
      const Shape b = transpose_b ? Shape{10, 300} : Shape{300, 10};
      EXPECT_MATCHES_REFERENCE(
          {.op = "MatMul",
           .attrs = {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
           .outputs = {{DType::kFloat32, {17, 10}}}},
          {RandomArray(a, 1), RandomArray(b, 2)}, KernelTier::kOneDnn, kSummationOrder);
    }
  }
}

TEST(OneDnnMatMul, AShapeWhoseSecondOperandIsTurnedFirstMatchesTheReference) {
  EXPECT_MATCHES_REFERENCE({.op = "MatMul",
                            .attrs = {{"transpose_a", false}, {"transpose_b", false}},
                            .outputs = {{DType::kFloat32, {128, 512}}}},
                           {RandomArray({128, 300}, 1), RandomArray({300, 512}, 2)},
                           KernelTier::kOneDnn, kSummationOrder);
}

TEST(OneDnnMatMul, BatchedWithBroadcastAxesMatchesTheReference) {
  const Attrs plain{{"adj_x", false}, {"adj_y", false}};
  const Attrs transposed{{"adj_x", false}, {"adj_y", true}};
  EXPECT_MATCHES_REFERENCE(
      {.op = "BatchMatMulV2", .attrs = plain, .outputs = {{DType::kFloat32, {2, 3, 5, 7}}}},
      {RandomArray({2, 3, 5, 8}, 1), RandomArray({2, 3, 8, 7}, 2)}, KernelTier::kOneDnn,
      kSummationOrder);
  EXPECT_MATCHES_REFERENCE(
      {.op = "BatchMatMulV2", .attrs = transposed, .outputs = {{DType::kFloat32, {2, 3, 5, 7}}}},
      {RandomArray({2, 3, 5, 8}, 1), RandomArray({2, 3, 7, 8}, 2)}, KernelTier::kOneDnn,
      kSummationOrder);
  EXPECT_MATCHES_REFERENCE(
      {.op = "BatchMatMulV2", .attrs = plain, .outputs = {{DType::kFloat32, {2, 3, 5, 7}}}},
      {RandomArray({2, 1, 5, 8}, 1), RandomArray({3, 8, 7}, 2)}, KernelTier::kOneDnn,
      kSummationOrder);
}

TEST(OneDnnMatMul, FusedBiasSideInputAndActivationMatchTheUnfusedChain) {
  const Array a = RandomArray({9, 64}, 1), b = RandomArray({64, 12}, 2),
              bias = RandomArray({12}, 3), side = RandomArray({9, 12}, 4);
  const Attrs attrs{{"transpose_a", false}, {"transpose_b", false}};
  const auto plain = RunReferenceKernel(
      {.op = "MatMul", .name = "m", .attrs = attrs, .outputs = {{DType::kFloat32, {9, 12}}}},
      {a, b});
  EST_ASSERT_OK(plain);
  for (const std::string activation : kActivations) {
    for (const bool with_side : {false, true}) {
      const Array expected = Chain(activation, (*plain)[0], bias, with_side ? &side : nullptr);
      KernelSpec fused{.op = "_FusedMatMul",
                       .name = "f",
                       .attrs = attrs,
                       .outputs = {{DType::kFloat32, {9, 12}}}};
      SetFusedOps(activation, fused);
      std::vector<Array> inputs = {a, b, bias};
      if (with_side) inputs.push_back(side);
      const auto actual = RunKernel(fused, inputs, KernelTier::kOneDnn);
      EST_ASSERT_OK(actual);
      const Difference difference = Compare((*actual)[0], expected, kSummationOrder);
      EXPECT_TRUE(difference.equal)
          << activation << " side " << with_side << ": " << difference.report;
      const auto kernel = CreateKernel(CompleteSpec(fused, inputs), KernelTier::kOneDnn);
      EST_ASSERT_OK(kernel);
      EXPECT_EQ((*kernel)->AliasInput(0), with_side ? 3 : -1);
    }
  }
}

// Their results would have another accuracy than those of the op.
TEST(OneDnnMatMul, OtherActivationsAreLeftToTheirOps) {
  for (const char* activation : {"Tanh", "Sigmoid", "Elu", "Selu", "Softplus", "Softsign"}) {
    KernelSpec spec{.op = "_FusedMatMul",
                    .name = "f",
                    .attrs = {{"transpose_a", false}, {"transpose_b", false}},
                    .inputs = {{DType::kFloat32, {9, 64}},
                               {DType::kFloat32, {64, 12}},
                               {DType::kFloat32, {12}}},
                    .outputs = {{DType::kFloat32, {9, 12}}}};
    SetFusedOps("Relu", spec);
    EXPECT_TRUE(TierAccepts(spec, KernelTier::kOneDnn));
    SetFusedOps(activation, spec);
    EXPECT_FALSE(TierAccepts(spec, KernelTier::kOneDnn)) << activation;
  }
}

TEST(OneDnnMatMul, MnistShapesDoNotUseOneDnnsReference) {
  struct Dense {
    Shape a, b, c;
    bool transpose_a, transpose_b;
  };
  for (const int64_t n : {128, 1024}) {
    const Dense cases[] = {
        {{n, 3136}, {3136, 1024}, {n, 1024}, false, false},
        {{n, 1024}, {3136, 1024}, {n, 3136}, false, true},
        {{n, 3136}, {n, 1024}, {3136, 1024}, true, false},
        {{n, 1024}, {1024, 10}, {n, 10}, false, false},
        {{n, 10}, {1024, 10}, {n, 1024}, false, true},
        {{n, 1024}, {n, 10}, {1024, 10}, true, false},
    };
    for (const Dense& dense : cases) {
      const auto kernel = CreateKernel(
          {.op = "MatMul",
           .name = "m",
           .attrs = {{"transpose_a", dense.transpose_a}, {"transpose_b", dense.transpose_b}},
           .inputs = {{DType::kFloat32, dense.a}, {DType::kFloat32, dense.b}},
           .outputs = {{DType::kFloat32, dense.c}}});
      EST_ASSERT_OK(kernel);
      const auto* chain = dynamic_cast<const onednn::PrimitiveChain*>(kernel->get());
      ASSERT_NE(chain, nullptr);
      EXPECT_NE(chain->implementation().rfind("ref", 0), 0u) << chain->implementation();
    }
  }
}

TEST(OneDnnMatMul, AnotherDtypeIsLeftToTheReference) {
  const KernelSpec spec{.op = "MatMul",
                        .name = "m",
                        .attrs = {{"transpose_a", false}, {"transpose_b", false}},
                        .inputs = {{DType::kFloat64, {2, 3}}, {DType::kFloat64, {3, 2}}},
                        .outputs = {{DType::kFloat64, {2, 2}}}};
  EXPECT_FALSE(TierAccepts(spec, KernelTier::kOneDnn));
}

}  // namespace
}  // namespace estimator
