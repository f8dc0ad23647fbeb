// What a step costs that looks up 1,024 rows of a table of 128 columns and updates them:
//   bazel run //estimator/training:row_updates_benchmark [ROWS] [PYTHON]
// `in place` is what a step does, `copying` the same without runtime/passes/row_updates.h: a dense
// gradient and a new table, copied back. With PYTHON, one that has TensorFlow, the same steps by
// its sparse updates (row_updates_benchmark.py), in turns. Best of five rounds.
// Default of ROWS: 1,048,576, 512 MiB a table. Expected: in place 15 to 20 times faster than
// copying. TensorFlow is faster still, most of all for large tables.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "estimator/graph/graph.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/train/adagrad.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/runtime/cpu_backend.h"

namespace estimator {
namespace {

constexpr int64_t kColumns = 128, kBatch = 1024;
constexpr int kRounds = 5;

using Clock = std::chrono::steady_clock;

class Bench {
 public:
  template <typename Optimizer>
  Bench(int64_t num_rows, Optimizer optimizer) : num_rows_(num_rows) {
    const GraphScope scope(graph_);
    const Variable table =
        GetVariable("table", {num_rows, kColumns}, {.initializer = initializers::Zeros()});
    const Tensor ids = Placeholder(DType::kInt64, {kBatch}, "ids");
    const Tensor error = Gather(table, ids) - 1;
    const Tensor loss = ReduceMean(error * error);
    spec_ = {.feeds = {ids}, .fetches = {loss}, .updates = {optimizer.Minimize(loss)}};
  }

  // Milliseconds of a step.
  double Run(const CompileOptions& options, int num_steps) {
    VariableStore store;
    Check(InitializeVariables(graph_, store));
    const std::unique_ptr<Backend> backend = MakeCpuBackend(store, options);
    const std::unique_ptr<Executable> step = backend->Compile(graph_, spec_).value();
    int64_t count = 0;
    const Infeed infeed = [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
      Array ids(DType::kInt64, {kBatch});
      for (int64_t i = 0; i < kBatch; ++i)
        ids.data<int64_t>()[i] = (i * 7919 + count * 104729) % num_rows_;
      ++count;
      return StepFeeds{{ids}};
    };
    Check(step->RunLoop(2, infeed, nullptr).status());
    const auto begin = Clock::now();
    Check(step->RunLoop(num_steps, infeed, nullptr).status());
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count() / num_steps;
  }

 private:
  static void Check(const absl::Status& status) {
    if (status.ok()) return;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(1);
  }

  const int64_t num_rows_;
  Graph graph_;
  ProgramSpec spec_;
};

// Milliseconds of a step of TensorFlow's; 0 where there is none.
double RunPython(const std::string& python, const char* rule, int64_t num_rows) {
  if (python.empty()) return 0;
  const std::string command = python + " estimator/training/row_updates_benchmark.py " + rule +
                              " " + std::to_string(num_rows) + " 2>/dev/null";
  double ms = 0;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr || fscanf(pipe, "%lf", &ms) != 1)
    std::fprintf(stderr, "%s gave no number\n", command.c_str());
  if (pipe != nullptr) pclose(pipe);
  return ms;
}

template <typename Optimizer>
void Measure(const char* rule, Optimizer optimizer, int64_t num_rows, const std::string& python) {
  Bench bench(num_rows, std::move(optimizer));
  double in_place = 1e9, copying = 1e9, theirs = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    in_place = std::min(in_place, bench.Run({.single_replica = true}, 50));
    copying = std::min(copying, bench.Run({.fuse = false, .single_replica = true}, 3));
    theirs = std::min(theirs, RunPython(python, rule, num_rows));
  }
  std::printf("%-16s in place %8.3f ms   copying %8.1f ms, %6.1f times", rule, in_place, copying,
              copying / in_place);
  if (theirs > 0) std::printf("   TensorFlow %8.3f ms, %5.2f times", theirs, theirs / in_place);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  using namespace estimator;  // NOLINT: a program
  const int64_t num_rows = argc > 1 ? std::atoll(argv[1]) : 1 << 20;
  const std::string python = argc > 2 ? argv[2] : "";
  Measure("GradientDescent", train::GradientDescent(0.1), num_rows, python);
  Measure("Momentum", train::Momentum(0.1, 0.9), num_rows, python);
  Measure("Adagrad", train::Adagrad(0.1), num_rows, python);
  return 0;
}
