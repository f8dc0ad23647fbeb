// Measures the rule of rule.h: our own matrix products of f32 against oneDNN's, for the shapes of
// common networks, each as the best of several alternating runs. Exits with 1 if the rule chooses
// the slower one by more than 5 %.
//
//   bazel run //estimator/kernels/gemm:gemm_benchmark
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/kernels/gemm/gemm.h"
#include "estimator/kernels/gemm/rule.h"
#include "estimator/kernels/kernel.h"
#include "glog/logging.h"

namespace estimator {
namespace {

struct Case {
  const char* name;
  gemm::Product product;
};

// A dense layer of `rows` examples from `in` to `out` features: the forward pass, the gradient of its
// input and that of its weights.
void AddLayer(const char* name, int64_t rows, int64_t in, int64_t out, std::vector<Case>* cases) {
  cases->push_back({name, {.m = rows, .n = out, .k = in}});
  cases->push_back({name, {.m = rows, .n = in, .k = out, .transpose_b = true}});
  cases->push_back({name, {.m = in, .n = out, .k = rows, .transpose_a = true}});
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  AddLayer("MNIST, batch 1024", 1024, 3136, 1024, &cases);
  AddLayer("MNIST, batch 128", 128, 3136, 1024, &cases);
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

constexpr int kRounds = 7;
constexpr double kOperationsPerRound = 1e9;  // so that short products are repeated

Array Numbers(const Shape& shape) {
  Array array(DType::kFloat32, shape);
  for (int64_t i = 0; i < array.num_elements(); ++i)
    array.data<float>()[i] = static_cast<float>(i % 17 - 8) / 8.0f;
  return array;
}

// Milliseconds of one of `count` runs.
double Time(int count, const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) run();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  return time.count() / count;
}

// Prints the row of a case. Returns whether the rule is right.
bool Measure(const Case& c) {
  const gemm::Product& p = c.product;
  const Array a = Numbers(p.transpose_a ? Shape{p.k, p.m} : Shape{p.m, p.k});
  const Array b = Numbers(p.transpose_b ? Shape{p.n, p.k} : Shape{p.k, p.n});
  Array own_c(DType::kFloat32, {p.m, p.n}), onednn_c(DType::kFloat32, {p.m, p.n});

  const auto kernel =
      CreateKernel({.op = "MatMul",
                    .name = c.name,
                    .attrs = {{"transpose_a", p.transpose_a}, {"transpose_b", p.transpose_b}},
                    .inputs = {{a.dtype(), a.shape()}, {b.dtype(), b.shape()}},
                    .outputs = {{onednn_c.dtype(), onednn_c.shape()}}},
                   KernelTier::kOneDnn, KernelTier::kOneDnn);
  CHECK(kernel.ok()) << kernel.status();
  const gemm::Plan plan = gemm::MakePlan(p, omp_get_max_threads());
  Array scratch(DType::kUint8,
                Shape{static_cast<int64_t>(
                    std::max((*kernel)->scratch_bytes(), plan.scratch_floats() * sizeof(float)))});
  const std::vector<const void*> inputs = {a.raw(), b.raw()};
  std::vector<void*> outputs = {onednn_c.raw()};
  const auto onednn = [&] {
    CHECK((*kernel)
              ->Run({.inputs = inputs,
                     .outputs = absl::MakeSpan(outputs),
                     .scratch = scratch.raw(),
                     .step = {}})
              .ok());
  };
  const auto own = [&] {
    gemm::Multiply(plan, a.data<float>(), b.data<float>(), nullptr, own_c.data<float>(),
                   static_cast<float*>(scratch.raw()));
  };

  const double operations =
      2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const int count = std::max(1, static_cast<int>(kOperationsPerRound / operations));
  double own_ms = 1e9, onednn_ms = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    onednn_ms = std::min(onednn_ms, Time(count, onednn));
    own_ms = std::min(own_ms, Time(count, own));
  }
  const double ratio = onednn_ms / own_ms;
  const bool chosen = gemm::Chosen(p);
  const bool right = chosen ? ratio > 0.95 : ratio < 1.05;
  std::printf("| %s | %s | %d, %d, %d | %.3f | %.3f | %.0f | %.2f | %s%s |\n", c.name,
              p.transpose_a   ? "weights' gradient"
              : p.transpose_b ? "input's gradient"
                              : "forward",
              static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), onednn_ms,
              own_ms, operations / own_ms * 1e-6, ratio, chosen ? "own" : "oneDNN",
              right ? "" : " (wrong)");
  std::fflush(stdout);
  return right;
}

int Main() {
  std::printf(
      "| layer | product | m, n, k | oneDNN ms | own ms | own GFLOP/s | ratio | rule |\n"
      "|---|---|---|---|---|---|---|---|\n");
  int wrong = 0;
  for (const Case& c : Cases()) wrong += Measure(c) ? 0 : 1;
  std::printf("\n%d choices are more than 5 %% slower than the other one\n", wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace estimator

int main() { return estimator::Main(); }
