#include "estimator/kernels/kernel_list.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"

namespace estimator {
namespace {

// Winograd's algorithm and products of three bf16 numbers have the largest errors: 1e-4 of the root
// mean square of sums of a few thousand products. Those of bf16 factors are 2e-2.
constexpr Tolerance kOfF32{.relative = 1e-3, .absolute = 5e-3};
constexpr Tolerance kOfBfloat16{.relative = 5e-2, .absolute = 5e-1};

struct Case {
  KernelSpec spec;
  std::vector<Array> inputs = {};
};

Case WithInputs(KernelSpec spec, const std::vector<TensorSpec>& inputs) {
  Case c{.spec = std::move(spec)};
  for (const TensorSpec& input : inputs)
    c.inputs.push_back(RandomArray(input.shape, c.inputs.size() + 1).Cast(input.dtype));
  c.spec = CompleteSpec(c.spec, c.inputs);
  return c;
}

// All passes of convolutions with the same padding, and products with all transpositions.
std::vector<Case> AllCases() {
  std::vector<Case> cases;
  const TensorSpec sizes{DType::kInt32, {4}};
  for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
    for (const int64_t taps : {1, 3, 5, 7}) {
      for (const auto& [in, out] : {std::pair<int64_t, int64_t>{3, 16}, {20, 24}, {32, 32}}) {
        for (const int64_t stride : {1, 2}) {
          const int64_t size = 10;
          const TensorSpec x{dtype, {4, size, size, in}}, filter{dtype, {taps, taps, in, out}},
              y{dtype, {4, size / stride, size / stride, out}};
          const Attrs attrs = ConvAttrs(stride);
          cases.push_back(
              WithInputs({.op = "Conv2D", .attrs = attrs, .outputs = {y}}, {x, filter}));
          cases.push_back(WithInputs({.op = "Conv2DBackpropInput", .attrs = attrs, .outputs = {x}},
                                     {sizes, filter, y}));
          cases.push_back(WithInputs(
              {.op = "Conv2DBackpropFilter", .attrs = attrs, .outputs = {filter}}, {x, sizes, y}));
        }
      }
    }
    for (const int64_t m : {16, 130}) {
      for (const int64_t n : {10, 1030}) {
        for (const int transposed : {0, 1, 2}) {
          const int64_t k = 70;
          cases.push_back(WithInputs(
              {.op = "MatMul",
               .attrs = {{"transpose_a", transposed == 1}, {"transpose_b", transposed == 2}},
               .outputs = {{dtype, {m, n}}}},
              {{dtype, transposed == 1 ? Shape{k, m} : Shape{m, k}},
               {dtype, transposed == 2 ? Shape{n, k} : Shape{k, n}}}));
        }
      }
    }
  }
  return cases;
}

std::string Name(const Case& c) {
  return c.spec.op + " of " + c.inputs[0].TypeString() + ", " + c.inputs[1].TypeString();
}

// Runs a kernel and compares with the reference.
void ExpectRightResult(const Case& c, Kernel& kernel) {
  const auto expected = RunReferenceKernel(c.spec, c.inputs);
  EST_ASSERT_OK(expected);
  const TensorSpec& output = c.spec.outputs[0];
  Array result(output.dtype, output.shape);
  Array scratch(DType::kUint8, Shape{static_cast<int64_t>(kernel.scratch_bytes())});
  std::vector<const void*> inputs;
  for (const Array& input : c.inputs) inputs.push_back(input.raw());
  std::vector<void*> outputs = {result.raw()};
  EST_ASSERT_OK(kernel.Run({.inputs = inputs,
                            .outputs = absl::MakeSpan(outputs),
                            .scratch = scratch.raw(),
                            .step = {}}));
  const Difference difference = Compare(
      result, (*expected)[0], c.inputs.back().dtype() == DType::kFloat32 ? kOfF32 : kOfBfloat16);
  EXPECT_TRUE(difference.equal) << Name(c) << ": " << difference.report;
}

// The lists are total: each spec has a kernel, which is built and computes the result, in each of
// the algorithms that a user may ask for.
TEST(KernelLists, TheKernelThatAcceptsASpecIsBuiltAndComputesTheResult) {
  for (Case& c : AllCases()) {
    for (const ConvAlgorithm algorithm :
         {ConvAlgorithm::kAuto, ConvAlgorithm::kDirect, ConvAlgorithm::kWinograd}) {
      c.spec.conv_algorithm = algorithm;
      const auto tier = AcceptingTier(c.spec, KernelTier::kNative);
      auto kernel = CreateKernel(c.spec, KernelTier::kNative);
      EST_ASSERT_OK(kernel) << Name(c);
      EXPECT_EQ((*kernel)->tier(), tier) << Name(c);
      ExpectRightResult(c, **kernel);
    }
  }
}

template <typename Spec>
void ExpectEachToBeRight(const Case& c, absl::Span<const ListedKernel<Spec>> list,
                         const Spec& spec) {
  for (const ListedKernel<Spec>& listed : list) {
    KernelPlan plan = listed.make(spec);
    if (!plan) continue;
    const std::unique_ptr<Kernel> kernel = std::move(plan).Build();
    ASSERT_NE(kernel, nullptr) << Name(c);
    ExpectRightResult(c, *kernel);
  }
}

// Whether or not it is fast for the spec.
TEST(KernelLists, EachKernelThatAcceptsASpecIsBuiltAndComputesTheResult) {
  for (const Case& c : AllCases()) {
    if (const auto conv = ConvSpecOf(c.spec)) {
      ExpectEachToBeRight(c, ConvKernels(conv->pass), *conv);
    } else {
      ExpectEachToBeRight(c, MatMulKernels(), *MatMulSpecOf(c.spec));
    }
  }
}

}  // namespace
}  // namespace estimator
