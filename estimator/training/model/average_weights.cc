#include "estimator/training/model/average_weights.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/train/exponential_moving_average.h"

namespace estimator {

absl::StatusOr<AverageWeights> AverageWeights::Parse(StringArg text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  double decay = 0;
  train::StochasticWeightAveragingOptions stochastic;
  std::optional<AverageWeights> result;
  if (parts.size() == 1 && absl::SimpleAtod(parts[0], &decay)) result = Exponential(decay);
  if (parts.size() == 2 && absl::SimpleAtoi(parts[0], &stochastic.start_averaging) &&
      absl::SimpleAtoi(parts[1], &stochastic.average_period))
    result = Stochastic(stochastic);
  if (!result.has_value()) {
    return InvalidArgument(
        "average_weights must be a decay, such as 0.999, or the first step and "
        "the period of stochastic weight averaging, such as 1000:100, given \"",
        text, "\"");
  }
  EST_RETURN_IF_ERROR(result->Validate());
  return *result;
}

absl::Status AverageWeights::Validate() const {
  if (const double* const decay = std::get_if<double>(&kind_)) {
    if (*decay > 0 && *decay < 1) return absl::OkStatus();
    return InvalidArgument("the decay of average_weights must be in (0, 1), given ", *decay);
  }
  const auto& [start, period] = std::get<train::StochasticWeightAveragingOptions>(kind_);
  if (start >= 0 && period >= 1) return absl::OkStatus();
  return InvalidArgument(
      "average_weights must have start_averaging >= 0 and average_period >= 1, given ", start,
      " and ", period);
}

ModelSpec AverageWeights::ApplyTo(ModelSpec spec) const {
  const double* const decay = std::get_if<double>(&kind_);
  if (spec.mode == Mode::kTrain) {
    if (!spec.train_op.valid()) return spec;
    const Operation averages =
        decay != nullptr ? train::ExponentialMovingAverage(*decay).Apply({}, spec.train_op)
                         : train::StochasticWeightAveraging(
                               std::get<train::StochasticWeightAveragingOptions>(kind_))
                               .Apply(spec.train_op);
    spec.train_op = Group({spec.train_op, averages});
    return spec;
  }
  spec.scaffold_fn = [own = std::move(spec.scaffold_fn), exponential = decay != nullptr] {
    Scaffold scaffold = own ? own() : Scaffold();
    const train::ExponentialMovingAverage names(0);
    for (const Variable& variable : Graph::Current().TrainableVariables()) {
      scaffold.restore_names.emplace(
          variable.name(), exponential ? names.AverageName(variable)
                                       : train::StochasticWeightAveraging::AverageName(variable));
    }
    return scaffold;
  };
  return spec;
}

}  // namespace estimator
