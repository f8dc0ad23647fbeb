// What the benchmarks of kernels share: operands, and the time of the fastest run.
#ifndef ESTIMATOR_KERNELS_BENCHMARK_H_
#define ESTIMATOR_KERNELS_BENCHMARK_H_

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "estimator/array/array.h"
#include "estimator/kernels/kernel.h"
#include "glog/logging.h"

namespace estimator {

// Memory on huge pages, as programs have it: small arrays are not on huge pages, and kernels that
// use much scratch memory take up to twice as long without.
inline Array HugePages(size_t bytes) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t pages = std::max<size_t>((bytes + kHugePage - 1) / kHugePage, 1);
  return Array(DType::kUint8, Shape{static_cast<int64_t>(pages * kHugePage)});
}

// The operands of a spec. All kernels of a spec use the same, because the addresses of arrays alone
// can change the time of a kernel by a quarter.
struct Operands {
  std::vector<Array> memory;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
};

inline std::shared_ptr<Operands> MakeOperands(std::vector<Array> inputs,
                                              const std::vector<TensorSpec>& outputs) {
  auto operands = std::make_shared<Operands>();
  operands->memory = std::move(inputs);
  for (const Array& input : operands->memory) operands->inputs.push_back(input.raw());
  for (const TensorSpec& output : outputs) {
    operands->memory.emplace_back(output.dtype, output.shape);
    operands->outputs.push_back(operands->memory.back().raw());
  }
  return operands;
}

// A kernel, and the time of its fastest run.
class TimedKernel {
 public:
  TimedKernel(std::unique_ptr<Kernel> kernel, std::shared_ptr<Operands> operands)
      : kernel_(std::move(kernel)),
        operands_(std::move(operands)),
        scratch_(HugePages(kernel_->scratch_bytes())) {}

  // Runs it `count` times, and takes their mean for the time of a run.
  void Run(int count = 1) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
      const absl::Status status = kernel_->Run({.inputs = operands_->inputs,
                                                .outputs = absl::MakeSpan(operands_->outputs),
                                                .scratch = scratch_.raw(),
                                                .step = {}});
      CHECK(status.ok()) << status;
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    ms_ = std::min(ms_, time.count() / count);
  }
  double ms() const { return ms_; }

 private:
  const std::unique_ptr<Kernel> kernel_;
  const std::shared_ptr<Operands> operands_;
  Array scratch_;
  double ms_ = 1e12;
};

// The milliseconds of the fastest run of the kernel that programs take. There are `rounds` runs and
// one before them, which has the page faults. Exits if there is no kernel.
inline double FastestRun(const KernelSpec& spec, std::vector<Array> inputs, int rounds) {
  auto kernel = CreateKernel(spec);
  if (!kernel.ok()) {
    std::printf("%s\n", kernel.status().ToString().c_str());
    std::exit(1);
  }
  TimedKernel timed(*std::move(kernel), MakeOperands(std::move(inputs), spec.outputs));
  for (int round = 0; round <= rounds; ++round) timed.Run();
  return timed.ms();
}

// Rounds of each kernel. A choice that looks wrong after kRounds is judged after kMostRounds: the
// fastest of seven runs varies by more than 5 %.
inline constexpr int kRounds = 7, kMostRounds = 42;

// Runs kernels, some of which may be null, in turn. Returns whether kernel number `chosen` takes at
// most 5 % longer than the fastest one.
//   count: runs in a round.
inline bool IsFastest(const std::vector<std::unique_ptr<TimedKernel>>& kernels, size_t chosen,
                      int count = 1) {
  bool right = false;
  for (int round = 0; round < (right ? kRounds : kMostRounds); ++round) {
    double best = 1e12;
    for (const auto& kernel : kernels) {
      if (kernel == nullptr) continue;
      kernel->Run(count);
      best = std::min(best, kernel->ms());
    }
    if (round + 1 == kRounds || round + 1 == kMostRounds)
      right = kernels[chosen]->ms() < 1.05 * best;
  }
  return right;
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_BENCHMARK_H_
