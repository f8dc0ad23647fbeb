#include <cstdint>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Exponentials of 4 units in the last place, their sum in another order, and logits up to 20, whose
// difference to the maximum is rounded to 1e-6.
constexpr Tolerance kExponentials{.relative = 5e-6, .absolute = 2e-6};

std::vector<Shape> Shapes() { return {{1024, 10}, {5, 1}, {3, 4, 1001}, {7}}; }

TEST(FusedSoftmax, SoftmaxAndLogSoftmaxMatchTheReference) {
  for (const Shape& shape : Shapes()) {
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      EXPECT_MATCHES_REFERENCE({.op = op, .outputs = {{DType::kFloat32, shape}}},
                               {RandomArray(shape, 1, -20, 20)}, KernelTier::kFused, kExponentials);
    }
  }
}

TEST(FusedSoftmax, CrossEntropiesMatchTheReferenceInLossAndGradient) {
  for (const Shape& shape : {Shape{1024, 10}, Shape{33, 1001}, Shape{4, 1}}) {
    const Array logits = RandomArray(shape, 1, -20, 20);
    const std::vector<TensorSpec> outputs = {{DType::kFloat32, {shape[0]}},
                                             {DType::kFloat32, shape}};
    EXPECT_MATCHES_REFERENCE({.op = "SoftmaxCrossEntropyWithLogits", .outputs = outputs},
                             {logits, RandomArray(shape, 2, 0, 0.01f)}, KernelTier::kFused,
                             kExponentials);
    Array labels32(DType::kInt32, {shape[0]}), labels64(DType::kInt64, {shape[0]});
    for (int64_t r = 0; r < shape[0]; ++r) {
      labels32.data<int32_t>()[r] = static_cast<int32_t>(r * 7 % shape[1]);
      labels64.data<int64_t>()[r] = r * 7 % shape[1];
    }
    for (const Array& labels : {labels32, labels64}) {
      EXPECT_MATCHES_REFERENCE({.op = "SparseSoftmaxCrossEntropyWithLogits", .outputs = outputs},
                               {logits, labels}, KernelTier::kFused, kExponentials);
    }
  }
}

TEST(FusedSoftmax, HugeLogitsDoNotOverflow) {
  const Array logits = Array::Of<float>({2, 3}, {1e30f, 0, -1e30f, 300, 299, 298});
  EXPECT_MATCHES_REFERENCE({.op = "Softmax", .outputs = {{DType::kFloat32, {2, 3}}}}, {logits},
                           KernelTier::kFused, kExponentials);
}

TEST(FusedSoftmax, ALabelOutOfRangeIsTheReferencesError) {
  const std::vector<Array> inputs = {RandomArray({3, 10}, 1), Array::Of<int32_t>({3}, {0, 9, 10})};
  const KernelSpec spec{.op = "SparseSoftmaxCrossEntropyWithLogits",
                        .name = "loss",
                        .outputs = {{DType::kFloat32, {3}}, {DType::kFloat32, {3, 10}}}};
  const auto fused = RunKernel(spec, inputs, KernelTier::kFused);
  const auto reference = RunReferenceKernel(spec, inputs);
  EXPECT_THAT(fused, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(fused.status(), reference.status());
}

}  // namespace
}  // namespace estimator
