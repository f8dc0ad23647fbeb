#include "tools/replay/variables.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/restore.h"
#include "estimator/runtime/initialize_variables.h"

namespace estimator::replay {
namespace {

std::map<std::string, const Variable*> SavedVariables(const Graph& graph) {
  std::map<std::string, const Variable*> variables;
  for (const Variable& variable : graph.variables()) {
    if (!variable.local()) variables[variable.name()] = &variable;
  }
  return variables;
}

std::string Nearest(const std::string& name, const std::vector<std::string>& candidates) {
  return NearestName(name, candidates).value_or("-");
}

// Returns the variables that the initial checkpoint has.
std::vector<WantedVariable> Restorable(const Graph& graph, const Reference& reference) {
  std::vector<WantedVariable> wanted;
  for (const auto& [name, variable] : SavedVariables(graph)) {
    if (reference.initial().Has(name))
      wanted.push_back({.name = name, .spec = variable->spec(), .stored_name = name});
  }
  return wanted;
}

}  // namespace

absl::Status CheckVariables(const Graph& graph, const Reference& reference) {
  const std::map<std::string, const Variable*> here = SavedVariables(graph);
  std::set<std::string> there(reference.initial().names().begin(),
                              reference.initial().names().end());
  const std::vector<std::string> final_names = reference.Names("final/");
  there.insert(final_names.begin(), final_names.end());
  // A large variable may have norms only (generate's max_values).
  for (const std::string& name : reference.Names("norm/")) there.insert(name);
  std::vector<std::string> only_here, only_there;
  for (const auto& [name, variable] : here) {
    // A trainable variable must be in the initial checkpoint: our initializers draw other numbers
    // than those of the reference.
    const bool starts = reference.initial().Has(name) || !variable->trainable();
    if (there.count(name) == 0 ? !final_names.empty() || variable->trainable() : !starts)
      only_here.push_back(name);
  }
  for (const std::string& name : there) {
    if (here.count(name) == 0) only_there.push_back(name);
  }
  if (only_here.empty() && only_there.empty())
    return CheckRestorable(reference.initial(), Restorable(graph, reference));

  std::vector<std::vector<std::string>> rows = {{"variable", "here", "reference", "nearest"}};
  for (const std::string& name : only_here)
    rows.push_back({name, here.at(name)->spec().ToString(), "-", Nearest(name, only_there)});
  for (const std::string& name : only_there) {
    const bool initial = reference.initial().Has(name);
    rows.push_back({name, "-",
                    initial ? reference.initial().specs().at(name).ToString() : "after the steps",
                    Nearest(name, only_here)});
  }
  return NotFound("the model's variables are not those of ", reference.folder(), ":\n",
                  FormatTable(rows),
                  "Names, scopes and the optimizer must be those of the model that made the "
                  "reference");
}

absl::Status SetInitialValues(const Graph& graph, const Reference& reference,
                              VariableStore& store) {
  const std::vector<WantedVariable> wanted = Restorable(graph, reference);
  EST_RETURN_IF_ERROR(CheckRestorable(reference.initial(), wanted));
  for (const WantedVariable& variable : wanted) {
    EST_ASSIGN_OR_RETURN(Array * value, store.Allocate(variable.name, variable.spec));
    EST_RETURN_IF_ERROR(RestoreInto(reference.initial(), variable, value));
    store.MarkInitialized(variable.name);
  }
  return InitializeVariables(graph, store);
}

}  // namespace estimator::replay
