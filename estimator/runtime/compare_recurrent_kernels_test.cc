#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/compare_kernels.h"

namespace estimator {
namespace {

// The kernel of a GRU's time steps rounds its factors itself: its operands stay f32.
TEST(CheckAgainstReference, AGruThatMayRoundFactorsHasALargerTolerance) {
  const auto check = [](float error, DType compute_dtype) {
    KernelSpec spec = {.op = "_BlockGRU", .name = "y", .compute_dtype = compute_dtype};
    std::vector<Array> operands;
    for (const Shape& shape : std::vector<Shape>{{1, 1, 1}, {1, 1}, {2, 2}, {2, 1}, {2}, {1}}) {
      operands.emplace_back(DType::kFloat32, shape);  // zeros
      spec.inputs.push_back({DType::kFloat32, shape});
      spec.constants.emplace_back();
    }
    spec.outputs = std::vector<TensorSpec>(4, {DType::kFloat32, {1, 1, 1}});
    const auto output = [](float y) { return Array::Of<float>({1, 1, 1}, {y}); };
    ir::Node node;
    node.op = spec.op;
    return ir::CheckAgainstReference(
        node, spec, operands, {output(0.5F + error), output(0.5F), output(0), output(0)}, {});
  };
  EST_EXPECT_OK(check(0.02F, DType::kBfloat16));
  EXPECT_TRUE(absl::IsInternal(check(0.2F, DType::kBfloat16)));
  EXPECT_TRUE(absl::IsInternal(check(0.02F, DType::kFloat32)));
}

}  // namespace
}  // namespace estimator
