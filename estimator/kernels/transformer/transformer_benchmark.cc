// Measures the kernels of this folder on the shapes of an encoder layer: batch 32, 128 words, 4
// heads of 64.
//   bazel run //estimator/kernels/transformer:transformer_benchmark [ROUNDS=20]
// It prints the milliseconds of each op in the best round.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "estimator/kernels/benchmark.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/testing/tiers.h"

namespace estimator {
namespace {

constexpr int64_t kBatch = 32, kLength = 128, kHeads = 4, kSize = 64;

void Measure(const KernelSpec& spec, const std::vector<Array>& inputs, int rounds) {
  const double ms = FastestRun(CompleteSpec(spec, inputs), inputs, rounds);
  std::printf("%8.3f ms  %s\n", ms, spec.op.c_str());
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
