// Measures the rule of rule.h: Winograd's algorithm against oneDNN's direct one, for the shapes of
// common networks, each as the best of several alternating runs. Exits with 1 if the rule chooses
// the slower one by more than 5 %.
//
//   bazel run //estimator/kernels/winograd:rule_benchmark
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/window.h"
#include "glog/logging.h"

namespace estimator {
namespace {

struct Case {
  int64_t images, size, in_channels, out_channels, taps;
};

const Case kCases[] = {
    {128, 14, 32, 64, 5}, {1024, 14, 32, 64, 5}, {16, 14, 32, 64, 5},   {128, 8, 64, 64, 5},
    {64, 28, 16, 32, 5},  {32, 56, 64, 64, 3},   {32, 28, 128, 128, 3}, {32, 14, 256, 256, 3},
    {32, 7, 512, 512, 3}, {8, 56, 64, 64, 3},    {8, 28, 128, 128, 3},  {8, 14, 256, 256, 3},
    {8, 7, 512, 512, 3},  {128, 16, 64, 64, 3},  {128, 8, 128, 128, 3}, {128, 4, 256, 256, 3},
    {128, 32, 16, 16, 3}, {128, 16, 32, 32, 3},  {1, 56, 64, 64, 3},    {1, 14, 256, 256, 3},
    {64, 16, 64, 64, 3},  {64, 2, 512, 512, 3},
};
constexpr int kRuns = 7;

// A kernel with its operands.
struct Bench {
  std::unique_ptr<Kernel> kernel;
  std::vector<Array> operands;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  Array scratch;
  double best = 1e9;

  void Run() {
    const auto start = std::chrono::steady_clock::now();
    CHECK(kernel
              ->Run({.inputs = inputs,
                     .outputs = absl::MakeSpan(outputs),
                     .scratch = scratch.raw(),
                     .step = {}})
              .ok());
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
};

// Null if no kernel above the reference tier accepts the spec.
std::unique_ptr<Bench> MakeBench(const KernelSpec& spec) {
  auto kernel = CreateKernel(spec, KernelTier::kNative, KernelTier::kFused);
  if (!kernel.ok()) return nullptr;
  auto bench = std::make_unique<Bench>();
  bench->kernel = *std::move(kernel);
  const auto add = [&](const TensorSpec& tensor) {
    Array array(tensor.dtype, tensor.shape);
    if (tensor.dtype == DType::kFloat32) {
      for (int64_t i = 0; i < array.num_elements(); ++i)
        array.data<float>()[i] = static_cast<float>(i % 17 - 8) / 8.0f;
    }
    bench->operands.push_back(array);
    return array.raw();
  };
  for (const TensorSpec& input : spec.inputs) bench->inputs.push_back(add(input));
  for (const TensorSpec& output : spec.outputs) bench->outputs.push_back(add(output));
  bench->scratch =
      Array(DType::kUint8, Shape{static_cast<int64_t>(bench->kernel->scratch_bytes())});
  return bench;
}

// The forward pass and both gradients, in NHWC or in blocks.
std::vector<KernelSpec> SpecsOf(const Case& c, bool blocked) {
  const Shape plain_x{c.images, c.size, c.size, c.in_channels};
  const Shape plain_y{c.images, c.size, c.size, c.out_channels};
  const TensorSpec x{DType::kFloat32, blocked ? BlockedShape(plain_x, 16) : plain_x};
  const TensorSpec y{DType::kFloat32, blocked ? BlockedShape(plain_y, 16) : plain_y};
  const TensorSpec filter{DType::kFloat32, {c.taps, c.taps, c.in_channels, c.out_channels}};
  const TensorSpec sizes{DType::kInt32, {4}};
  const Attrs attrs = {{"strides", std::vector<int64_t>{1, 1, 1, 1}},
                       {"padding", std::string("SAME")},
                       {"data_format", std::string(blocked ? kBlockedFormat : kPlainFormat)}};
  std::vector<KernelSpec> specs(3);
  specs[0] = {.op = "Conv2D", .inputs = {x, filter}, .outputs = {y}};
  specs[1] = {.op = "Conv2DBackpropInput", .inputs = {sizes, filter, y}, .outputs = {x}};
  specs[2] = {.op = "Conv2DBackpropFilter", .inputs = {x, sizes, y}, .outputs = {filter}};
  for (KernelSpec& spec : specs) {
    spec.name = spec.op;
    spec.attrs = attrs;
    spec.constants.resize(spec.inputs.size());
  }
  return specs;
}

int Main() {
  std::printf(
      "| images | size | channels | taps | layout | op | direct ms | Winograd ms | ratio | rule |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  int wrong = 0;
  for (const Case& c : kCases) {
    for (const bool blocked : {false, true}) {
      for (KernelSpec& spec : SpecsOf(c, blocked)) {
        const auto bench = [&](ConvAlgorithm algorithm) {
          spec.conv_algorithm = algorithm;
          return MakeBench(spec);
        };
        const auto direct = bench(ConvAlgorithm::kDirect);
        const auto winograd = bench(ConvAlgorithm::kWinograd);
        spec.conv_algorithm = ConvAlgorithm::kAuto;
        const bool chosen = Accepts(spec, KernelTier::kNative, KernelTier::kNative);
        if (direct == nullptr || winograd == nullptr) continue;
        for (int run = 0; run < kRuns; ++run) {
          direct->Run();
          winograd->Run();
        }
        const double ratio = direct->best / winograd->best;
        const bool good = chosen ? ratio > 0.95 : ratio < 1.05;
        wrong += good ? 0 : 1;
        std::printf("| %d | %d | %d, %d | %d | %s | %s | %.3f | %.3f | %.2f | %s%s |\n",
                    static_cast<int>(c.images), static_cast<int>(c.size),
                    static_cast<int>(c.in_channels), static_cast<int>(c.out_channels),
                    static_cast<int>(c.taps), blocked ? "blocks" : "NHWC", spec.op.c_str(),
                    direct->best * 1e3, winograd->best * 1e3, ratio, chosen ? "Winograd" : "direct",
                    good ? "" : " (wrong)");
        std::fflush(stdout);
      }
    }
  }
  std::printf("\n%d choices are more than 5 %% slower than the other one\n", wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace estimator

int main() { return estimator::Main(); }
