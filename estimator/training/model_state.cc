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
  std::map<std::string, TensorSpec> wanted;        // by the name in the checkpoint
  std::map<std::string, std::string> stored_names;  // by the variable's name
  for (const Variable& variable : graph.variables()) {
    if (variable.local()) continue;
    const auto renamed = restore_names.find(variable.name());
    const std::string& stored = renamed == restore_names.end() ? variable.name() : renamed->second;
    stored_names[variable.name()] = stored;
    wanted[stored] = variable.spec();
  }
  using Values = std::map<std::string, Array>;
  EST_ASSIGN_OR_RETURN(const Values values, RestoreVariables(*reader, wanted));
  for (const auto& [name, stored] : stored_names) EST_RETURN_IF_ERROR(store_.Set(name, values.at(stored)));
  checkpoint_ = prefix;
  return absl::OkStatus();
}

absl::Status ModelState::InitializeFresh(const Graph& graph, const Scaffold& scaffold) {
  EST_RETURN_IF_ERROR(InitializeVariables(graph, store_));
  checkpoint_.clear();
  return scaffold.init_fn ? scaffold.init_fn(store_) : absl::OkStatus();
}

absl::Status ModelState::CopyFrom(const Graph& graph, const ModelState& other) {
  for (const Variable& variable : graph.variables()) {
    if (variable.local()) continue;
    const Array* value = other.store_.Peek(variable.name());
    if (value == nullptr || !other.store_.initialized(variable.name())) {
      return absl::NotFoundError(absl::StrCat("variable '", variable.name(), "' has no value in memory"));
    }
    EST_RETURN_IF_ERROR(store_.Set(variable.name(), *value));
  }
  checkpoint_ = other.checkpoint_;
  return absl::OkStatus();
}

int64_t ModelState::global_step() const {
  const Array* step = store_.Peek("global_step");
  return step == nullptr ? 0 : step->scalar<int64_t>();
}

}  // namespace estimator
