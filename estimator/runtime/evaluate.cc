#include "estimator/runtime/evaluate.h"

#include <memory>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"

namespace estimator {

absl::StatusOr<std::vector<Array>> RunOnce(Backend& backend, const Graph& graph,
                                           const ProgramSpec& spec, std::vector<Array> feeds) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable, backend.Compile(graph, spec));
  // All replicas get the same feeds, so the values of the first one are enough.
  StepFeeds step(static_cast<size_t>(backend.num_replicas()), feeds);
  std::vector<Array> fetches;
  const auto outfeed = [&fetches](int64_t, const StepFetches& values) {
    // Copies: the values are buffers of the executable, which is destroyed after its step.
    for (const Array& value : values[0]) fetches.push_back(value.Clone());
    return absl::OkStatus();
  };
  EST_RETURN_IF_ERROR(executable->RunLoop(1, SameFeeds(std::move(step)), outfeed).status());
  return fetches;
}

absl::StatusOr<std::vector<Array>> Evaluate(const std::vector<Tensor>& fetches,
                                            const std::vector<Tensor>& feeds,
                                            std::vector<Array> feed_values) {
  const Graph* graph = nullptr;
  for (const Tensor& fetch : fetches) {
    if (fetch.graph() != nullptr) graph = fetch.graph();
  }
  if (graph == nullptr) return InvalidArgument("Evaluate needs a tensor of a graph");
  EST_RETURN_IF_ERROR(graph->status());
  VariableStore store;
  EST_RETURN_IF_ERROR(InitializeVariables(*graph, store));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store);
  return RunOnce(*backend, *graph, {.feeds = feeds, .fetches = fetches, .updates = {}},
                 std::move(feed_values));
}

}  // namespace estimator
