// Optimizer: builds the updates of the variables from a loss.
//
//   Operation train_op = train::Momentum(0.1, 0.9).Minimize(loss);
//
// Your own optimizer overrides ApplyDense, and keeps its state in slots:
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
#include "estimator/array/dtype.h"
#include "estimator/array/shape.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/cross_shard.h"
#include "estimator/nn/train/rate_by_name.h"
#include "estimator/nn/train/row_gradient.h"
#include "estimator/nn/train/schedule.h"

namespace estimator::train {

struct MinimizeOptions {
  std::vector<Variable> var_list = {};  // none: all trainable variables
  bool increment_global_step = true;    // false: the caller increments it
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

// Subclasses are value types that are cheap to copy: the state is in variables of the graph, and an
// optimizer only keeps the names of its slots. The graph keeps all errors.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // ComputeGradients, then ApplyGradients.
  Operation Minimize(const Tensor& loss, const MinimizeOptions& options = {});

  // Returns d loss / d variable for each variable. If the model is built for several replicas
  // (replica_scope.h), a bare optimizer first divides the loss by the number of replicas.
  //   variables: none given: all trainable ones.
  // Errors (kept by the graph): INVALID_ARGUMENT if the loss is not a floating scalar, if there is
  // no variable, or if the loss does not depend on any of them.
  virtual std::vector<GradientAndVariable> ComputeGradients(
      const Tensor& loss, const std::vector<Variable>& variables = {});

  // Returns the operation that makes one step's updates. If the model is built for several
  // replicas, a bare optimizer first sums gradients over the replicas, except those that the
  // model_fn has summed itself with CrossReplicaSum. Pairs with an invalid gradient are ignored.
  // Errors (kept by the graph): INVALID_ARGUMENT if no gradient is left, or if a gradient's type is
  // not that of its variable; the error of Validate.
  virtual Operation ApplyGradients(const std::vector<GradientAndVariable>& grads_and_vars,
                                   const ApplyOptions& options = {});

  // Whether ApplyGradients sums the gradients of the replicas by a rule of its own, as that of
  // tpu::CrossShardOptimizer does. An optimizer around it then leaves the sum to it.
  virtual bool SumsOverReplicas() const { return false; }

  // For example "Momentum": the scope of the ops and, in most subclasses, the name of the slots.
  const std::string& name() const { return name_; }
  // To show the learning rate in a summary, call learning_rate().Build(). That is an error for
  // train::RateByName, which has no single rate.
  const Schedule& learning_rate() const { return learning_rate_; }

 protected:
  Optimizer(std::string name, Schedule learning_rate)
      : name_(std::move(name)), learning_rate_(std::move(learning_rate)) {}
  Optimizer(const Optimizer&) = default;
  Optimizer& operator=(const Optimizer&) = default;

  // Returns the state `key` of `variable`. The first call creates it; later calls find it. Its name
  // is `<variable>/<options.name>`. If that is taken (Adam has two slots called Adam), it is
  // `<variable>/<options.name>_1`, as in TensorFlow.
  Variable GetSlot(const Variable& variable, StringArg key, const SlotOptions& options = {});
  // Returns a scalar that belongs to the optimizer, such as beta1_power. The first call creates it,
  // named `<name scope of the caller of ApplyGradients><name>` and made unique with _1, as a
  // tf.Variable is.
  Variable GetNonSlot(StringArg name, double initial_value, DType dtype = DType::kFloat32);

  // Checks the options (see OptionChecks). ApplyGradients calls it, and its graph keeps the error.
  virtual absl::Status Validate() const { return absl::OkStatus(); }

  // ApplyGradients calls Prepare, ApplyDense or ApplySparse for each variable, and Finish, in this
  // order and in the scope `name()`. Tensors that Prepare stores may be used until Finish returns.
  virtual void Prepare(const std::vector<Variable>& /*variables*/) {}
  // Returns the updates of one variable and of its slots.
  virtual std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) = 0;
  // The same for a variable that the loss uses only through Gather, so that a step looks up some of
  // its rows. Not called on replicas: their gradients are dense, as with TensorFlow's
  // CrossShardOptimizer. Override it if ApplyDense also changes rows whose gradient is 0 (momentum,
  // a decaying average, a penalty); here such rows must not change, as in TensorFlow's
  // _apply_sparse. The default calls ApplyDense. That is right for rules that leave such rows
  // alone, and for Adam, which changes all rows in TensorFlow too.
  virtual std::vector<Operation> ApplySparse(const RowGradient& gradient,
                                             const Variable& variable) {
    return ApplyDense(gradient.dense(), variable);
  }
  // Returns the updates of the optimizer's own variables.
  virtual std::vector<Operation> Finish() { return {}; }

  // For ApplyDense: the learning rate of this step for this variable, in the variable's dtype.
  Tensor Rate(const Variable& variable) const;
  // A number in the variable's dtype.
  static Tensor Number(const Variable& variable, double value, StringArg name);

 private:
  std::vector<Operation> Apply(const Tensor& gradient, const Variable& variable);
  absl::Status CheckOptions() const;

  std::string name_;
  Schedule learning_rate_;
  StepRates rates_;                                // of the step being built
  std::string non_slot_scope_;                     // of the step being built: "" or "a/b/"
  std::map<std::string, std::string> slot_names_;  // "<variable>\n<key>" -> name of the slot
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_OPTIMIZER_H_
