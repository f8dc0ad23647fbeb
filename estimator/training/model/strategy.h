// Strategy: what differs between a local run and one on replicas: how the user's two functions
// are called, what the step runs on, and how a batch reaches the replicas.
//
// Local (training/model/local_strategy) has one replica. tpu/ has the sharded one.
#ifndef ESTIMATOR_TRAINING_MODEL_STRATEGY_H_
#define ESTIMATOR_TRAINING_MODEL_STRATEGY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/runtime/backend.h"
#include "estimator/training/input/features.h"
#include "estimator/training/input/mode.h"
#include "estimator/training/model/model_spec.h"

namespace estimator {

// One step's input before it becomes feeds: an element for each replica.
struct StepInput {
  std::vector<Element> replicas;
  // Examples of this step, over all replicas; 0 where elements have no batch axis.
  int64_t num_examples = 0;
  // False for a last, smaller batch (eval and predict only): it stands whole in replicas[0], and
  // runs through a program of its size on one replica.
  bool full = true;
};

// The open input of a run. Used by one thread at a time.
class Feeder {
 public:
  virtual ~Feeder() = default;
  virtual absl::StatusOr<std::optional<StepInput>> Next() = 0;
  virtual absl::StatusOr<std::string> SaveState() = 0;
  virtual absl::Status RestoreState(absl::string_view state) = 0;
  // As Dataset::Describe and Cardinality of what input_fn returned.
  virtual std::string Describe() const = 0;
};

// An input_fn with an identity: copies of one InputFn are the same input, and a loop that is called
// again with it goes on with the open input instead of opening it anew.
//   `batch_size` is what params.batch_size is to be, already set for this mode.
class InputFn {
 public:
  struct Call {
    Mode mode = Mode::kTrain;
    int64_t batch_size = 0;
    int64_t invocation = 0;  // of num_invocations, for input modes that call several times
    int64_t num_invocations = 1;
  };
  using Fn = std::function<absl::StatusOr<Dataset>(const Call&)>;

  InputFn() = default;
  // `identity`: what tells this input from others; null: this object and its copies.
  explicit InputFn(Fn fn, const void* identity = nullptr)
      : fn_(std::make_shared<Fn>(std::move(fn))),
        identity_(identity == nullptr ? fn_.get() : identity) {}
  bool valid() const { return fn_ != nullptr; }
  absl::StatusOr<Dataset> operator()(const Call& call) const { return (*fn_)(call); }
  const void* identity() const { return identity_; }

 private:
  std::shared_ptr<const Fn> fn_;
  const void* identity_ = nullptr;
};

// The identity of a user's input_fn that is a plain function: the function. Not inlined: g++ 12
// sees an uninitialized pointer in std::function::target where it can look through it. Null for
// lambdas and other objects, which cannot be told apart.
template <typename Params>
[[gnu::noinline]] const void* FunctionIdentity(
    const std::function<absl::StatusOr<Dataset>(const Params&)>& input_fn) {
  if (const auto* plain = input_fn.template target<Dataset (*)(const Params&)>()) {
    return reinterpret_cast<const void*>(*plain);
  }
  if (const auto* plain = input_fn.template target<absl::StatusOr<Dataset> (*)(const Params&)>()) {
    return reinterpret_cast<const void*>(*plain);
  }
  return nullptr;
}

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
  // Calls model_fn in the current graph, which has the seed and the global step, inside a
  // ReplicaScope.
  //   batch_size: rows that this model sees: of one replica, or of the last, smaller batch.
  // Errors: those of the spec itself; errors of ops are the graph's.
  virtual absl::StatusOr<ModelSpec> CallModelFn(const Features& features, const Labels& labels,
                                                Mode mode, int64_t batch_size) const = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_STRATEGY_H_
