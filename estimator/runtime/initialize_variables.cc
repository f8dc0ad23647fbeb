#include "estimator/runtime/initialize_variables.h"

#include <memory>
#include <string>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/runtime/program.h"

namespace estimator {

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
  // An initial value that depends on a restored variable gets the restored value, and not that of
  // its initializer.
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

}  // namespace estimator
