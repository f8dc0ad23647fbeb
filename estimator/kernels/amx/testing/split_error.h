// For tests: the error of a kernel whose factors are rounded or split.
#ifndef ESTIMATOR_KERNELS_AMX_TESTING_SPLIT_ERROR_H_
#define ESTIMATOR_KERNELS_AMX_TESTING_SPLIT_ERROR_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/testing/tiers.h"

namespace estimator::amx {

using Factory = std::unique_ptr<Kernel> (*)(const KernelSpec& spec);

// The largest error of the kernel's output 0, relative to the root mean square of the exact one, which
// is computed in double precision.
inline double SplitError(Factory factory, const KernelSpec& spec,
                         const std::vector<Array>& operands) {
  const std::unique_ptr<Kernel> kernel = factory(CompleteSpec(spec, operands));
  if (kernel == nullptr) return std::numeric_limits<double>::infinity();
  std::vector<const void*> inputs;
  for (const Array& operand : operands) inputs.push_back(operand.raw());
  Array result(DType::kFloat32, spec.outputs[0].shape);
  std::vector<void*> outputs = {result.raw()};
  Array scratch(DType::kUint8, Shape{static_cast<int64_t>(kernel->scratch_bytes())});
  EST_EXPECT_OK(kernel->Run({.inputs = inputs,
                             .outputs = absl::MakeSpan(outputs),
                             .scratch = scratch.raw(),
                             .step = {}}));
  KernelSpec exact = spec;
  std::vector<Array> wide = operands;
  for (Array& operand : wide) {
    if (operand.dtype() == DType::kFloat32 || operand.dtype() == DType::kBfloat16)
      operand = operand.Cast(DType::kFloat64);
  }
  for (TensorSpec& result : exact.outputs) {
    if (result.dtype == DType::kFloat32) result.dtype = DType::kFloat64;
  }
  const auto expected = RunReferenceKernel(exact, wide);
  EST_EXPECT_OK(expected);
  if (!expected.ok()) return std::numeric_limits<double>::infinity();
  double worst = 0, squares = 0;
  const Array& want = (*expected)[0];
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const double value = want.data<double>()[i];
    squares += value * value;
    const double error = std::abs(result.data<float>()[i] - value);
    if (!(error <= worst)) worst = error;  // not max: NaN must count
  }
  return worst / std::sqrt(squares / static_cast<double>(want.num_elements()));
}

}  // namespace estimator::amx

#endif  // ESTIMATOR_KERNELS_AMX_TESTING_SPLIT_ERROR_H_
