// For tests: compares a kernel of a faster tier with the reference kernel of the same spec.
#ifndef ESTIMATOR_KERNELS_TESTING_TIERS_H_
#define ESTIMATOR_KERNELS_TESTING_TIERS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/base/random.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/testing/attrs.h"  // IWYU pragma: export

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

// The spec with its inputs, and with their values as constants.
inline KernelSpec CompleteSpec(KernelSpec spec, const std::vector<Array>& inputs) {
  if (spec.name.empty()) spec.name = spec.op;
  for (const Array& input : inputs) {
    spec.inputs.push_back({input.dtype(), input.shape()});
    spec.constants.emplace_back(input);
  }
  return spec;
}

// True if `tier` has its own kernel for the spec, so that the reference kernel is not used.
inline bool TierAccepts(const KernelSpec& spec, KernelTier tier) {
  return Accepts(spec, tier, KernelTier::kFused);
}

// Returns "" if the tier accepts the spec, agrees with the reference within the tolerance (one for
// all outputs), and gives the same bits a second time. Otherwise says what is wrong.
//   num_outputs: how many outputs are compared; 0: all.
inline std::string DifferenceFromReference(const KernelSpec& incomplete,
                                           const std::vector<Array>& inputs, KernelTier tier,
                                           Tolerance tolerance, size_t num_outputs = 0) {
  const KernelSpec spec = CompleteSpec(incomplete, inputs);
  const std::string what = absl::StrCat(spec.op, " {", spec.attrs.ToString(), "}: ");
  if (!TierAccepts(spec, tier)) return what + "left to the reference tier";
  const auto actual = RunKernel(spec, inputs, tier);
  const auto again = RunKernel(spec, inputs, tier);
  const auto expected = RunReferenceKernel(spec, inputs);
  for (const auto* result : {&actual, &again, &expected}) {
    if (!result->ok()) return what + result->status().ToString();
  }
  for (size_t i = 0; i < (num_outputs == 0 ? expected->size() : num_outputs); ++i) {
    const Difference difference = Compare((*actual)[i], (*expected)[i], tolerance);
    if (!difference.equal) return absl::StrCat(what, "output ", i, ": ", difference.report);
    if (!SameBits((*actual)[i], (*again)[i]))
      return absl::StrCat(what, "output ", i, " differs from run to run");
  }
  return "";
}

// Returns "" if the kernel computes its output, which is `expected`, in blocks of `size` rows with
// the same bits, and writes no other rows. Otherwise says what is wrong.
inline std::string DifferenceInRows(Kernel& kernel, const std::vector<Array>& inputs,
                                    const Array& expected, int64_t size) {
  if (!kernel.RunsRows()) return "the kernel does not run rows";
  std::vector<const void*> operands;
  for (const Array& input : inputs) operands.push_back(input.raw());
  Array scratch(DType::kUint8, {static_cast<int64_t>(kernel.scratch_bytes())});
  Array got(expected.dtype(), expected.shape()), want(expected.dtype(), expected.shape());
  const int64_t rows = expected.shape()[0];
  const size_t row_bytes = expected.num_bytes() / static_cast<size_t>(rows);
  for (int64_t begin = 0; begin < rows; begin += size) {
    const int64_t end = std::min(begin + size, rows);
    for (Array* const dirty : {&got, &want, &scratch})
      std::memset(dirty->raw(), 0xff, dirty->num_bytes());
    const size_t offset = static_cast<size_t>(begin) * row_bytes;
    std::memcpy(static_cast<char*>(want.raw()) + offset,
                static_cast<const char*>(expected.raw()) + offset,
                static_cast<size_t>(end - begin) * row_bytes);
    void* const outputs[] = {got.raw()};
    const absl::Status status = kernel.Run({.inputs = operands,
                                            .outputs = outputs,
                                            .scratch = scratch.raw(),
                                            .rows = {.begin = begin, .end = end},
                                            .step = {}});
    if (!status.ok()) return status.ToString();
    if (!SameBits(got, want)) return absl::StrCat("rows ", begin, " to ", end, " differ");
  }
  return "";
}

// The element that an exact op must copy to a place of its output: that of `array` at `index`.
// Null: an element of which all bytes are 0.
struct Source {
  const Array* array = nullptr;
  std::vector<int64_t> index = {};
};
// Returns "" if each element of the outputs has the bytes of its source. Otherwise says what is
// wrong.
//   source(output, index): of the element of that output.
template <typename SourceOf>
std::string DifferenceFromSources(const KernelSpec& incomplete, const std::vector<Array>& inputs,
                                  SourceOf&& source) {
  const KernelSpec spec = CompleteSpec(incomplete, inputs);
  const auto outputs = RunKernel(spec, inputs, KernelTier::kFused);
  if (!outputs.ok()) return outputs.status().ToString();
  for (size_t o = 0; o < outputs->size(); ++o) {
    const Array& output = (*outputs)[o];
    const std::vector<int64_t> strides = output.shape().strides();
    const size_t size = DTypeSize(output.dtype());
    const std::string zeros(size, '\0');
    std::vector<int64_t> index(strides.size());
    for (int64_t i = 0; i < output.num_elements(); ++i) {
      for (size_t axis = 0; axis < strides.size(); ++axis)
        index[axis] = i / strides[axis] % output.shape().dims()[axis];
      const Source from = source(o, index);
      const char* expected = zeros.data();
      if (from.array != nullptr) {
        int64_t at = 0;
        for (size_t axis = 0; axis < from.index.size(); ++axis)
          at += from.index[axis] * from.array->shape().strides()[axis];
        expected = static_cast<const char*>(from.array->raw()) + static_cast<size_t>(at) * size;
      }
      if (std::memcmp(static_cast<const char*>(output.raw()) + static_cast<size_t>(i) * size,
                      expected, size) != 0)
        return absl::StrCat(spec.op, ": output ", o, " differs at element ", i);
    }
  }
  return "";
}

// Converts `array` to the other format of kernels/layout.h: from NHWC to blocks, or with block 0
// back.
inline Array InBlocks(const Array& array, int64_t block) {
  const Shape shape = block > 0 ? BlockedShape(array.shape(), block) : PlainShape(array.shape());
  const auto result =
      RunReferenceKernel({.op = kReorderOp,
                          .name = "reorder",
                          .attrs = {{"to", std::string(block > 0 ? kBlockedFormat : kPlainFormat)}},
                          .outputs = {{array.dtype(), shape}}},
                         {array});
  return (*result)[0];
}

// Runs `plain` on the same numbers, with the inputs and outputs of the given indices in blocks.
// Returns "" if the tier accepts that and the result is `expected` within the tolerance. Otherwise
// says what is wrong.
inline std::string DifferenceInBlocks(const KernelSpec& plain, const std::vector<Array>& inputs,
                                      const std::vector<Array>& expected,
                                      const std::vector<size_t>& image_inputs,
                                      const std::vector<size_t>& image_outputs, int64_t block,
                                      KernelTier tier, Tolerance tolerance,
                                      size_t num_outputs = 0) {
  KernelSpec spec = plain;
  std::vector<Array> given = inputs;
  for (const size_t i : image_inputs) given[i] = InBlocks(inputs[i], block);
  for (const size_t o : image_outputs)
    spec.outputs[o].shape = BlockedShape(plain.outputs[o].shape, block);
  spec.attrs.Set("data_format", std::string(kBlockedFormat));
  if (spec.attrs.has("input_shape"))
    spec.attrs.Set("input_shape",
                   BlockedShape(Shape(spec.attrs.ints("input_shape")), block).dims());
  spec = CompleteSpec(spec, given);
  auto actual = RunKernel(spec, given, tier);
  if (!actual.ok()) return actual.status().ToString();
  for (const size_t o : image_outputs) (*actual)[o] = InBlocks((*actual)[o], 0);
  for (size_t o = 0; o < (num_outputs == 0 ? expected.size() : num_outputs); ++o) {
    const Difference difference = Compare((*actual)[o], expected[o], tolerance);
    if (!difference.equal)
      return absl::StrCat(plain.op, " in blocks of ", block, ": output ", o, ": ",
                          difference.report);
  }
  return "";
}

// For files that include gtest.
#define EXPECT_MATCHES_SOURCES(...) EXPECT_EQ(::estimator::DifferenceFromSources(__VA_ARGS__), "")
#define EXPECT_MATCHES_REFERENCE(...) \
  EXPECT_EQ(::estimator::DifferenceFromReference(__VA_ARGS__), "")

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_TESTING_TIERS_H_
