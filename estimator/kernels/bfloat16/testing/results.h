// For tests: the results of a kernel of this folder, whichever kernel programs take, and their
// error.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_TESTING_RESULTS_H_
#define ESTIMATOR_KERNELS_BFLOAT16_TESTING_RESULTS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/prepared_input.h"
#include "estimator/kernels/testing/tiers.h"

namespace estimator::bfloat16 {

using Factory = KernelPlan (*)(const KernelSpec& spec);

// Memory that begins with NaN, because what is left in it must not matter.
inline Array DirtyMemory(size_t bytes) {
  Array memory(DType::kUint8, Shape{static_cast<int64_t>(bytes)});
  std::fill_n(memory.data<uint8_t>(), memory.num_elements(), uint8_t{0xff});
  return memory;
}

// Checks that a kernel with a prepared input gives the same bits in two parts.
//   results: those of Run.
inline void CheckPrepared(const std::shared_ptr<Kernel>& kernel, std::vector<const void*> inputs,
                          const std::vector<Array>& results) {
  const std::shared_ptr<PreparedInput> prepared = PreparedInputOf(kernel);
  if (prepared == nullptr) return;
  Array copy = DirtyMemory(prepared->prepared_bytes());
  Array scratch = DirtyMemory(prepared->prepared_scratch_bytes());
  const void*& input = inputs[static_cast<size_t>(prepared->prepared_input())];
  EST_EXPECT_OK(prepared->Prepare(input, copy.raw(), scratch.raw()));
  input = copy.raw();
  std::vector<Array> again;
  std::vector<void*> outputs;
  for (const Array& result : results) again.emplace_back(result.dtype(), result.shape());
  for (Array& result : again) outputs.push_back(result.raw());
  EST_EXPECT_OK(prepared->RunPrepared({.inputs = inputs,
                                       .outputs = absl::MakeSpan(outputs),
                                       .scratch = scratch.raw(),
                                       .step = {}}));
  for (size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(SameBits(results[i], again[i])) << i;
}

// The outputs of the factory's kernel. If the factory refuses the spec, the test fails.
inline std::vector<Array> ResultsOf(Factory factory, const KernelSpec& incomplete,
                                    const std::vector<Array>& operands) {
  const KernelSpec spec = CompleteSpec(incomplete, operands);
  std::vector<Array> results;
  std::vector<void*> outputs;
  for (const TensorSpec& output : spec.outputs) results.emplace_back(output.dtype, output.shape);
  for (Array& result : results) outputs.push_back(result.raw());
  const std::shared_ptr<Kernel> kernel = factory(spec);
  if (kernel == nullptr) {
    ADD_FAILURE() << "refused: " << spec.name;
    return results;
  }
  std::vector<const void*> inputs;
  for (const Array& operand : operands) inputs.push_back(operand.raw());
  Array scratch = DirtyMemory(kernel->scratch_bytes());
  EST_EXPECT_OK(kernel->Run({.inputs = inputs,
                             .outputs = absl::MakeSpan(outputs),
                             .scratch = scratch.raw(),
                             .step = {}}));
  CheckPrepared(kernel, inputs, results);
  return results;
}

// Output 0 of these.
inline Array RunWithDirtyScratch(Factory factory, const KernelSpec& spec,
                                 const std::vector<Array>& operands) {
  return ResultsOf(factory, spec, operands)[0];
}

// The largest error of the kernel's output 0, relative to the root mean square of the exact one,
// which is computed in double precision.
inline double LargestError(Factory factory, const KernelSpec& spec,
                           const std::vector<Array>& operands) {
  const Array result = RunWithDirtyScratch(factory, spec, operands).Cast(DType::kFloat32);
  KernelSpec exact = spec;
  std::vector<Array> wide = operands;
  for (Array& operand : wide) {
    if (operand.dtype() == DType::kFloat32 || operand.dtype() == DType::kBfloat16)
      operand = operand.Cast(DType::kFloat64);
  }
  for (TensorSpec& output : exact.outputs) {
    if (output.dtype == DType::kFloat32 || output.dtype == DType::kBfloat16)
      output.dtype = DType::kFloat64;
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

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_TESTING_RESULTS_H_
