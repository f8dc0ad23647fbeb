#include <cstdint>
#include <vector>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

Array DimsOf(const Shape& shape) {
  Array dims(DType::kInt64, {shape.rank()});
  for (int i = 0; i < shape.rank(); ++i) dims.data<int64_t>()[i] = shape[i];
  return dims;
}

// What the two ops of the reference tier give.
Array Expected(const Shape& shape, float limit, const Attrs& attrs, const StepContext& step) {
  const Array dims = DimsOf(shape);
  const auto numbers = RunReferenceKernel(
      CompleteSpec({.op = "RandomUniform", .attrs = attrs, .outputs = {{DType::kFloat32, shape}}},
                   {dims}),
      {dims}, step);
  Array mask(DType::kBool, shape);
  for (int64_t i = 0; i < mask.num_elements(); ++i)
    mask.data<bool>()[i] = (*numbers)[0].data<float>()[i] >= limit;
  return mask;
}

Array Actual(const Shape& shape, float limit, const Attrs& attrs, const StepContext& step) {
  const std::vector<Array> inputs = {DimsOf(shape), Array::Scalar(limit)};
  const auto mask = RunKernel(
      CompleteSpec(
          {.op = "_RandomGreaterEqual", .attrs = attrs, .outputs = {{DType::kBool, shape}}},
          inputs),
      inputs, KernelTier::kFused, step);
  EXPECT_TRUE(mask.ok()) << mask.status();
  return mask.ok() ? (*mask)[0] : Array();
}

TEST(RandomMask, HasTheBitsOfTheComparedNumbers) {
  const Attrs attrs = {{"seed", int64_t{87654321}}, {"seed2", (int64_t{5} << 40) + 17}};
  for (const Shape& shape : {Shape{1}, Shape{63}, Shape{64}, Shape{7, 129}, Shape{4, 64, 300}}) {
    for (const StepContext& step : {StepContext{}, StepContext{.step = 1234567},
                                    StepContext{.step = 3, .replica = 2, .num_replicas = 4}}) {
      EXPECT_TRUE(SameBits(Actual(shape, 0.1f, attrs, step), Expected(shape, 0.1f, attrs, step)))
          << shape.ToString() << " step " << step.step;
    }
  }
}

TEST(RandomMask, CountersCarryIntoTheirUpperWord) {
  // Step 2^26 of 64 numbers starts at counter 2^26 * 256 * 64 = 2^40.
  const Attrs attrs = {{"seed", int64_t{3}}, {"seed2", int64_t{4}}};
  const StepContext step{.step = int64_t{1} << 26};
  EXPECT_TRUE(SameBits(Actual({64}, 0.5f, attrs, step), Expected({64}, 0.5f, attrs, step)));
}

TEST(RandomMask, LimitsAtTheEndsAndBetweenTwoNumbers) {
  const Attrs attrs = {{"seed", int64_t{1}}, {"seed2", int64_t{2}}};
  for (const float limit : {0.0f, 1.0f, 0.5f, 0.3f, 1.0f / 3, 1e-9f}) {
    EXPECT_TRUE(SameBits(Actual({1000}, limit, attrs, {}), Expected({1000}, limit, attrs, {})))
        << limit;
  }
}

}  // namespace
}  // namespace estimator
