// Measures batch normalization with an activation, forward and backward, on the shapes of
// ResNet-50.
//   batch_norm_benchmark [BATCH=32] [ROUNDS=20] [ACTIVATION=Relu]
// ACTIVATION is Identity, Relu or Relu6.
// It prints the milliseconds of the best round for images of f32 and bf16, in blocks of 16 channels
// and in NHWC, and the bytes per second as if each image was read or written once.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/array/half.h"
#include "estimator/kernels/benchmark.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"

namespace estimator {
namespace {

constexpr int64_t kBlock = 16;

// The rows (and columns) and the channels of ResNet-50's images.
constexpr std::pair<int64_t, int64_t> kImages[] = {{112, 64},  {56, 64},  {56, 256},
                                                   {28, 128},  {28, 512}, {14, 256},
                                                   {14, 1024}, {7, 512},  {7, 2048}};

// Numbers that differ from element to element.
Array Operand(const TensorSpec& spec) {
  Array array(spec.dtype, spec.shape);
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const float value = 0.5f + static_cast<float>(i % 97) / 97;
    if (spec.dtype == DType::kBfloat16) {
      array.data<Bfloat16>()[i] = static_cast<Bfloat16>(value);
    } else {
      array.data<float>()[i] = value;
    }
  }
  return array;
}

// The milliseconds of the best round.
double Measure(KernelSpec spec, int rounds) {
  spec.name = spec.op;
  std::vector<Array> inputs;
  for (const TensorSpec& input : spec.inputs) inputs.push_back(Operand(input));
  return FastestRun(spec, inputs, rounds);
}

void MeasureBoth(DType dtype, const Shape& plain, int rounds, const std::string& activation) {
  const TensorSpec channels{DType::kFloat32, {plain[3]}}, empty{DType::kFloat32, {0}};
  for (const bool blocked : {true, false}) {
    const TensorSpec x{dtype, blocked ? BlockedShape(plain, kBlock) : plain};
    const Attrs attrs = {{"epsilon", 1e-5f},
                         {"is_training", true},
                         {"exponential_avg_factor", 1.0f},
                         {"data_format", std::string(blocked ? kBlockedFormat : kPlainFormat)},
                         {"activation_mode", activation},
                         {"num_side_inputs", int64_t{0}}};
    const double forward = Measure({.op = "_FusedBatchNormEx",
                                    .attrs = attrs,
                                    .inputs = {x, channels, channels, channels, channels},
                                    .outputs = {x, channels, channels, channels, channels, empty}},
                                   rounds);
    const double backward =
        Measure({.op = "_FusedBatchNormGradEx",
                 .attrs = attrs,
                 .inputs = {x, x, channels, channels, channels, empty, channels, x},
                 .outputs = {x, channels, channels, empty, empty}},
                rounds);
    const double gigabytes = static_cast<double>(x.num_bytes()) / 1e9;
    std::printf("%-18s %-8s %-7s forward %8.3f ms %6.1f GB/s   backward %8.3f ms %6.1f GB/s\n",
                plain.ToString().c_str(), dtype == DType::kFloat32 ? "f32" : "bf16",
                blocked ? "blocks" : "NHWC", forward, 2 * gigabytes / forward * 1e3, backward,
                3 * gigabytes / backward * 1e3);
  }
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::max(1, std::atoi(argv[1])) : 32;
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 20;
  const std::string activation = argc > 3 ? argv[3] : "Relu";
  for (const auto& [size, channels] : estimator::kImages) {
    for (const estimator::DType dtype : {estimator::DType::kFloat32, estimator::DType::kBfloat16})
      estimator::MeasureBoth(dtype, {batch, size, size, channels}, rounds, activation);
  }
  return 0;
}
