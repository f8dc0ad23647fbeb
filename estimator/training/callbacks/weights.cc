#include "estimator/training/callbacks/weights.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/keras/write_keras_weights.h"
#include "estimator/checkpoint/save.h"
#include "estimator/nn/train/exponential_moving_average.h"
#include "estimator/nn/train/stochastic_weight_averaging.h"
#include "estimator/runtime/variable_store.h"

namespace estimator::callbacks {
namespace {

absl::Status WriteVariables(Session& session, const std::vector<Variable>& variables,
                            const std::string& prefix) {
  EST_RETURN_IF_ERROR(session.variables().Download());
  std::map<std::string, Array> values;
  for (const Variable& variable : variables) {
    // The values share the store's bytes.
    if (!variable.local()) values[variable.name()] = *session.variables().Peek(variable.name());
  }
  return SaveVariables(prefix, values);
}

// The averages of a variable, which evaluations read (RunConfig.average_weights).
std::vector<Variable> AveragesOf(const Graph& graph, const Variable& variable) {
  std::vector<Variable> averages;
  if (!variable.trainable()) return averages;
  for (const std::string& name : {train::ExponentialMovingAverage(0).AverageName(variable),
                                  train::StochasticWeightAveraging::AverageName(variable)})
    if (const auto average = graph.FindVariable(name)) averages.push_back(*average);
  return averages;
}

// The model's variables and their averages.
std::vector<Variable> WeightsOf(const Graph& graph) {
  std::vector<Variable> weights = graph.ModelVariables();
  for (const Variable& variable : graph.TrainableVariables()) {
    const std::vector<Variable> averages = AveragesOf(graph, variable);
    weights.insert(weights.end(), averages.begin(), averages.end());
  }
  return weights;
}

}  // namespace

absl::Status SaveWeights(Session& session, const std::string& prefix) {
  return WriteVariables(session, WeightsOf(session.graph()), prefix);
}

absl::Status SaveAll(Session& session, const std::string& prefix) {
  return WriteVariables(session, session.graph().variables(), prefix);
}

absl::Status SaveKerasWeights(Session& session, const std::string& path) {
  EST_RETURN_IF_ERROR(session.variables().Download());
  std::vector<std::pair<std::string, Array>> values;
  for (const Variable& variable : session.graph().ModelVariables()) {
    const std::vector<Variable> averages = AveragesOf(session.graph(), variable);
    const Variable& evaluated = averages.empty() ? variable : averages.front();
    values.emplace_back(variable.name(), *session.variables().Peek(evaluated.name()));
  }
  if (!Dirname(path).empty()) EST_RETURN_IF_ERROR(CreateDirectories(Dirname(path)));
  return WriteKerasWeights(path, values);
}

absl::Status RestoreWeights(Session& session, const std::string& prefix) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  for (const Variable& variable : WeightsOf(session.graph())) {
    EST_ASSIGN_OR_RETURN(const Array value, reader->Read(variable.name()));
    EST_RETURN_IF_ERROR(session.variables().Set(variable.name(), value));
  }
  return session.VariablesWereSet();
}

}  // namespace estimator::callbacks
