// What a step costs that looks up rows of a table and updates them, for tables of growing size:
//   bazel run //estimator/training:row_updates_benchmark [PYTHON]
// Tables of 32 columns; 512 rows are looked up a step, in one place or in two, and the gradient may
// be clipped by its global norm. `in place` is what a step does, `copying` the same without
// runtime/passes/row_updates.h: a dense gradient and a new table, copied back. With PYTHON, one
// that has TensorFlow, the same steps by its sparse updates (row_updates_benchmark.py), in turns.
// Best of three rounds. Expected: a step in place costs the same for each size, but for rows that
// no cache has: 5 us for each time that those of a large table are read or written.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/graph/graph.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/train/adagrad.h"
#include "estimator/nn/train/clip.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"

namespace estimator {
namespace {

constexpr int64_t kColumns = 32, kBatch = 512;
constexpr int kRounds = 3;

using Clock = std::chrono::steady_clock;

// Of row_updates_benchmark.py too.
enum class Use { kOnce, kTwice, kClipped };
const char* NameOf(Use use) {
  return use == Use::kOnce ? "once" : use == Use::kTwice ? "twice" : "clipped";
}

class Bench {
 public:
  template <typename Optimizer>
  Bench(int64_t num_rows, Optimizer optimizer, Use use) : num_rows_(num_rows) {
    const GraphScope scope(graph_);
    const Variable table =
        GetVariable("table", {num_rows, kColumns}, {.initializer = initializers::Zeros()});
    const int64_t num_places = use == Use::kOnce ? 1 : 2;
    Tensor loss = ConstantLike(table.read(), 0);
    for (int64_t place = 0; place < num_places; ++place) {
      spec_.feeds.push_back(Placeholder(DType::kInt64, {kBatch / num_places}));
      const Tensor error = Gather(table, spec_.feeds.back()) - 1;
      loss = loss + ReduceMean(error * error);
    }
    std::vector<train::GradientAndVariable> pairs = optimizer.ComputeGradients(loss);
    if (use == Use::kClipped) pairs = train::ClipByGlobalNorm(pairs, 1e-3);
    spec_.fetches = {loss};
    spec_.updates = {optimizer.ApplyGradients(pairs)};
  }

  // Microseconds of a step.
  double Run(const CompileOptions& options, int num_steps) {
    VariableStore store;
    Check(InitializeVariables(graph_, store));
    const std::unique_ptr<Backend> backend = MakeCpuBackend(store, options);
    const std::unique_ptr<Executable> step = backend->Compile(graph_, spec_).value();
    int64_t count = 0;
    const Infeed infeed = [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
      StepFeeds feeds(1);
      for (size_t place = 0; place < spec_.feeds.size(); ++place) {
        const int64_t size = kBatch / static_cast<int64_t>(spec_.feeds.size());
        Array ids(DType::kInt64, {size});
        // Multiples of a prime spread the ids over the table, so that the look-ups of a step do not
        // follow each other in memory.
        for (int64_t i = 0; i < size; ++i)
          ids.data<int64_t>()[i] = (i * 7919 + count * 104729) % num_rows_;
        feeds[0].push_back(std::move(ids));
        ++count;
      }
      return feeds;
    };
    // The first steps touch memory and caches for the first time.
    Check(step->RunLoop(20, infeed, nullptr).status());
    const auto begin = Clock::now();
    Check(step->RunLoop(num_steps, infeed, nullptr).status());
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / num_steps;
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

// Microseconds of a step of TensorFlow's; 0 where there is none.
double RunPython(const std::string& python, const char* rule, int64_t num_rows, Use use) {
  if (python.empty()) return 0;
  const std::string command = python + " estimator/training/row_updates_benchmark.py " + rule +
                              " " + std::to_string(num_rows) + " " + NameOf(use) + " 2>/dev/null";
  double us = 0;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr || fscanf(pipe, "%lf", &us) != 1)
    std::fprintf(stderr, "%s gave no number\n", command.c_str());
  if (pipe != nullptr) pclose(pipe);
  return us;
}

template <typename Optimizer>
void Measure(const char* rule, const Optimizer& optimizer, Use use, const std::string& python) {
  for (const int64_t num_rows : {1 << 12, 1 << 20}) {
    Bench bench(num_rows, optimizer, use);
    double in_place = 1e9, copying = 1e9, theirs = 1e9;
    for (int round = 0; round < kRounds; ++round) {
      in_place = std::min(in_place, bench.Run({.single_replica = true}, 300));
      copying = std::min(
          copying, bench.Run({.disable_passes = OptionalPasses(), .single_replica = true}, 3));
      theirs = std::min(theirs, RunPython(python, rule, num_rows, use));
    }
    std::printf("%-16s %-8s %8lld rows: in place %7.1f us   copying %9.0f us", rule, NameOf(use),
                static_cast<long long>(num_rows), in_place, copying);
    if (theirs > 0) std::printf("   TensorFlow %8.1f us, %5.2f times", theirs, theirs / in_place);
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  using namespace estimator;  // NOLINT: a program
  const std::string python = argc > 1 ? argv[1] : "";
  Measure("GradientDescent", train::GradientDescent(0.1), Use::kOnce, python);
  for (const Use use : {Use::kOnce, Use::kTwice, Use::kClipped}) {
    Measure("Momentum", train::Momentum(0.1, 0.9), use, python);
  }
  Measure("Adagrad", train::Adagrad(0.1), Use::kOnce, python);
  return 0;
}
