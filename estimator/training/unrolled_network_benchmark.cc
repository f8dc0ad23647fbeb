// How long a recurrent network takes to build, which is unrolled over its time steps:
//   bazel run -c opt //estimator/training:unrolled_network_benchmark [TIME_STEPS [UNITS [BATCH]]]
// An LSTM over embeddings with lengths, its gradients and an Adam update. By default 200 time
// steps, 128 units and a batch of 32. Expected: graph and program together take less than a second,
// and twice the time steps take twice as long.
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "estimator/graph/graph.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/losses/losses.h"
#include "estimator/nn/rnn/rnn.h"
#include "estimator/nn/train/adam.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"

namespace estimator {
namespace {

class Stopwatch {
 public:
  // Milliseconds since the last call.
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(start_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int Run(int64_t num_steps, int64_t units, int64_t batch) {
  constexpr int64_t kWords = 1000;
  Stopwatch watch;
  Graph graph;
  const GraphScope scope(graph);
  ProgramSpec spec;
  spec.feeds = {Placeholder(DType::kInt32, {batch, num_steps}), Placeholder(DType::kInt32, {batch}),
                Placeholder(DType::kInt32, {batch})};
  const Variable table = GetVariable("embeddings", {kWords, units});
  const DynamicRnnResult network =
      DynamicRnn(rnn_cell::BasicLSTMCell(units), Gather(table, spec.feeds[0]),
                 {.sequence_length = spec.feeds[1], .unroll = true});
  const Tensor logits = layers::Dense(network.state.h(), {.units = 2});
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(spec.feeds[2], logits);
  const double forward_ms = watch.Lap();
  spec.fetches = {loss};
  spec.updates = {train::Adam(0.001).Minimize(loss)};
  const double gradients_ms = watch.Lap();

  VariableStore store;
  const absl::Status initialized = InitializeVariables(graph, store);
  if (!initialized.ok()) return std::fprintf(stderr, "%s\n", initialized.ToString().c_str()), 1;
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store);
  watch.Lap();
  auto step = backend->Compile(graph, spec);
  const double compile_ms = watch.Lap();
  if (!step.ok()) return std::fprintf(stderr, "%s\n", step.status().ToString().c_str()), 1;
  std::printf("%zu nodes in %.0f ms, gradients in %.0f ms; %d instructions in %.0f ms, %.1f MB\n",
              graph.nodes().size(), forward_ms, gradients_ms, (*step)->info().num_instructions,
              compile_ms, static_cast<double>((*step)->info().planned_peak_bytes) / 1e6);

  Array words(DType::kInt32, {batch, num_steps}), lengths(DType::kInt32, {batch});
  Array labels(DType::kInt32, {batch});
  for (int64_t i = 0; i < batch * num_steps; ++i)
    words.data<int32_t>()[i] = static_cast<int32_t>(i * 7919 % kWords);
  for (int64_t i = 0; i < batch; ++i) {
    // The lengths differ, as those of real sequences.
    lengths.data<int32_t>()[i] = static_cast<int32_t>(num_steps - i % 3);
    labels.data<int32_t>()[i] = static_cast<int32_t>(i % 2);
  }
  const Outfeed outfeed = [&](int64_t i, const StepFetches& fetches) {
    std::printf("step %d: %.1f ms, loss %.4f\n", static_cast<int>(i), watch.Lap(),
                fetches[0][0].AsDouble());
    return absl::OkStatus();
  };
  const absl::Status ran =
      (*step)->RunLoop(4, SameFeeds(StepFeeds{{words, lengths, labels}}), outfeed).status();
  if (!ran.ok()) return std::fprintf(stderr, "%s\n", ran.ToString().c_str()), 1;
  return 0;
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  const auto argument = [&](int i, int64_t otherwise) {
    return i < argc ? static_cast<int64_t>(std::atoll(argv[i])) : otherwise;
  };
  return estimator::Run(argument(1, 200), argument(2, 128), argument(3, 32));
}
