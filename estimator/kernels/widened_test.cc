#include "estimator/kernels/widened.h"

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::HasSubstr;

// The fused tier's kernel of this op: out = a + 1000 * b and the sum of a, in f32 only.
std::unique_ptr<Kernel> MakeSumAndTotal(const KernelSpec& spec) {
  for (const TensorSpec& input : spec.inputs) {
    if (input.dtype != DType::kFloat32) return nullptr;
  }
  if (spec.constants.size() == 2 && spec.constants[1].has_value() &&
      spec.constants[1]->dtype() != DType::kFloat32) {
    return nullptr;
  }
  const int64_t n = spec.inputs[0].shape.num_elements();
  return MakeKernel(
      [n](const KernelArgs& args) {
        float* const scratch = static_cast<float*>(args.scratch);
        *scratch = 0;
        for (int64_t i = 0; i < n; ++i) {
          args.out<float>(0)[i] = args.in<float>(0)[i] + 1000 * args.in<float>(1)[i];
          *scratch += args.in<float>(0)[i];
        }
        if (*scratch < 0) return absl::InvalidArgumentError("the sum is negative");
        *args.out<int32_t>(1) = static_cast<int32_t>(*scratch);
        return absl::OkStatus();
      },
      sizeof(float));
}
EST_REGISTER_KERNEL("TestSumAndTotal", KernelTier::kFused, MakeSumAndTotal);

KernelSpec Spec(int64_t n) {
  return {.op = "TestSumAndTotal",
          .name = "test",
          .outputs = {{DType::kBfloat16, {n}}, {DType::kInt32, {}}}};
}

TEST(Widened, ComputesInFloat32AndRoundsTheResult) {
  constexpr int64_t kSize = 3 * 16384 + 5;  // several pieces and a rest
  const Array a = RandomArray({kSize}, 1, 0, 1).Cast(DType::kBfloat16);
  const Array b = RandomArray({kSize}, 2).Cast(DType::kBfloat16);
  const auto result = RunKernel(Spec(kSize), {a, b}, KernelTier::kFused);
  EST_ASSERT_OK(result);
  float total = 0;
  for (int64_t i = 0; i < kSize; ++i) {
    const float x = a.data<Bfloat16>()[i], y = b.data<Bfloat16>()[i];
    ASSERT_EQ((*result)[0].data<Bfloat16>()[i].bits, Bfloat16(x + 1000 * y).bits) << i;
    total += x;
  }
  EXPECT_EQ((*result)[1].scalar<int32_t>(), static_cast<int32_t>(total));
}

TEST(Widened, MixesBfloat16AndFloat32Operands) {
  const Array a = RandomArray({7}, 1, 0, 1), b = RandomArray({7}, 2);
  const auto result = RunKernel(Spec(7), {a, b.Cast(DType::kBfloat16)}, KernelTier::kFused);
  EST_ASSERT_OK(result);
  const Bfloat16 y = b.Cast(DType::kBfloat16).data<Bfloat16>()[6];
  EXPECT_EQ((*result)[0].data<Bfloat16>()[6].bits,
            Bfloat16(a.data<float>()[6] + 1000 * static_cast<float>(y)).bits);
}

TEST(Widened, ReportsTheKernelsError) {
  const Array a = RandomArray({7}, 1, -1, -0.5f).Cast(DType::kBfloat16);
  EXPECT_THAT(RunKernel(Spec(7), {a, a}, KernelTier::kFused).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the sum is negative")));
}

TEST(Widened, IsNotTakenWithoutABfloat16InputOrForTheReferenceTier) {
  const Array a = RandomArray({7}, 1);
  KernelSpec f64 = Spec(7);
  EXPECT_THAT(RunKernel(f64, {a.Cast(DType::kFloat64), a.Cast(DType::kFloat64)}, KernelTier::kFused)
                  .status(),
              StatusIs(absl::StatusCode::kUnimplemented));
  const Array narrow = a.Cast(DType::kBfloat16);
  EXPECT_THAT(RunKernel(Spec(7), {narrow, narrow}, KernelTier::kReference).status(),
              StatusIs(absl::StatusCode::kUnimplemented));
}

TEST(Widened, IsTold) {
  const Array a = RandomArray({7}, 1);
  const auto wide = CreateKernel(CompleteSpec(Spec(7), {a, a}), KernelTier::kFused);
  const Array narrow = a.Cast(DType::kBfloat16);
  const auto widened = CreateKernel(CompleteSpec(Spec(7), {narrow, narrow}), KernelTier::kFused);
  EST_ASSERT_OK(wide);
  EST_ASSERT_OK(widened);
  EXPECT_FALSE(IsWidened(**wide));
  EXPECT_TRUE(IsWidened(**widened));
  const KernelSpec wide_spec = CompleteSpec(Spec(7), {a, a});
  const KernelSpec narrow_spec = CompleteSpec(Spec(7), {narrow, narrow});
  EXPECT_TRUE(AcceptsUnwidened(wide_spec, KernelTier::kFused));
  EXPECT_TRUE(Accepts(narrow_spec, KernelTier::kFused));
  EXPECT_FALSE(AcceptsUnwidened(narrow_spec, KernelTier::kFused));
}

TEST(Widened, MayHaveTheErrorsOfBfloat16) {
  KernelSpec spec = Spec(4);
  spec.inputs = {{DType::kBfloat16, {4}}, {DType::kFloat32, {4}}};
  const auto wide = WidenedSpec(spec);
  ASSERT_TRUE(wide.has_value());
  EXPECT_EQ(wide->inputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(wide->compute_dtype, DType::kBfloat16);
}

TEST(Widened, LeavesCastAlone) {
  EXPECT_FALSE(WidenedSpec({.op = "Cast", .inputs = {{DType::kBfloat16, {2}}}}).has_value());
}

}  // namespace
}  // namespace estimator
