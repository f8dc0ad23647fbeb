// The kernels of whole sequences against those of the reference tier, whose gradients
// ops/recurrent_test compares with finite differences.
#include <cstdint>
#include <string>
#include <vector>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// How products are computed. Sums have up to 300 products, and up to 200 rows for the weights.
// Where factors are rounded, so is each step's state, whose errors the next steps have too.
struct Numbers {
  ConvAlgorithm algorithm;
  DType compute_dtype;
  Tolerance tolerance;
};
const std::vector<Numbers> kNumbers = {
    {ConvAlgorithm::kDirect, DType::kFloat32, {.relative = 2e-5, .absolute = 2e-5}},
    {ConvAlgorithm::kAuto, DType::kFloat32, {.relative = 2e-4, .absolute = 2e-4}},
    {ConvAlgorithm::kAuto, DType::kBfloat16, {.relative = 5e-2, .absolute = 5e-2}}};

struct Sizes {
  int64_t steps, batch, inputs, units;
};
// One of everything, odd numbers, more units than a vector has, and enough work for all threads.
const std::vector<Sizes> kSizes = {{1, 1, 1, 1},   {3, 5, 7, 3},    {4, 1, 8, 33},
                                   {5, 9, 2, 8},   {2, 17, 40, 19}, {12, 16, 150, 150},
                                   {3, 70, 33, 50}};

void ExpectMatchesReference(KernelSpec spec, const std::vector<Array>& inputs) {
  for (const Numbers& numbers : kNumbers) {
    spec.conv_algorithm = numbers.algorithm;
    spec.compute_dtype = numbers.compute_dtype;
    EXPECT_MATCHES_REFERENCE(spec, inputs, KernelTier::kNative, numbers.tolerance);
  }
}

TensorSpec F32(const Shape& shape) { return {DType::kFloat32, shape}; }
Array Length(int64_t length) { return Array::Of<int64_t>({}, {length}); }

std::vector<Array> LstmInputs(const Sizes& s, int64_t length) {
  const int64_t gates = 4 * s.units;
  std::vector<Array> inputs = {
      Length(length),
      RandomArray({s.steps, s.batch, s.inputs}, 1),
      RandomArray({s.batch, s.units}, 2),
      RandomArray({s.batch, s.units}, 3),
      RandomArray({s.inputs + s.units, gates}, 4, -0.3f, 0.3f),
  };
  for (int i = 0; i < 3; ++i) inputs.push_back(RandomArray({s.units}, 9));  // are not read
  inputs.push_back(RandomArray({gates}, 5));
  return inputs;
}

KernelSpec LstmSpec(const Sizes& s) {
  return {.op = "BlockLSTM",
          .attrs = {{"forget_bias", 0.7f}, {"cell_clip", -1.0f}, {"use_peephole", false}},
          .outputs = std::vector<TensorSpec>(7, F32({s.steps, s.batch, s.units}))};
}

TEST(BlockLstm, EqualsTheReference) {
  for (const Sizes& s : kSizes) {
    for (const int64_t length : {s.steps, s.steps / 2})
      ExpectMatchesReference(LstmSpec(s), LstmInputs(s, length));
  }
}

// The inputs of the gradient.
std::vector<Array> LstmGradInputs(const Sizes& s, int64_t length) {
  std::vector<Array> inputs = LstmInputs(s, length);
  const auto forward = RunReferenceKernel(CompleteSpec(LstmSpec(s), inputs), inputs);
  EXPECT_TRUE(forward.ok()) << forward.status();
  if (forward.ok()) inputs.insert(inputs.end(), forward->begin(), forward->end());
  for (const uint64_t seed : {6, 7})
    inputs.push_back(RandomArray({s.steps, s.batch, s.units}, seed));
  return inputs;
}

KernelSpec LstmGradSpec(const Sizes& s, const std::vector<Array>& inputs) {
  return {.op = "BlockLSTMGrad",
          .attrs = {{"use_peephole", false}},
          .outputs = {F32(inputs[1].shape()), F32(inputs[2].shape()), F32(inputs[3].shape()),
                      F32(inputs[4].shape()), F32({s.units}), F32({s.units}), F32({s.units}),
                      F32(inputs[8].shape())}};
}

TEST(BlockLstm, HasTheGradientsOfTheReference) {
  for (const Sizes& s : kSizes) {
    for (const int64_t length : {s.steps, s.steps / 2, int64_t{0}}) {
      const std::vector<Array> inputs = LstmGradInputs(s, length);
      ExpectMatchesReference(LstmGradSpec(s, inputs), inputs);
    }
  }
}

TEST(BlockLstm, GradientsOfStepsThatDidNotRunAreZeroWhateverTheMemoryHeld) {
  const Sizes s = {3, 2, 2, 2};
  const std::vector<Array> inputs = LstmGradInputs(s, 1);
  const KernelSpec spec = CompleteSpec(LstmGradSpec(s, inputs), inputs);
  std::vector<const void*> in;
  for (const Array& input : inputs) in.push_back(input.raw());
  for (const KernelTier tier : {KernelTier::kReference, KernelTier::kNative}) {
    std::vector<Array> outputs;
    std::vector<void*> out;
    for (const TensorSpec& output : spec.outputs) {
      outputs.push_back(RandomArray(output.shape, 8, 1, 2));
      out.push_back(outputs.back().raw());
    }
    const auto kernel = CreateKernel(spec, tier);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    Array scratch(DType::kUint8, Shape{static_cast<int64_t>((*kernel)->scratch_bytes())});
    const KernelArgs args{.inputs = in, .outputs = out, .scratch = scratch.raw(), .step = {}};
    ASSERT_TRUE((*kernel)->Run(args).ok());
    const absl::Span<const float> x = outputs[0].values<float>();
    for (size_t n = static_cast<size_t>(s.batch * s.inputs); n < x.size(); ++n) EXPECT_EQ(x[n], 0);
  }
}

TEST(BlockLstm, RefusesALengthBeyondTheSteps) {
  const Sizes s = {3, 2, 2, 2};
  for (const int64_t length : {-1, 4}) {
    const std::vector<Array> inputs = LstmInputs(s, length);
    const KernelSpec spec = CompleteSpec(LstmSpec(s), inputs);
    for (const KernelTier tier : {KernelTier::kReference, KernelTier::kNative}) {
      EXPECT_EQ(RunKernel(spec, inputs, tier).status().message(),
                absl::StrCat("BlockLSTM: seq_len_max is ", length, ", but x has 3 time steps"));
    }
  }
}

std::vector<Array> GruInputs(const Sizes& s) {
  return {RandomArray({s.steps, s.batch, s.inputs}, 1),
          RandomArray({s.batch, s.units}, 2),
          RandomArray({s.inputs + s.units, 2 * s.units}, 3, -0.3f, 0.3f),
          RandomArray({s.inputs + s.units, s.units}, 4, -0.3f, 0.3f),
          RandomArray({2 * s.units}, 5),
          RandomArray({s.units}, 6)};
}

KernelSpec GruSpec(const Sizes& s) {
  return {.op = "_BlockGRU",
          .outputs = std::vector<TensorSpec>(4, F32({s.steps, s.batch, s.units}))};
}

TEST(BlockGru, EqualsTheReference) {
  for (const Sizes& s : kSizes) ExpectMatchesReference(GruSpec(s), GruInputs(s));
}

TEST(BlockGru, HasTheGradientsOfTheReference) {
  for (const Sizes& s : kSizes) {
    std::vector<Array> inputs = GruInputs(s);
    const auto forward = RunReferenceKernel(CompleteSpec(GruSpec(s), inputs), inputs);
    ASSERT_TRUE(forward.ok()) << forward.status();
    KernelSpec spec{.op = "_BlockGRUGrad"};
    for (const Array& input : inputs) spec.outputs.push_back(F32(input.shape()));
    inputs.insert(inputs.end(), forward->begin(), forward->end());
    inputs.push_back(RandomArray({s.steps, s.batch, s.units}, 7));
    ExpectMatchesReference(spec, inputs);
  }
}

}  // namespace
}  // namespace estimator
