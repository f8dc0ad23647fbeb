#include "estimator/training/warm_start/assignment_map.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/load.h"

namespace estimator::train {
namespace {

// Returns the variables of a scope entry. `from` and `into` are "" or a scope that ends with a
// slash.
std::vector<WantedVariable> InScope(const Graph& graph, absl::string_view from,
                                    absl::string_view into) {
  std::vector<WantedVariable> wanted;
  for (const Variable& variable : graph.variables()) {
    // Checkpoints have no local variables, such as the totals of metrics. A step of another run
    // would end this one early.
    if (variable.local() || variable.name() == "global_step" ||
        !absl::StartsWith(variable.name(), into))
      continue;
    wanted.push_back({.name = variable.name(),
                      .spec = variable.spec(),
                      .stored_name = absl::StrCat(from, variable.name().substr(into.size()))});
  }
  return wanted;
}

std::string Suggestion(const Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (const Variable& variable : graph.variables()) {
    if (!variable.local()) names.push_back(variable.name());
  }
  if (std::string nearest = DidYouMean(name, names); !nearest.empty()) return nearest;
  if (names.empty()) return "; the graph has none yet: call it after the model is built";
  return absl::StrCat("; there are ", JoinSome(names, 20));
}

absl::StatusOr<std::set<std::string>> NamesThere(const std::vector<Variable>& variables,
                                                 absl::string_view ckpt_dir_or_file) {
  EST_ASSIGN_OR_RETURN(const auto reader, LoadCheckpoint(ckpt_dir_or_file));
  std::set<std::string> names;
  for (const Variable& variable : variables) {
    if (reader->Has(variable.name())) names.insert(variable.name());
  }
  return names;
}

}  // namespace

absl::StatusOr<std::vector<WantedVariable>> ResolveAssignmentMap(const Graph& graph,
                                                                 const AssignmentMap& map) {
  std::vector<WantedVariable> wanted;
  std::vector<std::string> errors;
  for (const auto& [from, target] : map) {
    const std::optional<Variable> variable =
        target.is_variable() ? target.variable() : graph.FindVariable(target.name());
    const auto fail = [&errors, &entry = from, &target = target](const std::string& what) {
      errors.push_back(absl::StrCat("{'", entry, "', '", target.name(), "'}: ", what));
    };
    if (variable.has_value()) {
      if (absl::EndsWith(from, "/")) {
        fail("a scope of the checkpoint cannot map to a variable; map a value, or map to a scope");
      } else if (variable->graph() != &graph) {
        fail("the variable belongs to another graph");
      } else if (variable->name() == "global_step") {
        fail(
            "a training that starts at the step of the checkpoint ends early, or at once; leave "
            "global_step out: GetAssignmentMapFromCheckpoint(graph.ModelVariables(), path) returns "
            "a map without it");
      } else {
        wanted.push_back({.name = variable->name(), .spec = variable->spec(), .stored_name = from});
      }
      continue;
    }
    if (!absl::EndsWith(target.name(), "/")) {
      fail(absl::StrCat("there is no variable of that name", Suggestion(graph, target.name())));
      continue;
    }
    if (!absl::EndsWith(from, "/")) {
      fail(absl::StrCat("Assignment map with scope only name ", target.name(),
                        " should map to scope only ", from,
                        ". Should be 'scope/': 'other_scope/'"));
      continue;
    }
    const std::vector<WantedVariable> in_scope =
        // The scope "/" has all names, so it is no prefix of them.
        InScope(graph, from == "/" ? "" : from, target.name() == "/" ? "" : target.name());
    if (in_scope.empty())
      fail(absl::StrCat("no variable is in that scope", Suggestion(graph, target.name())));
    wanted.insert(wanted.end(), in_scope.begin(), in_scope.end());
  }
  if (errors.empty()) return wanted;
  return InvalidArgument(absl::StrJoin(errors, "\n"));
}

AssignmentMapFromCheckpoint GetAssignmentMapFromCheckpoint(const std::vector<Variable>& variables,
                                                           absl::string_view ckpt_dir_or_file) {
  AssignmentMapFromCheckpoint result;
  const absl::StatusOr<std::set<std::string>> names = NamesThere(variables, ckpt_dir_or_file);
  if (!names.ok()) {
    Graph::Current().Fail(Annotate(names.status(), "GetAssignmentMapFromCheckpoint"));
    return result;
  }
  for (const std::string& name : *names) {
    result.assignment_map.emplace_back(name, name);
    result.initialized_variable_names.insert({name, absl::StrCat(name, ":0")});
  }
  return result;
}

}  // namespace estimator::train
