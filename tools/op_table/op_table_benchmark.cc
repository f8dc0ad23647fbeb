// Prints the ops of a training step of public networks with the share of each, and which of them
// run the one-thread kernels of the reference tier:
//   bazel run //tools/op_table:op_table_benchmark [NETWORK...]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/trace.h"
#include "tools/op_table/networks.h"

namespace estimator {
namespace {

constexpr int64_t kSteps = 10;

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

void Measure(const Network& network) {
  Graph graph;
  const GraphScope scope(graph);
  const TrainingStep step = network.build();
  Check(graph.status());
  VariableStore store;
  Check(InitializeVariables(graph, store));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store, {.single_replica = true});
  absl::StatusOr<std::unique_ptr<Executable>> executable =
      backend->Compile(graph, {.feeds = step.feeds, .fetches = {}, .updates = {step.update}});
  Check(executable.status());
  const Infeed infeed = [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
    return StepFeeds{step.values};
  };
  Check((*executable)->RunLoop(2, infeed, nullptr).status());
  const auto trace = std::make_shared<Trace>();
  SetThreadTrace(trace);
  Check((*executable)->RunLoop(kSteps, infeed, nullptr).status());
  SetThreadTrace(nullptr);
  std::printf("%s\n%s\n", network.name.c_str(), OpTable(*trace, kSteps).c_str());
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  const std::vector<std::string> names(argv + 1, argv + argc);
  for (const estimator::Network& network : estimator::PublicNetworks()) {
    if (names.empty() || std::find(names.begin(), names.end(), network.name) != names.end())
      estimator::Measure(network);
  }
  return 0;
}
