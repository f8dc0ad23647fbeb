#include "estimator/nn/seq2seq/helper.h"

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/rnn/batch_time.h"
#include "estimator/ops/categorical.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/random.h"
#include "estimator/ops/search.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::seq2seq {
namespace {

Tensor DrawClass(const Tensor& logits, std::optional<int64_t> seed) {
  return Squeeze(RandomCategorical(logits, 1, {.dtype = DType::kInt32, .seed = seed}), {1});
}

}  // namespace

EmbeddingFn::EmbeddingFn(const Tensor& table)
    : fn_([table](const Tensor& ids) { return Gather(table, ids); }) {}

Tensor Helper::Sample(const Tensor&, const Tensor& outputs, const rnn_cell::State&) const {
  return ArgMax(outputs, -1, {.output_type = DType::kInt32});
}

TrainingHelper::TrainingHelper(const Tensor& inputs, const Tensor& sequence_length, bool time_major)
    : inputs_(inputs), sequence_length_(sequence_length) {
  if (!inputs.valid() || !sequence_length.valid()) return;
  const int batch_axis = time_major ? 1 : 0;
  if (inputs.rank() < 2 || inputs.dim(1 - batch_axis) == 0 ||
      sequence_length.shape() != Shape{inputs.dim(batch_axis)}) {
    inputs_ = inputs.graph()->Fail(InvalidArgument(
        "TrainingHelper: the inputs are ", inputs.spec().ToString(), " and sequence_length is ",
        sequence_length.spec().ToString(), "; they must be ",
        time_major ? "[T, N, C]" : "[N, T, C]", " with time steps, and [N]"));
    return;
  }
  sequence_length_ = Cast(sequence_length, DType::kInt32);
  if (!time_major) inputs_ = TransposeBatchTime(inputs);
}

std::optional<int64_t> TrainingHelper::num_steps() const { return inputs_.dim(0); }

HelperInputs TrainingHelper::Initialize() const {
  if (!inputs_.valid()) return {inputs_, inputs_};
  return {LessEqual(sequence_length_, 0), Gather(inputs_, Constant(0))};
}

HelperInputs TrainingHelper::NextInputs(const Tensor& time, const Tensor&, const rnn_cell::State&,
                                        const Tensor&) const {
  if (!inputs_.valid()) return {inputs_, inputs_};
  const Tensor next = time + 1;
  // After the last time step any inputs will do.
  return {GreaterEqual(next, sequence_length_), Gather(inputs_, Minimum(next, inputs_.dim(0) - 1))};
}

ScheduledEmbeddingTrainingHelper::ScheduledEmbeddingTrainingHelper(
    const Tensor& inputs, const Tensor& sequence_length, EmbeddingFn embedding,
    const Tensor& sampling_probability, ScheduledEmbeddingTrainingOptions options)
    : TrainingHelper(inputs, sequence_length, options.time_major),
      embedding_(std::move(embedding)),
      sampling_probability_(sampling_probability),
      options_(options) {}

Tensor ScheduledEmbeddingTrainingHelper::Sample(const Tensor&, const Tensor& outputs,
                                                const rnn_cell::State&) const {
  if (!outputs.valid()) return outputs;
  const Tensor chosen = Less(RandomUniform({outputs.dim(0)}, {.seed = options_.scheduling_seed}),
                             sampling_probability_);
  return Where(chosen, DrawClass(outputs, options_.seed), -1);
}

HelperInputs ScheduledEmbeddingTrainingHelper::NextInputs(const Tensor& time, const Tensor& outputs,
                                                          const rnn_cell::State& state,
                                                          const Tensor& sample_ids) const {
  const auto [finished, targets] = TrainingHelper::NextInputs(time, outputs, state, sample_ids);
  const Tensor sampled = ExpandDims(GreaterEqual(sample_ids, 0), 1);
  return {finished, Where(sampled, embedding_(Maximum(sample_ids, 0)), targets)};
}

GreedyEmbeddingHelper::GreedyEmbeddingHelper(EmbeddingFn embedding, const Tensor& start_tokens,
                                             int64_t end_token)
    : embedding_(std::move(embedding)), start_tokens_(start_tokens), end_token_(end_token) {
  if (!start_tokens.valid() || (start_tokens.dtype() == DType::kInt32 && start_tokens.rank() == 1))
    return;
  start_tokens_ = start_tokens.graph()->Fail(InvalidArgument(
      "start_tokens are ", start_tokens.spec().ToString(), ", but must be i32 [N]"));
}

HelperInputs GreedyEmbeddingHelper::Initialize() const {
  if (!start_tokens_.valid()) return {start_tokens_, start_tokens_};
  return {Zeros(start_tokens_.shape(), DType::kBool), embedding_(start_tokens_)};
}

HelperInputs GreedyEmbeddingHelper::NextInputs(const Tensor&, const Tensor&, const rnn_cell::State&,
                                               const Tensor& sample_ids) const {
  return {Equal(sample_ids, end_token_), embedding_(sample_ids)};
}

Tensor SampleEmbeddingHelper::Sample(const Tensor&, const Tensor& outputs,
                                     const rnn_cell::State&) const {
  return DrawClass(
      options_.softmax_temperature == 1 ? outputs : outputs / options_.softmax_temperature,
      options_.seed);
}

}  // namespace estimator::seq2seq
