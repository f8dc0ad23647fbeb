// For tests: holds a kernel of a faster tier against the reference kernel of the same spec.
#ifndef ESTIMATOR_KERNELS_FUSED_TIER_TESTING_H_
#define ESTIMATOR_KERNELS_FUSED_TIER_TESTING_H_

#include <cstdint>
#include <memory>
#include <typeinfo>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/base/random.h"
#include "estimator/kernels/kernel.h"
#include "gtest/gtest.h"

namespace estimator {

// f32, uniform in [low, high).
inline Array RandomArray(const Shape& shape, uint64_t seed, float low = -1.0f, float high = 1.0f) {
  Array array(DType::kFloat32, shape);
  Philox philox(seed);
  Philox::Result numbers{};
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    if (i % 4 == 0) numbers = philox.Next4();
    array.data<float>()[i] = low + (high - low) * UniformFloat(numbers[static_cast<size_t>(i % 4)]);
  }
  return array;
}

// The inputs and their values as constants filled in.
inline KernelSpec CompleteSpec(KernelSpec spec, const std::vector<Array>& inputs) {
  if (spec.name.empty()) spec.name = spec.op;
  for (const Array& input : inputs) {
    spec.inputs.push_back({input.dtype(), input.shape()});
    spec.constants.emplace_back(input);
  }
  return spec;
}

// True if `tier` itself makes the kernel of the spec, rather than leaving it to the reference.
inline bool TierAccepts(const KernelSpec& spec, KernelTier tier) {
  const auto fast = CreateKernel(spec, tier);
  const auto reference = CreateKernel(spec, KernelTier::kReference);
  if (!fast.ok()) return false;
  if (!reference.ok()) return true;
  const Kernel &a = **fast, &b = **reference;
  return typeid(a) != typeid(b);
}

// The tier takes the spec, agrees with the reference within the tolerance (one for all outputs), and gives
// the same bits a second time. `outputs` 0: all.
inline void ExpectMatchesReference(const KernelSpec& incomplete, const std::vector<Array>& inputs, KernelTier tier,
                                   Tolerance tolerance, size_t outputs = 0) {
  const KernelSpec spec = CompleteSpec(incomplete, inputs);
  SCOPED_TRACE(spec.op + " {" + spec.attrs.ToString() + "}");
  EXPECT_TRUE(TierAccepts(spec, tier));
  const auto actual = RunKernel(spec, inputs, tier);
  const auto again = RunKernel(spec, inputs, tier);
  const auto expected = RunReferenceKernel(spec, inputs);
  ASSERT_TRUE(actual.ok()) << actual.status();
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (size_t i = 0; i < (outputs == 0 ? expected->size() : outputs); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    const Difference difference = Compare((*actual)[i], (*expected)[i], tolerance);
    EXPECT_TRUE(difference.equal) << difference.report;
    EXPECT_TRUE(SameBits((*actual)[i], (*again)[i]));
  }
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_FUSED_TIER_TESTING_H_
