// Optimizer: from a loss to the updates of the variables.
//
//   Operation train_op = train::Momentum(0.1, 0.9).Minimize(loss);
//
// An optimizer of one's own overrides ApplyDense, and keeps its state in slots:
//
//   class Decay : public train::Optimizer {
//    public:
//     explicit Decay(Schedule rate) : Optimizer("Decay", std::move(rate)) {}
//    protected:
//     std::vector<Operation> ApplyDense(const Tensor& gradient,
//                                       const Variable& variable) override {
//       const Variable m = GetSlot(variable, "m");
//       const Tensor new_m = m * 0.9 + gradient;
//       return {Assign(m, new_m), Assign(variable, variable - Rate(variable) * new_m)};
//     }
//   };
#ifndef ESTIMATOR_NN_TRAIN_OPTIMIZER_H_
#define ESTIMATOR_NN_TRAIN_OPTIMIZER_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/cross_shard.h"
#include "estimator/nn/train/rate_by_name.h"
#include "estimator/nn/train/row_gradient.h"
#include "estimator/nn/train/schedule.h"

namespace estimator::train {

struct MinimizeOptions {
  std::vector<Variable> var_list = {};  // none: all trainable variables
  bool increment_global_step = true;
};

struct ApplyOptions {
  bool increment_global_step = true;
};

struct SlotOptions {
  Initializer initializer = nullptr;          // none: zeros
  std::string name = "";                      // "": the slot's key
  std::optional<Shape> shape = std::nullopt;  // none: the variable's
  std::optional<DType> dtype = std::nullopt;  // none: the variable's
};

// A value type in its subclasses: cheap to copy; holds no state but the names of its slots.
// All errors are kept by the graph.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // ComputeGradients, then ApplyGradients.
  Operation Minimize(const Tensor& loss, const MinimizeOptions& options = {});

  // d loss / d variable for each variable (none given: all trainable ones). On several
  // shards (replica_scope.h), a bare optimizer divides the loss by the number of shards first.
  // Errors: INVALID_ARGUMENT if the loss is not a floating scalar, if there is no variable, or if
  // the loss does not depend on any of them.
  virtual std::vector<GradientAndVariable> ComputeGradients(
      const Tensor& loss, const std::vector<Variable>& variables = {});

  // One step's updates. On several shards, a bare optimizer first sums gradients over the shards,
  // except for those that the model_fn has summed itself with CrossReplicaSum. A pair whose
  // gradient is invalid is skipped. Errors: INVALID_ARGUMENT if no gradient is left, if a
  // gradient's type is not its variable's, or if Validate says so.
  virtual Operation ApplyGradients(const std::vector<GradientAndVariable>& grads_and_vars,
                                   const ApplyOptions& options = {});

  // "Momentum": the scope of its ops and, in most subclasses, the name of its slots.
  const std::string& name() const { return name_; }
  // The learning rate: build it again for a summary (not where it is train::RateByName).
  const Schedule& learning_rate() const { return learning_rate_; }

 protected:
  Optimizer(std::string name, Schedule learning_rate)
      : name_(std::move(name)), learning_rate_(std::move(learning_rate)) {}
  Optimizer(const Optimizer&) = default;
  Optimizer& operator=(const Optimizer&) = default;

  // The state `key` of `variable`: created at the first call, found by later ones. It is
  // `<variable>/<options.name>`, and where that is taken (Adam has two slots called Adam)
  // `<variable>/<options.name>_1`, as in TensorFlow.
  Variable GetSlot(const Variable& variable, absl::string_view key,
                   const SlotOptions& options = {});
  // A scalar of the optimizer's own, such as beta1_power: created at the first call as
  // `<name scope of the caller of ApplyGradients><name>`, made unique with _1, as a tf.Variable.
  Variable GetNonSlot(absl::string_view name, double initial_value, DType dtype = DType::kFloat32);

  // Whether the options make sense: see OptionChecks. Asked once a call of ApplyGradients, whose
  // graph keeps the error.
  virtual absl::Status Validate() const { return absl::OkStatus(); }

  // Called by ApplyGradients, in this order, in the scope `name()`. Tensors that Prepare stores are
  // good until Finish has returned.
  virtual void Prepare(const std::vector<Variable>& /*variables*/) {}
  // The updates of one variable (and of its slots).
  virtual std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) = 0;
  // The same for a variable that the loss reaches through Gather alone, so that the step looked up
  // some of its rows; not on replicas, whose gradients are dense, as TensorFlow's
  // CrossShardOptimizer makes them. Rules that move a row without a gradient too (momentum, a
  // decaying average, a penalty) leave those others alone here: TensorFlow's _apply_sparse. By
  // default ApplyDense: right for rules that do not, and for Adam, which moves all rows there too.
  virtual std::vector<Operation> ApplySparse(const RowGradient& gradient,
                                             const Variable& variable) {
    return ApplyDense(gradient.dense(), variable);
  }
  // Updates that all variables share.
  virtual std::vector<Operation> Finish() { return {}; }

  // The learning rate of this step for this variable, in its dtype: for ApplyDense.
  Tensor Rate(const Variable& variable) const;
  // A number in the variable's dtype.
  static Tensor Number(const Variable& variable, double value, absl::string_view name);

 private:
  std::vector<Operation> Apply(const Tensor& gradient, const Variable& variable);
  absl::Status CheckOptions() const;

  std::string name_;
  Schedule learning_rate_;
  StepRates rates_;                                // of the step being built
  std::string non_slot_scope_;                     // of the same: "" or "a/b/"
  std::map<std::string, std::string> slot_names_;  // "<variable>\n<key>" -> variable's name
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_OPTIMIZER_H_
