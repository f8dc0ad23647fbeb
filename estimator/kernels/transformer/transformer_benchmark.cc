// Measures the kernels of this folder on the shapes of an encoder layer: batch 32, 128 words, 4
// heads of 64.
//   bazel run //estimator/kernels/transformer:transformer_benchmark [ROUNDS=20]
// It prints the milliseconds of each op in the best round.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/testing/tiers.h"

namespace estimator {
namespace {

constexpr int64_t kBatch = 32, kLength = 128, kHeads = 4, kSize = 64;

void Measure(const KernelSpec& incomplete, const std::vector<Array>& inputs, int rounds) {
  const KernelSpec spec = CompleteSpec(incomplete, inputs);
  const auto kernel = CreateKernel(spec);
  if (!kernel.ok()) {
    std::printf("%s\n", kernel.status().ToString().c_str());
    std::exit(1);
  }
  std::vector<Array> outputs;
  for (const TensorSpec& output : spec.outputs) outputs.emplace_back(output.dtype, output.shape);
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Array& input : inputs) in.push_back(input.raw());
  for (Array& output : outputs) out.push_back(output.raw());
  Array scratch(DType::kUint8, {static_cast<int64_t>((*kernel)->scratch_bytes())});
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const absl::Status status =
        (*kernel)->Run({.inputs = in, .outputs = out, .scratch = scratch.raw(), .step = {}});
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (!status.ok()) std::exit(1);
    best = std::min(best, time.count());
  }
  std::printf("%8.3f ms  %s\n", best, spec.op.c_str());
}

void MeasureAll(int rounds) {
  const TensorSpec heads{DType::kFloat32, {kBatch, kLength, kHeads, kSize}};
  const Array q = RandomArray(heads.shape, 1), k = RandomArray(heads.shape, 2),
              v = RandomArray(heads.shape, 3), dy = RandomArray(heads.shape, 4);
  const Array bias(DType::kFloat32, {kBatch, 1, 1, kLength});
  const TensorSpec mask_spec{DType::kBool, {kBatch, kHeads, kLength, kLength}};
  const Array mask(mask_spec.dtype, mask_spec.shape);
  const Attrs attention = {
      {"has_bias", true}, {"has_mask", true}, {"scale", 0.125f}, {"keep_scale", 1.25f}};
  Measure({.op = "_Attention", .attrs = attention, .outputs = {heads}}, {q, k, v, bias, mask},
          rounds);
  Measure({.op = "_AttentionGrad", .attrs = attention, .outputs = {heads, heads, heads}},
          {dy, q, k, v, bias, mask}, rounds);
  Measure({.op = "_RandomGreaterEqual",
           .attrs = {{"seed", int64_t{1}}, {"seed2", int64_t{2}}},
           .outputs = {mask_spec}},
          {Array(DType::kInt32, {4}), Array::Scalar(0.1f)}, rounds);

  constexpr int64_t kRows = kBatch * kLength, kChannels = kHeads * kSize;
  const TensorSpec rows{DType::kFloat32, {kRows, kChannels}},
      statistics{DType::kFloat32, {kRows, 1}}, channels{DType::kFloat32, {kChannels}};
  const Array x = RandomArray(rows.shape, 5), gamma = RandomArray(channels.shape, 6),
              row = RandomArray(statistics.shape, 7, 0.5f, 1);
  Measure({.op = "_LayerNorm",
           .attrs = {{"epsilon", 1e-12f}},
           .outputs = {rows, statistics, statistics}},
          {x, gamma, gamma}, rounds);
  Measure({.op = "_LayerNormGrad", .outputs = {rows, channels, channels}}, {x, x, gamma, row, row},
          rounds);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  estimator::MeasureAll(argc > 1 ? std::max(1, std::atoi(argv[1])) : 20);
  return 0;
}
