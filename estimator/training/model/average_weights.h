// AverageWeights: RunConfig.average_weights. Training keeps averages of the weights, and
// evaluation, prediction and exports use them in place of the weights.
#ifndef ESTIMATOR_TRAINING_MODEL_AVERAGE_WEIGHTS_H_
#define ESTIMATOR_TRAINING_MODEL_AVERAGE_WEIGHTS_H_

#include <optional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"
#include "estimator/nn/train/stochastic_weight_averaging.h"
#include "estimator/training/input/mode.h"
#include "estimator/training/model/model_spec.h"

namespace estimator {

// A value type.
class AverageWeights {
 public:
  // An exponential moving average of each step's weights (train::ExponentialMovingAverage).
  //   decay: in (0, 1), such as 0.999.
  static AverageWeights Exponential(double decay) { return AverageWeights(decay); }
  // The mean of the weights at some steps (train::StochasticWeightAveraging).
  static AverageWeights Stochastic(const train::StochasticWeightAveragingOptions& options) {
    return AverageWeights(options);
  }
  // Parses "0.999", a decay, or "1000:100", start_averaging and average_period.
  // Errors: INVALID_ARGUMENT if it is neither; that of Validate.
  static absl::StatusOr<AverageWeights> Parse(StringArg text);

  // Errors: INVALID_ARGUMENT if a number is out of range.
  absl::Status Validate() const;
  // Adds the updates of the averages to a spec for training. In other modes, restores the average
  // of each trainable variable, unless its scaffold restores another value.
  // REQUIRES: the current graph is that of the spec.
  ModelSpec ApplyTo(ModelSpec spec) const;

 private:
  using Kind = std::variant<double, train::StochasticWeightAveragingOptions>;
  explicit AverageWeights(Kind kind) : kind_(kind) {}
  Kind kind_;
};

// spec, or average_weights->ApplyTo(spec).
inline ModelSpec WithAverages(ModelSpec spec,
                              const std::optional<AverageWeights>& average_weights) {
  return average_weights.has_value() ? average_weights->ApplyTo(std::move(spec)) : spec;
}

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_AVERAGE_WEIGHTS_H_
