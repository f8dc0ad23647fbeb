// The inputs of goldens.h, and a check against its numbers.
#ifndef ESTIMATOR_OPS_TESTDATA_NEURAL_OPS_PATTERN_H_
#define ESTIMATOR_OPS_TESTDATA_NEURAL_OPS_PATTERN_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"

namespace estimator::goldens {

// Eighths in [-5/8, 5/8], exact in every floating type. The same as generate.py's pattern().
inline Array Pattern(const Shape& shape, int64_t seed) {
  Array array(DType::kFloat32, shape);
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    array.data<float>()[i] = static_cast<float>((i * 7 + seed * 5) % 11 - 5) / 8;
  }
  return array;
}

// A few roundings of float32: the order of sums differs from TensorFlow's.
constexpr Tolerance kFloatTolerance = {.relative = 2e-6, .absolute = 2e-6};

// Evaluates f32 `tensor` and compares its elements with TensorFlow's.
inline void ExpectGolden(const Tensor& tensor, const std::vector<float>& golden,
                         Tolerance tolerance = kFloatTolerance) {
  ASSERT_TRUE(tensor.valid()) << tensor.graph()->status();
  const auto actual = testing::Eval(tensor);
  ASSERT_TRUE(actual.ok()) << actual.status();
  ASSERT_EQ(static_cast<size_t>(actual->num_elements()), golden.size()) << actual->TypeString();
  const Array expected = Array::FromSpan<float>(actual->shape(), golden);
  EXPECT_EQ(Compare(*actual, expected, tolerance).report, "") << tensor.name();
}

}  // namespace estimator::goldens

#endif  // ESTIMATOR_OPS_TESTDATA_NEURAL_OPS_PATTERN_H_
