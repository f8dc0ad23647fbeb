#include "estimator/runtime/evaluate.h"

#include <memory>
#include <optional>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"

namespace estimator {
namespace {

// Copies: fetches are buffers of an executable that is destroyed after its step.
std::vector<Array> CloneAll(const std::vector<Array>& arrays) {
  std::vector<Array> clones;
  for (const Array& array : arrays) clones.push_back(array.Clone());
  return clones;
}

}  // namespace

absl::StatusOr<std::vector<Array>> RunOnce(Backend& backend, const Graph& graph,
                                           const ProgramSpec& spec, std::vector<Array> feeds) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable, backend.Compile(graph, spec));
  const StepFeeds step(static_cast<size_t>(backend.num_replicas()), feeds);
  std::vector<Array> fetches;
  const auto outfeed = [&fetches](int64_t, const StepFetches& values) {
    fetches = CloneAll(values[0]);
    return absl::OkStatus();
  };
  EST_RETURN_IF_ERROR(
      executable
          ->RunLoop(
              1, [&step]() -> absl::StatusOr<std::optional<StepFeeds>> { return step; }, outfeed)
          .status());
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
