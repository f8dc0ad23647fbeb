// Strategy: what differs between a local run and a run on replicas: how the user's two functions
// are called, which backend runs the step, and how a batch is split for the replicas.
//
// model/local_strategy has one replica. tpu/replicas_strategy has several.
#ifndef ESTIMATOR_TRAINING_MODEL_STRATEGY_H_
#define ESTIMATOR_TRAINING_MODEL_STRATEGY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/distributed/process_group.h"
#include "estimator/runtime/backend.h"
#include "estimator/training/input/features.h"
#include "estimator/training/input/feeder.h"
#include "estimator/training/input/input_fn.h"
#include "estimator/training/input/mode.h"
#include "estimator/training/model/model_spec.h"

namespace estimator {

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Those that compute a step together, in all processes.
  virtual int num_replicas(Mode mode) const = 0;
  // The processes among which the replicas of a step are divided. In training, each of them reads
  // an input of its own; in the other modes all read the same. Null: this process computes alone.
  virtual std::shared_ptr<ProcessGroup> process_group(Mode /*mode*/) const { return nullptr; }
  // Whether the model runs as on a TPU, even if there is only one replica.
  virtual bool on_replicas() const { return false; }
  // Steps per run in training.
  virtual int64_t iterations_per_loop() const = 0;
  // Tells that a training run of `num_steps` took `seconds`. A strategy whose iterations_per_loop
  // is given as a time adapts it.
  virtual void ObserveRun(int64_t /*num_steps*/, double /*seconds*/) {}
  // n, if training calls host_call at step 0, n, 2n, ... of every run.
  virtual int64_t host_call_every_n_steps() const { return 1; }
  // Whether all replicas compute the same values, so that replica 0's are taken.
  virtual bool broadcast(Mode /*mode*/) const { return false; }
  // The global batch size of the mode; 0 if none was given, as for a plain Estimator.
  virtual int64_t batch_size(Mode mode) const = 0;
  // The axis of the batch in each array of an element: features in name order, then labels. Empty
  // means axis 0 of all.
  virtual std::vector<int64_t> batch_axis(Mode /*mode*/) const { return {}; }
  // Checks the options for a call in `mode`, as that the batch can be split for the replicas.
  virtual absl::Status Validate(Mode mode) const = 0;

  // A call of Train, Evaluate or Predict.
  struct Call {
    Mode mode = Mode::kTrain;
    const InputFn& input;
    // Whether the call says how many steps it makes. False: it reads the input to its end.
    bool num_steps_given = false;
  };
  // Asked before a call begins. OK: the call continues. Otherwise it returns this status and has
  // done nothing, for example because only a report on the program was wanted (tpu/rules).
  virtual absl::Status MayBegin(const Call& /*call*/) { return absl::OkStatus(); }

  // A backend over `store` for full batches of `mode`, with the replicas of this process, and one
  // with a single replica for the last, smaller batch.
  virtual std::unique_ptr<Backend> MakeBackend(Mode mode, VariableStore& store) const = 0;
  virtual std::unique_ptr<Backend> MakeSingleBackend(VariableStore& store) const = 0;

  // Calls input_fn once, or once for each replica of this process, as the input mode needs. The
  // input of training has the batch of this process.
  virtual absl::StatusOr<std::unique_ptr<Feeder>> OpenInput(Mode mode,
                                                            const InputFn& input_fn) const = 0;
  // Calls model_fn in the current graph, which has its seed and its global step. The
  // caller opens a ReplicaScope (nn/replica_scope.h) around it.
  //   batch_size: rows of the inputs: of one replica, or of the last, smaller batch.
  // Errors: those of the spec itself. Errors of ops are in the graph's status.
  virtual absl::StatusOr<ModelSpec> CallModelFn(const Features& features, const Labels& labels,
                                                Mode mode, int64_t batch_size) const = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_STRATEGY_H_
