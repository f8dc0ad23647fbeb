#include "estimator/training/model_state.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/restore.h"
#include "estimator/runtime/backend.h"

namespace estimator {

absl::Status ModelState::Restore(const Graph& graph, const std::string& prefix,
                                 const std::map<std::string, std::string>& restore_names) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  std::map<std::string, TensorSpec> wanted;  // by the name in the checkpoint
  std::vector<std::pair<std::string, Variable>> stored_names;
  for (const Variable& variable : graph.variables()) {
    if (variable.local()) continue;
    const auto renamed = restore_names.find(variable.name());
    const std::string& stored = renamed == restore_names.end() ? variable.name() : renamed->second;
    stored_names.emplace_back(stored, variable);
    wanted[stored] = variable.spec();
  }
  EST_RETURN_IF_ERROR(CheckRestorable(*reader, wanted));  // before anything changes
  std::vector<RestoreTarget> targets;
  for (const auto& [stored, variable] : stored_names) {
    EST_ASSIGN_OR_RETURN(Array * value, store_.Allocate(variable.name(), variable.spec()));
    targets.push_back({.name = stored, .value = value});
  }
  set_checkpoint("");  // until all is read
  EST_RETURN_IF_ERROR(RestoreInto(*reader, targets));
  for (const auto& [stored, variable] : stored_names) store_.MarkInitialized(variable.name());
  set_checkpoint(prefix);
  return absl::OkStatus();
}

absl::Status ModelState::InitializeFresh(const Graph& graph, const Scaffold& scaffold) {
  bool holds_values = false;
  for (const Variable& variable : graph.variables()) {
    holds_values |= !variable.local() && store_.initialized(variable.name());
  }
  EST_RETURN_IF_ERROR(InitializeVariables(graph, store_));
  if (holds_values) {  // of a run whose model_dir was removed since
    VariableStore fresh;
    EST_RETURN_IF_ERROR(InitializeVariables(graph, fresh));
    for (const Variable& variable : graph.variables()) {
      if (!variable.local())
        EST_RETURN_IF_ERROR(store_.Set(variable.name(), *fresh.Peek(variable.name())));
    }
  }
  set_checkpoint("");
  return scaffold.init_fn ? scaffold.init_fn(store_) : absl::OkStatus();
}

absl::Status ModelState::CopyFrom(const Graph& graph, const ModelState& other,
                                  const std::map<std::string, std::string>& restore_names) {
  std::map<std::string, const Array*> values;
  for (const Variable& variable : graph.variables()) {
    if (variable.local()) continue;
    const auto renamed = restore_names.find(variable.name());
    const std::string& name = renamed == restore_names.end() ? variable.name() : renamed->second;
    const Array* value = other.store_.Peek(name);
    if (value == nullptr || !other.store_.initialized(name)) {
      return absl::NotFoundError(absl::StrCat("variable '", name, "' has no value in memory"));
    }
    const TensorSpec there{value->dtype(), value->shape()};
    if (!(there == variable.spec())) {
      return absl::InvalidArgumentError(absl::StrCat("variable '", name, "' is ", there.ToString(),
                                                     " in memory, ", variable.spec().ToString(),
                                                     " in this model"));
    }
    values[variable.name()] = value;
  }
  for (const auto& [name, value] : values) EST_RETURN_IF_ERROR(store_.Set(name, *value));
  set_checkpoint(other.checkpoint_);
  return absl::OkStatus();
}

int64_t ModelState::global_step() const {
  const Array* step = store_.Peek("global_step");
  return step == nullptr ? 0 : step->scalar<int64_t>();
}

}  // namespace estimator
