#include "estimator/training/model/model_state.h"

#include <algorithm>
#include <functional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/name_pattern.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/restore.h"
#include "estimator/graphdef/step_counter.h"
#include "estimator/nn/train/settable_rate.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/training/warm_start/checkpoint_initializer.h"
#include "estimator/training/warm_start/load_variables.h"
#include "estimator/training/warm_start/warm_start.h"
#include "glog/logging.h"

namespace estimator {

namespace {

// How the variables of a graph are restored.
struct RestorePlan {
  std::vector<WantedVariable> wanted;  // to read
  std::vector<std::string> absent;     // allowed by partial_restore
};

// Without this check, a misspelled name would restore a weight instead of its average.
absl::Status CheckRestoreNames(const Graph& graph, const Scaffold& scaffold) {
  std::vector<std::string> names, unknown;
  for (const Variable& variable : graph.variables()) names.push_back(variable.name());
  for (const auto& [name, stored_name] : scaffold.restore_names) {
    if (graph.FindVariable(name).has_value()) continue;
    unknown.push_back(absl::StrCat("'", name, "'", DidYouMean(name, names)));
  }
  if (unknown.empty()) return absl::OkStatus();
  return InvalidArgument("Scaffold::restore_names has names that are not variables of this model: ",
                         absl::StrJoin(unknown, ", "));
}

//   is_there: whether the source has a value of this name.
absl::StatusOr<RestorePlan> PlanRestore(const Graph& graph, const Scaffold& scaffold,
                                        const std::function<bool(const std::string&)>& is_there) {
  EST_RETURN_IF_ERROR(CheckRestoreNames(graph, scaffold));
  EST_ASSIGN_OR_RETURN(const std::vector<NamePattern> may_be_absent,
                       CompileNamePatterns("Scaffold::partial_restore", scaffold.partial_restore));
  RestorePlan plan;
  for (const Variable& variable : graph.variables()) {
    if (variable.local()) continue;
    const auto renamed = scaffold.restore_names.find(variable.name());
    const std::string& stored_name =
        renamed == scaffold.restore_names.end() ? variable.name() : renamed->second;
    bool rule = false;
    for (const NamePattern& pattern : may_be_absent) {
      EST_ASSIGN_OR_RETURN(const bool matches, pattern.MatchesAllOf(variable.name()));
      rule |= matches;
    }
    // A variable that may be absent, but is there, is restored as any other.
    if (rule && !is_there(stored_name)) {
      plan.absent.push_back(variable.name());
    } else {
      plan.wanted.push_back(
          {.name = variable.name(), .spec = variable.spec(), .stored_name = stored_name});
    }
  }
  return plan;
}

// The same for a checkpoint.
absl::StatusOr<RestorePlan> PlanRestoreFrom(const BundleReader& reader, const Graph& graph,
                                            const Scaffold& scaffold) {
  EST_ASSIGN_OR_RETURN(RestorePlan plan, PlanRestore(graph, scaffold, [&](const std::string& name) {
                         return reader.Has(name);
                       }));
  // A counter that is in no checkpoint comes from its name: RestoreCountedStep. Checkpoints have a
  // rate only since a hook set it.
  const auto is_elsewhere = [&](const WantedVariable& variable) {
    return NameInCheckpoints(graph, *graph.FindVariable(variable.name)).empty() ||
           (variable.name == train::kSetLearningRate && !reader.Has(variable.name));
  };
  std::erase_if(plan.wanted, is_elsewhere);
  for (WantedVariable& variable : plan.wanted) {
    if (variable.stored_name == variable.name)
      variable.stored_name = NameInCheckpoints(graph, *graph.FindVariable(variable.name));
    variable.stored_name = reader.NameOf(variable.stored_name);
    // A Saver that got the parts of a partitioned variable saves them by their own names.
    const std::string part = NameOfPart(graph, variable.name);
    if (!part.empty() && !reader.Has(variable.stored_name)) variable.stored_name = part;
  }
  return plan;
}

}  // namespace

absl::Status ModelState::CheckIsOfModel(const Graph& graph, const std::string& prefix,
                                        const Scaffold& scaffold) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  EST_ASSIGN_OR_RETURN(const RestorePlan plan, PlanRestoreFrom(*reader, graph, scaffold));
  std::vector<WantedVariable> trainable;
  for (const WantedVariable& variable : plan.wanted) {
    if (graph.FindVariable(variable.name)->trainable()) trainable.push_back(variable);
  }
  return CheckRestorable(*reader, trainable);
}

// A step that the loop counts is in no variable of its own.
absl::Status ModelState::RestoreCountedStep(const BundleReader& reader, const Graph& graph) {
  if (!HasCountedSteps(graph)) return absl::OkStatus();
  int64_t step = std::max<int64_t>(0, StepOfPrefix(reader.prefix()));
  if (const std::string name = StoredStepName(graph); !name.empty()) {
    EST_ASSIGN_OR_RETURN(const Array stored, reader.Read(name));
    step = stored.Cast(DType::kInt64).Reshaped({}).scalar<int64_t>();
  }
  return store_.Set("global_step", Array::Scalar<int64_t>(step));
}

absl::Status ModelState::Restore(const Graph& graph, const std::string& prefix,
                                 const Scaffold& scaffold) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  EST_ASSIGN_OR_RETURN(const RestorePlan plan, PlanRestoreFrom(*reader, graph, scaffold));
  EST_RETURN_IF_ERROR(CheckRestorable(*reader, plan.wanted));
  // If a read fails halfway, the store has the values of no checkpoint.
  set_checkpoint("");
  EST_RETURN_IF_ERROR(LoadVariables(*reader, plan.wanted, store_));
  EST_RETURN_IF_ERROR(InitializeAbsent(graph, plan.absent, prefix));
  EST_RETURN_IF_ERROR(RestoreCountedStep(*reader, graph));
  set_checkpoint(prefix);
  return absl::OkStatus();
}

absl::Status ModelState::InitializeAbsent(const Graph& graph,
                                          const std::vector<std::string>& absent,
                                          const std::string& origin) {
  if (absent.empty()) return absl::OkStatus();
  LOG(WARNING) << "Scaffold::partial_restore: " << absent.size() << " variables are not in "
               << origin << " and start at their first values: " << absl::StrJoin(absent, ", ");
  std::set<std::string> restored;
  for (const Variable& variable : graph.variables()) restored.insert(variable.name());
  for (const std::string& name : absent) {
    store_.MarkUninitialized(name);
    restored.erase(name);
  }
  // InitFromCheckpoint takes precedence over initializers, as after a fresh start.
  EST_RETURN_IF_ERROR(LoadCheckpointInitializers(graph, restored, store_).status());
  return InitializeVariables(graph, store_);
}

absl::Status ModelState::InitializeFresh(const Graph& graph, const Scaffold& scaffold,
                                         const std::optional<WarmStartSettings>& warm_start) {
  set_checkpoint("");
  // The store has values if model_dir was removed after a run.
  for (const Variable& variable : graph.variables()) {
    if (!variable.local()) store_.MarkUninitialized(variable.name());
  }
  std::set<std::string> warm_started;
  if (warm_start.has_value()) {
    EST_ASSIGN_OR_RETURN(warm_started, WarmStart(*warm_start, graph, store_));
  }
  EST_RETURN_IF_ERROR(
      LoadCheckpointInitializers(graph, warm_started, store_, "warm_start_from").status());
  EST_RETURN_IF_ERROR(InitializeVariables(graph, store_));
  // It comes last, as in TensorFlow's SessionManager, so it may change any value.
  return scaffold.init_fn ? scaffold.init_fn(store_) : absl::OkStatus();
}

absl::Status ModelState::CopyFrom(const Graph& graph, const ModelState& other,
                                  const Scaffold& scaffold) {
  EST_ASSIGN_OR_RETURN(const RestorePlan plan,
                       PlanRestore(graph, scaffold, [&](const std::string& name) {
                         return other.store_.initialized(name);
                       }));
  for (const WantedVariable& variable : plan.wanted) {
    const Array* value = other.store_.Peek(variable.stored_name);
    if (value == nullptr || !other.store_.initialized(variable.stored_name)) {
      return NotFound("variable '", variable.stored_name, "' has no value in memory");
    }
    // All variables are checked before the first one is copied, so that an error changes nothing.
    const TensorSpec there{value->dtype(), value->shape()};
    if (!(there == variable.spec)) {
      return InvalidArgument("variable '", variable.stored_name, "' is ", there.ToString(),
                             " in memory, ", variable.spec.ToString(), " in this model");
    }
  }
  for (const WantedVariable& variable : plan.wanted)
    EST_RETURN_IF_ERROR(store_.Set(variable.name, *other.store_.Peek(variable.stored_name)));
  EST_RETURN_IF_ERROR(InitializeAbsent(graph, plan.absent, "the variables in memory"));
  set_checkpoint(other.checkpoint_);
  return absl::OkStatus();
}

int64_t ModelState::global_step() const {
  const Array* step = store_.Peek("global_step");
  return step == nullptr ? 0 : step->scalar<int64_t>();
}

}  // namespace estimator
