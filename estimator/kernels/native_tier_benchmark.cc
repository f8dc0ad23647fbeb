// Measures the rules of kernel_rules.h for convolutions: the kernel that a program takes against
// every other one, in f32 and bf16, for the shapes of common networks, each as the best of several
// alternating runs. Exits with 1 if a program takes a kernel that is slower than the best one by
// more than 5 %. gemm/gemm_benchmark.cc does the same for matrix products.
//
//   bazel run //estimator/kernels:native_tier_benchmark
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/kernels/benchmark.h"
#include "estimator/kernels/bfloat16/kernels.h"
#include "estimator/kernels/bfloat16/winograd_kernels.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/kernel_list.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/widened.h"
#include "estimator/kernels/winograd/first_layer.h"
#include "estimator/kernels/winograd/kernels.h"
#include "glog/logging.h"

namespace estimator {
namespace {

struct Case {
  int64_t images, size, in_channels, out_channels, taps;
};

const Case kCases[] = {
    {128, 14, 32, 64, 5},  {1024, 14, 32, 64, 5},  {16, 14, 32, 64, 5},   {128, 8, 64, 64, 5},
    {64, 28, 16, 32, 5},   {32, 56, 64, 64, 3},    {32, 28, 128, 128, 3}, {32, 14, 256, 256, 3},
    {32, 7, 512, 512, 3},  {8, 56, 64, 64, 3},     {8, 28, 128, 128, 3},  {8, 14, 256, 256, 3},
    {8, 7, 512, 512, 3},   {128, 16, 64, 64, 3},   {128, 8, 128, 128, 3}, {128, 4, 256, 256, 3},
    {128, 32, 16, 16, 3},  {128, 16, 32, 32, 3},   {1, 56, 64, 64, 3},    {1, 14, 256, 256, 3},
    {64, 16, 64, 64, 3},   {64, 2, 512, 512, 3},   {32, 56, 64, 256, 1},  {32, 56, 256, 64, 1},
    {32, 28, 512, 128, 1}, {32, 14, 1024, 256, 1}, {32, 7, 512, 2048, 1}, {8, 14, 256, 1024, 1},
    {1, 7, 512, 512, 3},   {1, 4, 512, 512, 3},    {8, 1, 512, 512, 3},   {32, 56, 24, 24, 3},
    {32, 28, 24, 40, 3},   {128, 14, 40, 40, 3},   {32, 14, 72, 72, 3},   {128, 7, 100, 100, 3},
    {32, 28, 100, 100, 3}, {32, 28, 20, 20, 3},    {128, 14, 20, 50, 3},  {32, 32, 12, 12, 3},
    {32, 56, 16, 24, 3},   {32, 56, 8, 8, 3},      {32, 32, 3, 24, 3},    {32, 56, 3, 64, 3},
    {128, 14, 6, 16, 5},   {128, 14, 20, 50, 5},   {32, 28, 24, 48, 5},   {128, 7, 24, 64, 5},
    {32, 14, 40, 40, 5},   {128, 14, 10, 20, 5},   {32, 28, 12, 12, 5},   {128, 14, 20, 20, 5},
    {32, 28, 1, 20, 5},    {32, 32, 3, 32, 5},     {8, 14, 20, 50, 5},    {2, 14, 72, 72, 3},
};

// A convolution with bias, relu and a 2x2 max pool.
struct Block {
  int64_t images, size, in_channels, out_channels, taps;
  const char* padding;

  bool is_first() const { return in_channels <= winograd::kMostFirstLayerChannels; }
  Shape image() const { return {images, size, size, in_channels}; }
  Shape filter() const { return {taps, taps, in_channels, out_channels}; }
  // The output of the convolution, and of the pool.
  Shape full() const {
    const int64_t side = padding == std::string("SAME") ? size : size - taps + 1;
    return {images, side, side, out_channels};
  }
  Shape pooled() const { return {images, full()[1] / 2, full()[2] / 2, out_channels}; }
};

const Block kBlocks[] = {
    {128, 28, 1, 32, 5, "SAME"},   {128, 14, 32, 64, 5, "SAME"}, {128, 28, 1, 20, 5, "VALID"},
    {128, 12, 20, 50, 5, "VALID"}, {128, 28, 1, 6, 5, "SAME"},   {128, 14, 6, 16, 5, "VALID"},
    {32, 32, 3, 6, 5, "VALID"},    {32, 14, 6, 16, 5, "VALID"},  {32, 28, 1, 20, 5, "VALID"},
    {32, 12, 20, 50, 5, "VALID"},  {128, 28, 1, 10, 5, "VALID"}, {128, 12, 10, 20, 5, "VALID"},
    {128, 32, 3, 24, 3, "SAME"},   {128, 16, 24, 40, 3, "SAME"}, {32, 64, 3, 20, 3, "SAME"},
    {128, 28, 1, 8, 3, "SAME"},    {128, 14, 8, 16, 3, "SAME"},  {128, 28, 1, 1, 3, "SAME"},
    {128, 28, 1, 3, 5, "SAME"},    {32, 64, 4, 17, 3, "SAME"},   {128, 32, 3, 12, 7, "SAME"},
};

using Factory = KernelPlan (*)(const KernelSpec& spec);
// The factories of the forward pass and of both gradients.
using Factories = std::array<Factory, 3>;

KernelPlan MakeOneDnn(const KernelSpec& spec) {
  auto kernel = CreateKernel(spec, KernelTier::kOneDnn, KernelTier::kOneDnn);
  return kernel.ok() && !IsWidened(**kernel) ? *std::move(kernel) : nullptr;
}

// What a program takes.
KernelPlan MakeFastest(const KernelSpec& spec) {
  auto kernel = CreateKernel(spec, KernelTier::kNative, KernelTier::kFused);
  return kernel.ok() ? *std::move(kernel) : nullptr;
}

struct Candidate {
  const char* name;
  std::optional<NativeKernel> native;
  Factories factories;
};
const Candidate kCandidates[] = {
    {"oneDNN", {}, {MakeOneDnn, MakeOneDnn, MakeOneDnn}},
    {"Winograd",
     NativeKernel::kWinograd,
     {FromConvSpec<winograd::MakeConvolution>, FromConvSpec<winograd::MakeInputGradient>,
      FromConvSpec<winograd::MakeFilterGradient>}},
    {"bf16 tiles",
     NativeKernel::kBfloat16Tiles,
     {FromConvSpec<bfloat16::MakeConvolution>, FromConvSpec<bfloat16::MakeInputGradient>,
      FromConvSpec<bfloat16::MakeFilterGradient>}},
    {"bf16 Winograd",
     NativeKernel::kBfloat16Winograd,
     {FromConvSpec<bfloat16::MakeWinogradConvolution>,
      FromConvSpec<bfloat16::MakeWinogradInputGradient>,
      FromConvSpec<bfloat16::MakeWinogradFilterGradient>}},
    {"other",
     {},
     {MakeFastest, MakeFastest, MakeFastest}},  // measured only if programs take none of the above
};
constexpr size_t kOneDnn = 0, kOther = 4;  // in kCandidates

// The candidate that programs take.
//   has_onednn: whether oneDNN has a kernel for the spec.
size_t ChosenOf(const KernelSpec& spec, bool has_onednn) {
  const std::optional<NativeKernel> kernel = NativeKernelOf(spec);
  if (!kernel.has_value()) return has_onednn ? kOneDnn : kOther;
  const auto* const chosen = std::find_if(std::begin(kCandidates), std::end(kCandidates),
                                          [&](const Candidate& c) { return c.native == kernel; });
  return chosen == std::end(kCandidates) ? kOther : static_cast<size_t>(chosen - kCandidates);
}

// Operands on huge pages.
std::shared_ptr<Operands> MakeOperands(const KernelSpec& spec) {
  auto operands = std::make_shared<Operands>();
  const auto add = [&](const TensorSpec& tensor) {
    Array array(DType::kFloat32, tensor.shape);
    const bool argmax = tensor.dtype == DType::kUint8;
    for (int64_t i = 0; i < array.num_elements(); ++i)
      array.data<float>()[i] =
          argmax ? static_cast<float>(i % 5 % 4) : static_cast<float>(i % 17 - 8) / 8.0f;
    array = array.Cast(tensor.dtype);
    Array& memory = operands->memory.emplace_back(HugePages(array.num_bytes()));
    std::memcpy(memory.raw(), array.raw(), array.num_bytes());
    return memory.raw();
  };
  for (const TensorSpec& input : spec.inputs) operands->inputs.push_back(add(input));
  for (const TensorSpec& output : spec.outputs) operands->outputs.push_back(add(output));
  return operands;
}

// Null without a kernel.
std::unique_ptr<TimedKernel> MakeBench(std::shared_ptr<Operands> operands, KernelPlan kernel) {
  if (kernel == nullptr) return nullptr;
  return std::make_unique<TimedKernel>(std::move(kernel), std::move(operands));
}

// The forward pass and both gradients. The gradient of a filter is f32, as in training.
std::vector<KernelSpec> SpecsOf(const Case& c, bool blocked, DType dtype) {
  const Shape plain_x{c.images, c.size, c.size, c.in_channels};
  const Shape plain_y{c.images, c.size, c.size, c.out_channels};
  const TensorSpec x{dtype, blocked ? BlockedShape(plain_x, 16) : plain_x};
  const TensorSpec y{dtype, blocked ? BlockedShape(plain_y, 16) : plain_y};
  const TensorSpec filter{dtype, {c.taps, c.taps, c.in_channels, c.out_channels}};
  const TensorSpec gradient{DType::kFloat32, filter.shape};
  const TensorSpec sizes{DType::kInt32, {4}};
  const Attrs attrs = {{"strides", std::vector<int64_t>{1, 1, 1, 1}},
                       {"padding", std::string("SAME")},
                       {"data_format", std::string(blocked ? kBlockedFormat : kPlainFormat)}};
  std::vector<KernelSpec> specs(3);
  specs[0] = {.op = "Conv2D", .inputs = {x, filter}, .outputs = {y}};
  specs[1] = {.op = "Conv2DBackpropInput", .inputs = {sizes, filter, y}, .outputs = {x}};
  specs[2] = {.op = "Conv2DBackpropFilter", .inputs = {x, sizes, y}, .outputs = {gradient}};
  for (KernelSpec& spec : specs) {
    spec.name = spec.op;
    spec.attrs = attrs;
    spec.constants.resize(spec.inputs.size());
  }
  return specs;
}

// Prints the row of spec number `pass`. Returns whether programs take one of the fastest kernels.
bool Measure(const Case& c, const KernelSpec& spec, size_t pass, bool blocked, DType dtype) {
  // All kernels of a row use the same operands. Arrays of their own, at other addresses, change the
  // times.
  const std::shared_ptr<Operands> operands = MakeOperands(spec);
  std::vector<std::unique_ptr<TimedKernel>> benches;
  size_t chosen = kOther;
  for (size_t i = 0; i < std::size(kCandidates); ++i) {
    if (i == kOther) chosen = ChosenOf(spec, benches[kOneDnn] != nullptr);
    // The kernel that programs take is not measured a second time: two measurements of one kernel
    // differ.
    const bool measured = i != kOther || chosen == kOther;
    benches.push_back(measured ? MakeBench(operands, kCandidates[i].factories[pass](spec))
                               : nullptr);
  }
  // Without AVX-512, oneDNN takes no blocks of 16 channels. Programs do not use them there.
  if (benches[chosen] == nullptr) return true;
  const bool right = IsFastest(benches, chosen);
  std::printf("| %d | %d | %d, %d | %d | %s | %s | %s |", static_cast<int>(c.images),
              static_cast<int>(c.size), static_cast<int>(c.in_channels),
              static_cast<int>(c.out_channels), static_cast<int>(c.taps),
              blocked ? "blocks" : "NHWC", dtype == DType::kFloat32 ? "f32" : "bf16",
              spec.op.c_str());
  for (const auto& bench : benches) {
    if (bench == nullptr) {
      std::printf(" – |");
    } else {
      std::printf(" %.3f |", bench->ms());
    }
  }
  std::printf(" %s | %s |\n", kCandidates[chosen].name, right ? "" : "wrong");
  std::fflush(stdout);
  return right;
}

// The ops of a block with a kernel for each part, oneDNN's for convolutions: forward, then the
// gradients of the filter, the bias and, if the block is not the first one, the image.
std::vector<KernelSpec> PartsOf(const Block& b) {
  const auto f32 = [](const Shape& shape) { return TensorSpec{DType::kFloat32, shape}; };
  const TensorSpec x = f32(b.image()), filter = f32(b.filter()), bias = f32({b.out_channels});
  const TensorSpec y = f32(b.full()), pooled = f32(b.pooled()), sizes{DType::kInt32, {4}};
  const TensorSpec argmax{DType::kUint8, b.pooled()};
  const Attrs conv = {{"strides", std::vector<int64_t>{1, 1, 1, 1}},
                      {"padding", std::string(b.padding)},
                      {"data_format", std::string(kPlainFormat)}};
  Attrs fused = conv;
  fused.Set("fused_ops", std::vector<std::string>{"BiasAdd", "Relu"});
  const Attrs pool = {{"ksize", std::vector<int64_t>{1, 2, 2, 1}},
                      {"strides", std::vector<int64_t>{1, 2, 2, 1}},
                      {"padding", std::string("VALID")},
                      {"data_format", std::string(kPlainFormat)}};
  Attrs pool_gradient = pool;
  pool_gradient.Set("input_shape", b.full().dims());
  std::vector<KernelSpec> parts = {
      {.op = "_FusedConv2D", .attrs = fused, .inputs = {x, filter, bias}, .outputs = {y}},
      {.op = "_MaxPoolWithArgmax", .attrs = pool, .inputs = {y}, .outputs = {pooled, argmax}},
      {.op = "_MaxPoolGradWithArgmax",
       .attrs = pool_gradient,
       .inputs = {argmax, pooled, pooled},
       .outputs = {y}},
      {.op = "Conv2DBackpropFilter", .attrs = conv, .inputs = {x, sizes, y}, .outputs = {filter}},
      {.op = "BiasAddGrad", .attrs = {}, .inputs = {y}, .outputs = {bias}}};
  if (!b.is_first())
    parts.push_back(
        {.op = "Conv2DBackpropInput", .attrs = conv, .inputs = {sizes, filter, y}, .outputs = {x}});
  return parts;
}

// The same as ops of kernels/conv_block.h.
std::vector<KernelSpec> BlockOpsOf(const Block& b) {
  const std::vector<KernelSpec> parts = PartsOf(b);
  const TensorSpec x = parts[0].inputs[0], filter = parts[0].inputs[1], bias = parts[0].inputs[2];
  const TensorSpec pooled = parts[1].outputs[0], argmax = parts[1].outputs[1];
  Attrs attrs = parts[0].attrs;
  attrs.Set("pool_ksize", std::vector<int64_t>{1, 2, 2, 1});
  attrs.Set("pool_strides", std::vector<int64_t>{1, 2, 2, 1});
  attrs.Set("pool_padding", std::string("VALID"));
  std::vector<KernelSpec> ops = {{.op = "_FusedConv2DMaxPool",
                                  .attrs = attrs,
                                  .inputs = {x, filter, bias},
                                  .outputs = {pooled, argmax}},
                                 {.op = "_Conv2DMaxPoolBackpropFilter",
                                  .attrs = attrs,
                                  .inputs = {x, pooled, argmax},
                                  .outputs = {filter, bias}}};
  if (!b.is_first())
    ops.push_back({.op = "_Conv2DMaxPoolBackpropInput",
                   .attrs = attrs,
                   .inputs = {filter, pooled, argmax},
                   .outputs = {x}});
  return ops;
}

// Prints the row of a block: the forward pass and a step of training. Returns whether a program
// that trains takes the faster kernels.
bool MeasureBlock(const Block& block) {
  std::vector<std::unique_ptr<TimedKernel>> parts, fused;
  const auto complete = [](KernelSpec spec, ConvAlgorithm algorithm) {
    spec.name = spec.op;
    spec.constants.resize(spec.inputs.size());
    spec.conv_algorithm = algorithm;
    return spec;
  };
  for (const KernelSpec& op : PartsOf(block)) {
    const KernelSpec spec = complete(op, ConvAlgorithm::kDirect);
    parts.push_back(MakeBench(MakeOperands(spec), MakeFastest(spec)));
  }
  bool chosen = true;
  for (const KernelSpec& op : BlockOpsOf(block)) {
    // kWinograd builds the block's kernel also where the rule does not take it, so that both are
    // measured.
    const KernelSpec spec = complete(op, ConvAlgorithm::kWinograd);
    auto kernel = CreateKernel(spec, KernelTier::kNative, KernelTier::kNative);
    CHECK(kernel.ok()) << kernel.status();
    fused.push_back(MakeBench(MakeOperands(spec), *std::move(kernel)));
    chosen = chosen &&
             Accepts(complete(op, ConvAlgorithm::kAuto), KernelTier::kNative, KernelTier::kFused);
  }
  const auto sum = [](const auto& benches, size_t end) {
    double ms = 0;
    for (size_t i = 0; i < end; ++i) ms += benches[i]->ms();
    return ms;
  };
  double of_parts = 0, of_fused = 0;
  bool right = false;
  for (int run = 0; run < (right ? kRounds : kMostRounds); ++run) {
    for (const auto& bench : parts) bench->Run();
    for (const auto& bench : fused) bench->Run();
    // A choice that looks wrong is measured longer, because many of those are noise.
    if (run + 1 != kRounds && run + 1 != kMostRounds) continue;
    of_parts = sum(parts, parts.size());
    of_fused = sum(fused, fused.size());
    right = (chosen ? of_fused : of_parts) < 1.05 * std::min(of_parts, of_fused);
  }
  std::printf("| %d | %d | %d, %d | %d | %s | %.3f | %.3f | %.3f | %.3f | %s | %s |\n",
              static_cast<int>(block.images), static_cast<int>(block.size),
              static_cast<int>(block.in_channels), static_cast<int>(block.out_channels),
              static_cast<int>(block.taps), block.padding, sum(parts, 2), fused[0]->ms(), of_parts,
              of_fused, chosen ? "block" : "parts", right ? "" : "wrong");
  std::fflush(stdout);
  return right;
}

int Main() {
  std::printf("| images | size | channels | taps | layout | type | op |");
  for (const Candidate& candidate : kCandidates) std::printf(" %s, ms |", candidate.name);
  std::printf(" chosen | rule |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  int wrong = 0, all = 0;
  for (const Case& c : kCases) {
    for (const auto& [blocked, dtype] :
         {std::pair{false, DType::kFloat32}, {true, DType::kFloat32}, {false, DType::kBfloat16}}) {
      if (blocked && (c.in_channels % 16 != 0 || c.out_channels % 16 != 0)) continue;
      const std::vector<KernelSpec> specs = SpecsOf(c, blocked, dtype);
      for (size_t pass = 0; pass < specs.size(); ++pass, ++all)
        wrong += Measure(c, specs[pass], pass, blocked, dtype) ? 0 : 1;
    }
  }
  std::printf(
      "\n| images | size | channels | taps | padding | forward: parts, ms | block, ms | "
      "training: parts, ms | block, ms | chosen | rule |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Block& block : kBlocks) {
    wrong += MeasureBlock(block) ? 0 : 1;
    ++all;
  }
  std::printf("\n%d of %d choices are more than 5 %% slower than the best kernel\n", wrong, all);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace estimator

int main() { return estimator::Main(); }
