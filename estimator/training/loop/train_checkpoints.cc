#include "estimator/training/loop/train_checkpoints.h"

#include <utility>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/step_counter.h"
#include "estimator/training/model/first_non_finite.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// The values share the store's bytes.
AsyncSaver::Variables ValuesOf(const TrainCheckpoints::State& state) {
  AsyncSaver::Variables values;
  for (const Variable& variable : state.model.graph->variables()) {
    const std::string name = NameInCheckpoints(*state.model.graph, variable);
    if (!variable.local() && !name.empty())
      values[name] = *state.variables.store().Peek(variable.name());
  }
  return values;
}

}  // namespace

TrainCheckpoints::TrainCheckpoints(const RunConfig& config)
    : config_(config),
      saver_({.keep_checkpoint_max = config.keep_checkpoint_max.value_or(0),
              .keep_checkpoint_every_n_hours = config.keep_checkpoint_every_n_hours,
              .now_secs = nullptr}) {}

SaverExtras TrainCheckpoints::ExtrasOf(const State& state) {
  return {.input_state = state.input_position,
          .epochs = state.epochs,
          .meta_graph = config_.checkpoint_save_graph_def ? meta_graph_.Of(state.model, config_)
                                                          : MetaGraphSource()};
}

void TrainCheckpoints::WarnOfNaN(const std::string& prefix,
                                 const AsyncSaver::Variables& variables) {
  const std::vector<std::string> spoilt = NamesWithNaN(variables);
  // Later checkpoints have the NaN too, so the warning comes once.
  LOG_IF(WARNING, !spoilt.empty() && !warned_of_nan_)
      << prefix << ": NaN in " << spoilt.size()
      << (spoilt.size() == 1 ? " variable, " : " variables, ") << JoinSome(spoilt, 6)
      << ": is there one in the input?";
  warned_of_nan_ |= !spoilt.empty();
}

absl::StatusOr<std::string> TrainCheckpoints::Save(
    const State& state, When when, std::function<absl::Status(const std::string&)> committed) {
  // The values are read from the storage of the host.
  EST_RETURN_IF_ERROR(state.variables.store().Download());
  const auto save = when == When::kInBackground && config_.async_checkpoint
                        ? &AsyncSaver::SaveInBackground
                        : &AsyncSaver::Save;
  return (saver_.*save)(*config_.model_dir, state.variables.global_step(), ValuesOf(state),
                        ExtrasOf(state),
                        [this, committed = std::move(committed)](
                            const std::string& prefix, const AsyncSaver::Variables& variables) {
                          WarnOfNaN(prefix, variables);
                          return committed ? committed(prefix) : absl::OkStatus();
                        });
}

}  // namespace estimator
