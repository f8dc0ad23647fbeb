// Measures the rules of kernel_rules.h for matrix products: our own ones of f32 and bf16 against
// oneDNN's, for the shapes of common networks, each as the best of several alternating runs. Exits
// with 1 if the rules choose a slower one by more than 5 %.
//
//   bazel run //estimator/kernels/gemm:gemm_benchmark
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/kernels/benchmark.h"
#include "estimator/kernels/bfloat16/matmul_kernel.h"
#include "estimator/kernels/gemm/gemm.h"
#include "estimator/kernels/gemm/kernels.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/kernel_list.h"
#include "estimator/kernels/kernel_rules.h"
#include "glog/logging.h"

namespace estimator {
namespace {

struct Case {
  const char* name;
  gemm::Product product;
};

// A dense layer of `rows` examples from `in` to `out` features: the forward pass, the gradient of
// its input and that of its weights.
void AddLayer(const char* name, int64_t rows, int64_t in, int64_t out, std::vector<Case>* cases) {
  cases->push_back({name, {.m = rows, .n = out, .k = in}});
  cases->push_back({name, {.m = rows, .n = in, .k = out, .transpose_b = true}});
  cases->push_back({name, {.m = in, .n = out, .k = rows, .transpose_a = true}});
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  AddLayer("MNIST, batch 1024", 1024, 3136, 1024, &cases);
  AddLayer("MNIST, batch 128", 128, 3136, 1024, &cases);
  AddLayer("MNIST, batch 16", 16, 3136, 1024, &cases);
  AddLayer("MNIST, logits", 1024, 1024, 10, &cases);
  AddLayer("encoder of 256, attention", 4096, 256, 256, &cases);
  AddLayer("encoder of 256, intermediate", 4096, 256, 1024, &cases);
  AddLayer("encoder of 256, output", 4096, 1024, 256, &cases);
  AddLayer("BERT base, attention", 1024, 768, 768, &cases);
  AddLayer("BERT base, intermediate", 1024, 768, 3072, &cases);
  AddLayer("BERT base, output", 1024, 3072, 768, &cases);
  AddLayer("ResNet-50, logits", 32, 2048, 1000, &cases);
  AddLayer("ResNet-50, 1x1 of 56x56", 25088, 256, 64, &cases);
  AddLayer("ResNet-50, 1x1 of 14x14", 6272, 1024, 256, &cases);
  AddLayer("ResNet-50, 1x1 of 7x7", 1568, 512, 2048, &cases);
  return cases;
}

constexpr double kOperationsPerRound = 1e9;  // so that short products are repeated

Array Numbers(DType dtype, const Shape& shape) {
  Array array(DType::kFloat32, shape);
  // The power that a product takes, and so its speed, depends on the numbers.
  for (int64_t i = 0; i < array.num_elements(); ++i)
    array.data<float>()[i] = static_cast<float>(i * 7919 % 20011 - 10005) / 10005.0f;
  return array.Cast(dtype);
}

// Prints the row of a case. Returns whether the rules are right.
//   dtype: of the factors.
bool Measure(const Case& c, DType dtype) {
  const gemm::Product& p = c.product;
  const bool wide = dtype == DType::kFloat32;
  const Array a = Numbers(dtype, p.transpose_a ? Shape{p.k, p.m} : Shape{p.m, p.k});
  const Array b = Numbers(dtype, p.transpose_b ? Shape{p.n, p.k} : Shape{p.k, p.n});
  const KernelSpec spec{.op = "MatMul",
                        .name = c.name,
                        .attrs = {{"transpose_a", p.transpose_a}, {"transpose_b", p.transpose_b}},
                        .inputs = {{a.dtype(), a.shape()}, {b.dtype(), b.shape()}},
                        .outputs = {{DType::kFloat32, {p.m, p.n}}}};
  auto onednn = CreateKernel(spec, KernelTier::kOneDnn, KernelTier::kOneDnn);
  CHECK(onednn.ok()) << onednn.status();
  const auto operands = MakeOperands({a, b}, spec.outputs);
  std::vector<std::unique_ptr<TimedKernel>> candidates;  // null if there is none
  const auto add = [&](std::unique_ptr<Kernel> kernel) {
    candidates.push_back(
        kernel == nullptr ? nullptr : std::make_unique<TimedKernel>(std::move(kernel), operands));
  };
  add(*std::move(onednn));
  add(FromMatMulSpec<gemm::MakeMatMul>(spec));
  add(FromMatMulSpec<bfloat16::MakeMatMul>(spec));

  const double operations =
      2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const int count = std::max(1, static_cast<int>(kOperationsPerRound / operations));
  const std::optional<NativeKernel> native = NativeKernelOf(spec);
  const size_t chosen = native == NativeKernel::kBfloat16Tiles ? 2
                        : native == NativeKernel::kGemm        ? 1
                                                               : 0;
  const bool right = IsFastest(candidates, chosen, count);
  std::printf("| %s | %s | %s | %d, %d, %d |", c.name, wide ? "f32" : "bf16",
              p.transpose_a   ? "weights' gradient"
              : p.transpose_b ? "input's gradient"
                              : "forward",
              static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k));
  for (const auto& candidate : candidates) {
    if (candidate == nullptr) {
      std::printf(" - |");
    } else {
      std::printf(" %.3f |", candidate->ms());
    }
  }
  constexpr const char* kNames[] = {"oneDNN", "gemm", "bfloat16"};
  std::printf(" %.0f | %s%s |\n", operations / candidates[chosen]->ms() * 1e-6, kNames[chosen],
              right ? "" : " (wrong)");
  std::fflush(stdout);
  return right;
}

int Main() {
  std::printf(
      "| layer | factors | product | m, n, k | oneDNN ms | gemm ms | bfloat16 ms | GFLOP/s | rule "
      "|\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  int wrong = 0;
  for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
    for (const Case& c : Cases()) wrong += Measure(c, dtype) ? 0 : 1;
  }
  std::printf("\n%d choices are more than 5 %% slower than the best one\n", wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace estimator

int main() { return estimator::Main(); }
