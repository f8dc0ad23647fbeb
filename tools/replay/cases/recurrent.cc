// Recurrent networks, as in
// testdata/reference/{crf_tagger,ctc,dynamic_rnn,bidirectional_dynamic_rnn,language_model,
// static_rnn}.
#include <optional>
#include <vector>

#include "estimator/estimator.h"
#include "tools/replay/cases/cases.h"

namespace estimator::replay {
namespace {

using layers::Dense;
using rnn_cell::MultiRNNCell;

EstimatorSpec OverWords(const Features& features, const Tensor& labels) {
  const Variable table = GetVariable("embeddings", {30, 5});
  const Tensor words = Gather(table, features["words"]);
  const auto [outputs, state] =
      DynamicRnn(rnn_cell::BasicLSTMCell(6), words, {.sequence_length = features["length"]});
  const Tensor hidden = Concat({state.c(), state.h(), ReduceMean(outputs, {1})}, 1);
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, Dense(hidden, {.units = 3}));
  train::Adam optimizer(0.02);
  const auto clipped = train::ClipByGlobalNorm(optimizer.ComputeGradients(loss), 0.5);
  return EstimatorSpec::Train(loss, optimizer.ApplyGradients(clipped));
}

MultiRNNCell Cells() {
  return MultiRNNCell({rnn_cell::GRUCell(4), rnn_cell::BasicRNNCell(4),
                       rnn_cell::ResidualWrapper(rnn_cell::LSTMCell(4))});
}

EstimatorSpec InBothDirections(const Features& features, const Tensor& labels) {
  const auto [outputs, states] = BidirectionalDynamicRnn(Cells(), Cells(), features["x"],
                                                         {.sequence_length = features["length"]});
  const std::vector<Tensor> steps = Unstack(Concat(outputs, 2), 1);
  const Tensor hidden =
      Concat({steps.front(), steps.back(), states[0][0], states[1][1], states[1][2].h()}, 1);
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, Dense(hidden, {.units = 3}));
  return EstimatorSpec::Train(loss, train::Momentum(0.1, 0.9).Minimize(loss));
}

EstimatorSpec WithEveryOption(const Features& features, const Tensor& labels) {
  const rnn_cell::LSTMCell lower(
      6, {.use_peepholes = true,
          .cell_clip = 0.3,
          .initializer = initializers::RandomUniform({.minval = -0.6, .maxval = 0.6}),
          .num_proj = 4,
          .proj_clip = 0.1,
          .forget_bias = 0.5});
  const rnn_cell::DropoutWrapper upper(
      rnn_cell::BasicLSTMCell(5),
      {.input_keep_prob = 0.8, .output_keep_prob = 0.7, .state_keep_prob = 0.9, .seed = 42});
  const rnn_cell::DropoutWrapper top(
      rnn_cell::GRUCell(5),
      {.output_keep_prob = 0.7, .state_keep_prob = 0.6, .variational_recurrent = true, .seed = 43});
  auto [outputs, state] = StaticRnn(MultiRNNCell({lower, upper, top}), Unstack(features, 1));
  outputs.push_back(state[0].c());
  outputs.push_back(state[1].h());
  const Tensor loss =
      losses::SparseSoftmaxCrossEntropy(labels, Dense(Concat(outputs, 1), {.units = 3}));
  return EstimatorSpec::Train(loss, train::Momentum(0.1, 0.9).Minimize(loss));
}

EstimatorSpec LabelsOfFrames(const Features& features, const Labels& labels) {
  const auto [outputs, states] =
      BidirectionalDynamicRnn(rnn_cell::GRUCell(4), rnn_cell::GRUCell(4), features["frames"],
                              {.sequence_length = features["length"]});
  // TensorFlow's loss takes the batch first, and transposes it outside of its scope.
  const Tensor logits = Transpose(Dense(Concat(outputs, 2), {.units = 6}), {1, 0, 2});
  const Tensor loss =
      ReduceMean(CtcLoss(labels["ids"], logits, labels["length"], features["length"],
                         {.blank_index = -1, .ignore_longer_outputs_than_inputs = true}));
  return EstimatorSpec::Train(loss, train::Adam(0.02).Minimize(loss));
}

EstimatorSpec TagsOfWords(const Features& features, const Tensor& tags) {
  const Tensor words = Gather(GetVariable("embeddings", {12, 3}), features["words"]);
  const auto [outputs, states] = BidirectionalDynamicRnn(
      rnn_cell::GRUCell(4), rnn_cell::GRUCell(4), words, {.sequence_length = features["length"]});
  const auto [log_likelihood, transitions] =
      CrfLogLikelihood(Dense(Concat(outputs, 2), {.units = 4}), tags, features["length"]);
  const Tensor loss = -ReduceMean(log_likelihood);
  return EstimatorSpec::Train(loss, train::Adam(0.02).Minimize(loss));
}

}  // namespace

Model LanguageModel(std::optional<bool> unroll) {
  return Model([unroll](const Features& features, const Tensor& labels) {
    constexpr int64_t kWords = 14, kUnits = 5;
    const Tensor words = Gather(GetVariable("embeddings", {kWords, kUnits}), features["words"]);
    // No op computes a wrapped cell, also if the wrapper does nothing.
    const auto layer = [&]() -> rnn_cell::Cell {
      if (!unroll.has_value()) return rnn_cell::LSTMCell(kUnits);
      return rnn_cell::DropoutWrapper(rnn_cell::LSTMCell(kUnits), {});
    };
    const MultiRNNCell cell({layer(), layer()});
    const DynamicRnnResult network =
        DynamicRnn(cell, words, {.sequence_length = features["length"], .unroll = unroll});
    const Tensor logits = Dense(network.outputs, {.units = kWords});
    const Tensor mask = SequenceMask(features["length"], labels.dim(1), {.dtype = DType::kFloat32});
    const Tensor losses = SparseSoftmaxCrossEntropyWithLogits(labels, logits);
    const Tensor loss = ReduceMean(ReduceSum(losses * mask, {1}));
    return EstimatorSpec::Train(loss, train::Adam(0.02).Minimize(loss));
  });
}

Cases RecurrentCases() {
  return {{"crf_tagger", TagsOfWords},
          {"ctc", LabelsOfFrames},
          {"dynamic_rnn", OverWords},
          {"bidirectional_dynamic_rnn", InBothDirections},
          {"language_model", LanguageModel(std::nullopt)},
          {"static_rnn", WithEveryOption}};
}

}  // namespace estimator::replay
