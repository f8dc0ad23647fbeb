// The helpers of backend.h: initial values, and single steps for tests and tools.
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/cpu_backend.h"

namespace estimator {
namespace {

// Copies, since the executable that they belong to goes.
std::vector<Array> CloneAll(const std::vector<Array>& arrays) {
  std::vector<Array> clones;
  for (const Array& array : arrays) clones.push_back(array.Clone());
  return clones;
}

}  // namespace

absl::Status InitializeVariables(const Graph& graph, VariableStore& store, bool only_local) {
  ProgramSpec spec;
  std::vector<std::string> names;
  for (const Variable& variable : graph.variables()) {
    if (only_local ? !variable.local() : store.initialized(variable.name())) continue;
    if (!variable.initial_value().valid()) continue;  // graph.status() says why
    spec.fetches.push_back(variable.initial_value());
    names.push_back(variable.name());
  }
  EST_RETURN_IF_ERROR(graph.status());
  if (names.empty()) return absl::OkStatus();
  std::vector<Array> feeds;
  for (const auto& [value, variable] : graph.initialized_values()) {
    if (!store.initialized(variable.name())) continue;
    spec.feeds.push_back(value);
    feeds.push_back(*store.Peek(variable.name()));
  }
  // A step of the key 0, whatever global_step is: the same initial values in every run.
  EST_ASSIGN_OR_RETURN(const std::shared_ptr<const Program> program,
                       Program::Compile(graph, spec, {.single_replica = true}));
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<ProgramRun> run,
                       ProgramRun::Create(program, store, 0, 1));
  EST_RETURN_IF_ERROR(
      Annotate(run->CheckInitialized(), "an initial value depends on another variable"));
  EST_RETURN_IF_ERROR(run->SetFeeds(feeds));
  for (int segment = 0; segment < program->num_segments(); ++segment) {
    EST_RETURN_IF_ERROR(run->RunSegment(segment, 0));
  }
  for (size_t i = 0; i < names.size(); ++i)
    EST_RETURN_IF_ERROR(store.Set(names[i], run->fetches()[i]));
  return absl::OkStatus();
}

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
  if (graph == nullptr) return absl::InvalidArgumentError("Evaluate needs a tensor of a graph");
  EST_RETURN_IF_ERROR(graph->status());
  VariableStore store;
  EST_RETURN_IF_ERROR(InitializeVariables(*graph, store));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store);
  return RunOnce(*backend, *graph, {.feeds = feeds, .fetches = fetches, .updates = {}},
                 std::move(feed_values));
}

}  // namespace estimator
