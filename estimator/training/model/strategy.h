// Strategy: what differs between a local run and one on replicas: how the user's two functions
// are called, what the step runs on, and how a batch reaches the replicas.
//
// Local (training/model/local_strategy) has one replica. tpu/ has the sharded one.
#ifndef ESTIMATOR_TRAINING_MODEL_STRATEGY_H_
#define ESTIMATOR_TRAINING_MODEL_STRATEGY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/runtime/backend.h"
#include "estimator/training/input/features.h"
#include "estimator/training/input/input_fn.h"
#include "estimator/training/input/mode.h"
#include "estimator/training/input/step_input.h"
#include "estimator/training/model/model_spec.h"

namespace estimator {

class Strategy {
 public:
  virtual ~Strategy() = default;
  // "CPU", "8 in-process shards": for banners.
  virtual std::string name() const = 0;
  virtual int num_replicas(Mode mode) const = 0;
  // Whether the model runs as on a TPU, be it on one replica.
  virtual bool on_replicas() const { return false; }
  // Steps per run in training.
  virtual int64_t iterations_per_loop() const = 0;
  // A training run of `num_steps` took `seconds`: for loops whose length is given as a time.
  virtual void ObserveRun(int64_t /*num_steps*/, double /*seconds*/) {}
  // Training calls host_call at step 0, n, 2n, ... of every run.
  virtual int64_t host_call_every_n_steps() const { return 1; }
  // Whether all replicas compute the same, so that replica 0 speaks for them.
  virtual bool broadcast(Mode /*mode*/) const { return false; }
  // The mode's global batch size; 0 where the caller named none (plain Estimator).
  virtual int64_t batch_size(Mode mode) const = 0;
  // Where the batch stands in each array of an element, features in name order, then labels; empty:
  // on axis 0 of all.
  virtual absl::Span<const int64_t> batch_axis(Mode /*mode*/) const { return {}; }
  // All that must hold before a call in `mode` (divisibility and the like).
  virtual absl::Status Validate(Mode mode) const = 0;

  // A backend over `store` for full batches of `mode`, and one with a single replica for the rest.
  virtual std::unique_ptr<Backend> MakeBackend(Mode mode, VariableStore& store) const = 0;
  virtual std::unique_ptr<Backend> MakeSingleBackend(VariableStore& store) const = 0;

  // Calls input_fn as often as the input mode says.
  virtual absl::StatusOr<std::unique_ptr<Feeder>> OpenInput(Mode mode,
                                                            const InputFn& input_fn) const = 0;
  // Calls model_fn in the current graph, which has the seed and the global step set. The caller
  // puts a ReplicaScope (nn/replica_scope.h) around it.
  //   batch_size: rows that this model sees: of one replica, or of the last, smaller batch.
  // Errors: those of the spec itself; errors of ops are the graph's.
  virtual absl::StatusOr<ModelSpec> CallModelFn(const Features& features, const Labels& labels,
                                                Mode mode, int64_t batch_size) const = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_STRATEGY_H_
