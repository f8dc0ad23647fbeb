// TrainCheckpoints saves the state of a training: variables, input position and graph.
#ifndef ESTIMATOR_TRAINING_LOOP_TRAIN_CHECKPOINTS_H_
#define ESTIMATOR_TRAINING_LOOP_TRAIN_CHECKPOINTS_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/checkpoint/async_saver.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/loop/train_meta_graph.h"
#include "estimator/training/model/built_model.h"
#include "estimator/training/model/model_state.h"

namespace estimator {

// The thread of the training loop calls the methods; any thread may call Wait.
class TrainCheckpoints {
 public:
  // `config` is valid, has a model_dir, and outlives the object.
  explicit TrainCheckpoints(const RunConfig& config);

  // Tells that the model was built again.
  void ResetGraph() { meta_graph_.Reset(); }

  struct State {
    const BuiltModel& model;
    const ModelState& variables;
    const std::string& input_position;
    const std::string& epochs;  // EpochLoop::SaveState; empty: none
  };
  enum class When {
    kNow,  // before this returns, after the save in progress
    // While the loop continues: the state is copied (AsyncSaver::SaveInBackground). With
    // async_checkpoint = false as kNow.
    kInBackground,
  };
  // Writes a checkpoint, and returns its prefix.
  //   committed: called by the thread that wrote the checkpoint, when it is whole. May be null.
  absl::StatusOr<std::string> Save(const State& state, When when,
                                   std::function<absl::Status(const std::string&)> committed);

  // AsyncSaver's methods of these names.
  absl::Status Poll() { return saver_.Poll(); }
  absl::Status Finish() { return saver_.Finish(); }
  void Wait() { saver_.Wait(); }

 private:
  SaverExtras ExtrasOf(const State& state);
  void WarnOfNaN(const std::string& prefix, const AsyncSaver::Variables& variables);

  const RunConfig& config_;
  TrainMetaGraph meta_graph_;
  bool warned_of_nan_ = false;  // used by the thread that writes
  AsyncSaver saver_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TRAIN_CHECKPOINTS_H_
