#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/gemm/gemm.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/prepared_input.h"
#include "estimator/kernels/testing/tiers.h"
#include "hwy/highway.h"

namespace estimator {
namespace {

// The same products summed in f32 in another order; at most 300 terms below 1.
constexpr Tolerance kSummationOrder{.relative = 1e-5, .absolute = 5e-5};

// The spec of a [m, k] times [k, n] product. kDirect: without the products of kernels/bfloat16.
KernelSpec Spec(int64_t m, int64_t n, int64_t k, bool transpose_a = false,
                bool transpose_b = false) {
  return {.op = "MatMul",
          .name = "m",
          .attrs = {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
          .inputs = {{DType::kFloat32, transpose_a ? Shape{k, m} : Shape{m, k}},
                     {DType::kFloat32, transpose_b ? Shape{n, k} : Shape{k, n}}},
          .outputs = {{DType::kFloat32, {m, n}}},
          .conv_algorithm = ConvAlgorithm::kDirect};
}

bool IsNative(const KernelSpec& spec) {
  return AcceptingTier(spec, KernelTier::kNative) == KernelTier::kNative;
}

// What the rule says where the CPU has AVX-512. Elsewhere all products are left to other tiers.
bool Wide() { return gemm::HasWideVectors(); }

TEST(GemmKernels, TakeTheProductsOfTheRule) {
  EXPECT_EQ(IsNative(Spec(1024, 3072, 768)), Wide());
  EXPECT_EQ(IsNative(Spec(3136, 1024, 1024, true)), Wide());
  EXPECT_EQ(IsNative(Spec(128, 3136, 1024, false, true)), Wide());
  EXPECT_EQ(IsNative(Spec(1024, 3136, 1024, false, true)), Wide());
  EXPECT_EQ(IsNative(Spec(1024, 1024, 3136)), Wide());
  EXPECT_FALSE(IsNative(Spec(1024, 10, 1024)));
  EXPECT_FALSE(IsNative(Spec(32, 1000, 2048)));
  EXPECT_FALSE(IsNative(Spec(1024, 1024, 10, false, true)));
}

TEST(GemmKernels, LeaveAllProductsToOtherTiersWithoutWideVectors) {
  hwy::SetSupportedTargetsForTest(HWY_AVX2);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_FALSE(IsNative(Spec(1024, 3072, 768)));
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(GemmKernels, LeaveOtherSpecsToOtherTiers) {
  KernelSpec spec = Spec(128, 1024, 64);
  EXPECT_EQ(IsNative(spec), Wide());
  spec.inputs[0].dtype = spec.inputs[1].dtype = spec.outputs[0].dtype = DType::kFloat64;
  EXPECT_FALSE(IsNative(spec));
  spec = Spec(128, 1024, 64);
  spec.op = "_FusedMatMul";
  spec.inputs.push_back({DType::kFloat32, {1024}});
  spec.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd"});
  EXPECT_EQ(IsNative(spec), Wide());
  spec.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd", "Tanh"});
  EXPECT_EQ(IsNative(spec), Wide());
  spec.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd", "Square"});
  EXPECT_FALSE(IsNative(spec));
  spec.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd"});
  spec.inputs.push_back(spec.outputs[0]);  // a side input
  EXPECT_FALSE(IsNative(spec));
  spec.inputs.pop_back();
  spec.inputs[2].shape = {1023};
  EXPECT_FALSE(IsNative(spec));
}

// With any tier: the native one where the CPU has AVX-512.
TEST(GemmKernels, MatchTheReference) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      const KernelSpec spec = Spec(130, 1001, 300, transpose_a, transpose_b);
      const Array a = RandomArray(spec.inputs[0].shape, 1);
      const Array b = RandomArray(spec.inputs[1].shape, 2);
      const Array bias = RandomArray({1001}, 3);
      EXPECT_EQ(IsNative(spec), Wide());
      auto expected = RunReferenceKernel(spec, {a, b});
      const auto plain = RunKernel(spec, {a, b}, KernelTier::kNative);
      EST_ASSERT_OK(expected);
      EST_ASSERT_OK(plain);
      Array y = (*expected)[0].Clone();
      EXPECT_EQ(Compare((*plain)[0], y, kSummationOrder).report, "");
      for (const bool relu : {false, true}) {
        KernelSpec fused = spec;
        fused.op = "_FusedMatMul";
        fused.inputs.push_back({DType::kFloat32, {1001}});
        fused.attrs.Set("fused_ops", relu ? std::vector<std::string>{"BiasAdd", "Relu"}
                                          : std::vector<std::string>{"BiasAdd"});
        EXPECT_EQ(IsNative(fused), Wide());
        if (!Wide()) continue;  // no other tier is linked that fuses
        for (int64_t i = 0; i < y.num_elements(); ++i) {
          float& value = y.data<float>()[i];
          if (relu) {
            value = std::max(value, 0.0f);
          } else {
            value += bias.data<float>()[i % 1001];
          }
        }
        const auto actual = RunKernel(fused, {a, b, bias}, KernelTier::kNative);
        const auto again = RunKernel(fused, {a, b, bias}, KernelTier::kNative);
        EST_ASSERT_OK(actual);
        EST_ASSERT_OK(again);
        EXPECT_EQ(Compare((*actual)[0], y, kSummationOrder).report, "") << "relu " << relu;
        EXPECT_TRUE(SameBits((*actual)[0], (*again)[0]));
      }
    }
  }
}

TEST(GemmKernels, BlocksOfRowsHaveTheBitsOfAll) {
  if (!Wide()) GTEST_SKIP() << "the rule takes no product without AVX-512";
  const int threads = omp_get_max_threads();
  for (const bool transpose_a : {false, true}) {
    const KernelSpec spec = Spec(330, 1001, 300, transpose_a);
    const std::vector<Array> inputs = {RandomArray(spec.inputs[0].shape, 1),
                                       RandomArray(spec.inputs[1].shape, 2)};
    const auto all = RunKernel(spec, inputs, KernelTier::kNative);
    EST_ASSERT_OK(all);
    for (const int count : {1, 2, 7}) {
      omp_set_num_threads(count);
      const auto kernel = CreateKernel(spec, KernelTier::kNative);
      EST_ASSERT_OK(kernel);
      for (const int64_t size : {32, 128, 352})
        EXPECT_EQ(DifferenceInRows(**kernel, inputs, (*all)[0], size), "") << count << " threads";
    }
  }
  omp_set_num_threads(threads);
}

TEST(GemmKernels, PreparedWeightsGiveTheSameBits) {
  if (!Wide()) GTEST_SKIP() << "the rule takes no product without AVX-512";
  const KernelSpec spec = Spec(130, 1001, 300);
  const Array a = RandomArray({130, 300}, 1), b = RandomArray({300, 1001}, 2);
  const auto expected = RunKernel(spec, {a, b}, KernelTier::kNative);
  EST_ASSERT_OK(expected);
  auto created = CreateKernel(spec, KernelTier::kNative);
  EST_ASSERT_OK(created);
  const std::shared_ptr<PreparedInput> kernel =
      PreparedInputOf(std::shared_ptr<Kernel>(*std::move(created)));
  ASSERT_NE(kernel, nullptr);
  ASSERT_EQ(kernel->prepared_input(), 1);
  const auto bytes = [](size_t size) { return Array(DType::kUint8, {static_cast<int64_t>(size)}); };
  Array prepared = bytes(kernel->prepared_bytes()), c(DType::kFloat32, {130, 1001});
  Array scratch = bytes(kernel->prepared_scratch_bytes());
  EST_ASSERT_OK(kernel->Prepare(b.raw(), prepared.raw(), scratch.raw()));
  const void* const inputs[] = {a.raw(), prepared.raw()};
  void* const outputs[] = {c.raw()};
  EST_ASSERT_OK(kernel->RunPrepared(
      {.inputs = inputs, .outputs = outputs, .scratch = scratch.raw(), .step = {}}));
  EXPECT_TRUE(SameBits(c, (*expected)[0]));
}

TEST(GemmKernels, TheActivationHasTheBitsOfItsOp) {
  if (!Wide()) GTEST_SKIP() << "this CPU has no vectors of 16 floats";
  KernelSpec spec = Spec(130, 1001, 300);
  spec.op = "_FusedMatMul";
  spec.inputs.push_back({DType::kFloat32, {1001}});
  spec.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd"});
  const Array a = RandomArray(spec.inputs[0].shape, 1), b = RandomArray(spec.inputs[1].shape, 2),
              bias = RandomArray({1001}, 3);
  const auto plain = RunKernel(spec, {a, b, bias}, KernelTier::kNative);
  EST_ASSERT_OK(plain);
  Array expected = (*plain)[0].Clone();
  for (float& y : expected.values<float>()) {
    if (!(y > 0)) y *= 0.3f;
  }
  spec.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd", "LeakyRelu"});
  spec.attrs.Set("leakyrelu_alpha", 0.3f);
  EXPECT_TRUE(IsNative(spec));
  const auto actual = RunKernel(spec, {a, b, bias}, KernelTier::kNative);
  EST_ASSERT_OK(actual);
  EXPECT_TRUE(SameBits((*actual)[0], expected));
}

}  // namespace
}  // namespace estimator
