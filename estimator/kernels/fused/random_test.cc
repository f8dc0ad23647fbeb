#include <cstdint>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

TEST(FusedRandom, UniformGivesTheReferencesBitsForEverySizeSeedStepAndReplica) {
  for (const int64_t size : {1, 127, 128, 131, 100003}) {
    for (const int64_t step : {0, 7, 1000000}) {
      for (const int replica : {0, 3}) {
        for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
          const KernelSpec spec =
              CompleteSpec({.op = "RandomUniform",
                            .attrs = {{"seed", int64_t{0x123456789abcdef}}, {"seed2", int64_t{-5}}},
                            .outputs = {{dtype, {size}}}},
                           {Array::Of<int32_t>({1}, {static_cast<int32_t>(size)})});
          const std::vector<Array> inputs = {*spec.constants[0]};
          EXPECT_TRUE(TierAccepts(spec, KernelTier::kFused));
          const StepContext context{.step = step, .replica = replica, .num_replicas = 8};
          const auto actual = RunKernel(spec, inputs, KernelTier::kFused, context);
          const auto expected = RunReferenceKernel(spec, inputs, context);
          EST_ASSERT_OK(actual);
          EST_ASSERT_OK(expected);
          EXPECT_TRUE(SameBits((*actual)[0], (*expected)[0]))
              << size << " numbers of " << dtype << ", step " << step << ", replica " << replica;
        }
      }
    }
  }
}

TEST(ReferenceRandom, RefusesAnEmptyRangeOfIntegers) {
  const KernelSpec spec{.op = "RandomUniformInt",
                        .attrs = {{"seed", int64_t{1}}, {"seed2", int64_t{2}}},
                        .outputs = {{DType::kInt32, {2}}}};
  const auto of = [&](int32_t low, int32_t high) {
    return RunReferenceKernel(
        spec, {Array::Of<int32_t>({1}, {2}), Array::Scalar(low), Array::Scalar(high)});
  };
  EST_EXPECT_OK(of(2, 3));
  EXPECT_THAT(of(3, 3), ErrorHas("minval must be less than maxval, got 3 and 3"));
}

}  // namespace
}  // namespace estimator
