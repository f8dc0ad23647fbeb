// Measures the kernels of one training step of the MNIST network through the kernel interface: conv
// 5x5x32 same, pool 2, conv 5x5x64 same, pool 2, dense 1024, dense 10; forward, backward and
// gradient descent.
//   mnist_benchmark [BATCH=1024] [ROUNDS=5]
// It prints the milliseconds of each op (of the best round) and images/s.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/kernels/benchmark.h"
#include "estimator/kernels/kernel.h"

namespace estimator {
namespace {

TensorSpec F32(const Shape& shape) { return {DType::kFloat32, shape}; }

Attrs WindowAttrs(int64_t stride) {
  return {{"strides", std::vector<int64_t>{1, stride, stride, 1}},
          {"ksize", std::vector<int64_t>{1, 2, 2, 1}},
          {"padding", std::string("SAME")},
          {"data_format", std::string("NHWC")}};
}

Attrs With(Attrs attrs, const char* name, AttrValue value) {
  attrs.Set(name, std::move(value));
  return attrs;
}

class Bench {
 public:
  explicit Bench(int rounds) : rounds_(rounds) {}

  void Add(KernelSpec spec) {
    spec.name = spec.op;
    // Arrays of zeros, so that every integer operand is a valid label or size.
    std::vector<Array> inputs;
    for (const TensorSpec& input : spec.inputs) inputs.emplace_back(input.dtype, input.shape);
    const double ms = FastestRun(spec, inputs, rounds_);
    total_ += ms / 1e3;
    std::printf("%-36s %-16s %8.2f ms\n", spec.op.c_str(), spec.outputs[0].shape.ToString().c_str(),
                ms);
  }
  double total() const { return total_; }

 private:
  int rounds_;
  double total_ = 0;
};

void ConvBlock(Bench& bench, int64_t batch, int64_t size, int64_t in, int64_t out, bool first) {
  const TensorSpec x = F32({batch, size, size, in}), y = F32({batch, size, size, out});
  const TensorSpec pooled = F32({batch, size / 2, size / 2, out}), filter = F32({5, 5, in, out}),
                   bias = F32({out});
  const TensorSpec argmax{DType::kUint8, pooled.shape}, sizes{DType::kInt32, {4}};
  const std::vector<std::string> fused_ops = {"BiasAdd", "Relu"};
  bench.Add({.op = "_FusedConv2D",
             .attrs = With(WindowAttrs(1), "fused_ops", fused_ops),
             .inputs = {x, filter, bias},
             .outputs = {y}});
  bench.Add({.op = "_MaxPoolWithArgmax",
             .attrs = WindowAttrs(2),
             .inputs = {y},
             .outputs = {pooled, argmax}});
  bench.Add({.op = "_MaxPoolGradWithArgmax",
             .attrs = With(WindowAttrs(2), "input_shape", y.shape.dims()),
             .inputs = {argmax, pooled, pooled},
             .outputs = {y}});
  bench.Add({.op = "BiasAddGrad", .attrs = WindowAttrs(1), .inputs = {y}, .outputs = {bias}});
  bench.Add({.op = "Conv2DBackpropFilter",
             .attrs = WindowAttrs(1),
             .inputs = {x, sizes, y},
             .outputs = {filter}});
  if (!first) {
    bench.Add({.op = "Conv2DBackpropInput",
               .attrs = WindowAttrs(1),
               .inputs = {sizes, filter, y},
               .outputs = {x}});
  }
  bench.Add(
      {.op = "ApplyGradientDescent", .inputs = {filter, F32({}), filter}, .outputs = {filter}});
}

void DenseBlock(Bench& bench, int64_t batch, int64_t in, int64_t out, bool relu) {
  const TensorSpec x = F32({batch, in}), y = F32({batch, out}), kernel = F32({in, out}),
                   bias = F32({out});
  const auto attrs = [](bool a, bool b) { return Attrs{{"transpose_a", a}, {"transpose_b", b}}; };
  std::vector<std::string> fused_ops = {"BiasAdd"};
  if (relu) fused_ops.push_back("Relu");
  bench.Add({.op = "_FusedMatMul",
             .attrs = With(attrs(false, false), "fused_ops", fused_ops),
             .inputs = {x, kernel, bias},
             .outputs = {y}});
  if (relu) bench.Add({.op = "ReluGrad", .inputs = {y, y}, .outputs = {y}});
  bench.Add({.op = "BiasAddGrad", .inputs = {y}, .outputs = {bias}});
  bench.Add({.op = "MatMul", .attrs = attrs(true, false), .inputs = {x, y}, .outputs = {kernel}});
  bench.Add({.op = "MatMul", .attrs = attrs(false, true), .inputs = {y, kernel}, .outputs = {x}});
  bench.Add(
      {.op = "ApplyGradientDescent", .inputs = {kernel, F32({}), kernel}, .outputs = {kernel}});
}

int Main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 1024;
  Bench bench(argc > 2 ? std::atoi(argv[2]) : 5);
  ConvBlock(bench, batch, 28, 1, 32, /*first=*/true);
  ConvBlock(bench, batch, 14, 32, 64, /*first=*/false);
  DenseBlock(bench, batch, 3136, 1024, /*relu=*/true);
  bench.Add({.op = "RandomUniform",
             .attrs = {{"seed", int64_t{1}}, {"seed2", int64_t{2}}},
             .inputs = {{DType::kInt32, {2}}},
             .outputs = {F32({batch, 1024})}});
  DenseBlock(bench, batch, 1024, 10, /*relu=*/false);
  bench.Add({.op = "SparseSoftmaxCrossEntropyWithLogits",
             .inputs = {F32({batch, 10}), {DType::kInt32, {batch}}},
             .outputs = {F32({batch}), F32({batch, 10})}});
  std::printf("batch %lld: %.1f ms, %.0f images/s\n", static_cast<long long>(batch),
              bench.total() * 1e3, static_cast<double>(batch) / bench.total());
  return 0;
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) { return estimator::Main(argc, argv); }
