// Helpers of BasicDecoder: where the inputs of the time steps come from.
//
//   TrainingHelper                    the targets
//   ScheduledEmbeddingTrainingHelper  the targets, or now and then what was sampled before
//   GreedyEmbeddingHelper             the most likely token of the step before
//   SampleEmbeddingHelper             a token drawn from the logits of the step before
// For others, derive from Helper: that is TensorFlow's CustomHelper.
#ifndef ESTIMATOR_NN_SEQ2SEQ_HELPER_H_
#define ESTIMATOR_NN_SEQ2SEQ_HELPER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/rnn/state.h"

namespace estimator::seq2seq {

// A table [V, E], or a function that looks ids [...] up and returns [..., E]. The function is
// called several times: it must not create variables of its own.
class EmbeddingFn {
 public:
  EmbeddingFn(const Tensor& table);                                   // NOLINT: by design
  EmbeddingFn(const Variable& table) : EmbeddingFn(Tensor(table)) {}  // NOLINT
  template <typename Fn>
  requires std::is_invocable_r_v<Tensor, Fn&, const Tensor&> EmbeddingFn(Fn fn)  // NOLINT
      : fn_(std::move(fn)) {}
  Tensor operator()(const Tensor& ids) const { return fn_(ids); }

 private:
  std::function<Tensor(const Tensor& ids)> fn_;
};

// The inputs of a time step, [N, C], and which examples are over before it, bool [N].
struct HelperInputs {
  Tensor finished;
  Tensor inputs;
};

// Source: TF 1.15 tf.contrib.seq2seq.Helper.
class Helper {
 public:
  virtual ~Helper() = default;
  virtual HelperInputs Initialize() const = 0;
  // The ids of the samples, i32 [N].
  //   time: i32 [].  outputs: those of the cell and of the output layer, [N, V].
  virtual Tensor Sample(const Tensor& time, const Tensor& outputs,
                        const rnn_cell::State& state) const;
  // Those of time step time + 1. Its inputs do not matter if all examples are over.
  virtual HelperInputs NextInputs(const Tensor& time, const Tensor& outputs,
                                  const rnn_cell::State& state, const Tensor& sample_ids) const = 0;
  // The number of time steps, if the helper has inputs for so many only.
  virtual std::optional<int64_t> num_steps() const { return std::nullopt; }
};

// Gives the time steps of `inputs`. Samples are the ArgMax of the outputs.
//   inputs: [N, T, C], or [T, N, C] if time_major.  sequence_length: integer [N].
// Errors (kept by the graph): INVALID_ARGUMENT if the inputs have a rank below 2 or no time steps,
// or if sequence_length is not [N].
// Source: TF 1.15 tf.contrib.seq2seq.TrainingHelper.
class TrainingHelper : public Helper {
 public:
  TrainingHelper(const Tensor& inputs, const Tensor& sequence_length, bool time_major = false);
  HelperInputs Initialize() const override;
  HelperInputs NextInputs(const Tensor& time, const Tensor& outputs, const rnn_cell::State& state,
                          const Tensor& sample_ids) const override;
  std::optional<int64_t> num_steps() const override;

 private:
  Tensor inputs_;           // [T, N, C]
  Tensor sequence_length_;  // i32 [N]
};

struct ScheduledEmbeddingTrainingOptions {
  bool time_major = false;
  std::optional<int64_t> seed = std::nullopt;             // of the samples
  std::optional<int64_t> scheduling_seed = std::nullopt;  // of the choice
};

// As TrainingHelper, but with probability `sampling_probability` the input of an example is the
// embedding of a token that is drawn from the outputs of the step before.
//   sampling_probability: f32 [] or [N].  embedding: gives [N, C].
// Samples are -1 where the target is the next input.
// Source: TF 1.15 tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper.
class ScheduledEmbeddingTrainingHelper : public TrainingHelper {
 public:
  ScheduledEmbeddingTrainingHelper(const Tensor& inputs, const Tensor& sequence_length,
                                   EmbeddingFn embedding, const Tensor& sampling_probability,
                                   ScheduledEmbeddingTrainingOptions options = {});
  Tensor Sample(const Tensor& time, const Tensor& outputs,
                const rnn_cell::State& state) const override;
  HelperInputs NextInputs(const Tensor& time, const Tensor& outputs, const rnn_cell::State& state,
                          const Tensor& sample_ids) const override;

 private:
  EmbeddingFn embedding_;
  Tensor sampling_probability_;
  ScheduledEmbeddingTrainingOptions options_;
};

// Begins with start_tokens, and feeds the embedding of the most likely token back. An example is
// over after its end_token.
//   start_tokens: i32 [N].
// Source: TF 1.15 tf.contrib.seq2seq.GreedyEmbeddingHelper.
class GreedyEmbeddingHelper : public Helper {
 public:
  GreedyEmbeddingHelper(EmbeddingFn embedding, const Tensor& start_tokens, int64_t end_token);
  HelperInputs Initialize() const override;
  HelperInputs NextInputs(const Tensor& time, const Tensor& outputs, const rnn_cell::State& state,
                          const Tensor& sample_ids) const override;

 private:
  EmbeddingFn embedding_;
  Tensor start_tokens_;
  int64_t end_token_;
};

struct SampleEmbeddingOptions {
  double softmax_temperature = 1;  // the logits are divided by it: small numbers are greedier
  std::optional<int64_t> seed = std::nullopt;
};

// As GreedyEmbeddingHelper, but draws the token from Softmax(outputs / softmax_temperature).
// Source: TF 1.15 tf.contrib.seq2seq.SampleEmbeddingHelper.
class SampleEmbeddingHelper : public GreedyEmbeddingHelper {
 public:
  SampleEmbeddingHelper(EmbeddingFn embedding, const Tensor& start_tokens, int64_t end_token,
                        SampleEmbeddingOptions options = {})
      : GreedyEmbeddingHelper(std::move(embedding), start_tokens, end_token), options_(options) {}
  Tensor Sample(const Tensor& time, const Tensor& outputs,
                const rnn_cell::State& state) const override;

 private:
  SampleEmbeddingOptions options_;
};

}  // namespace estimator::seq2seq

#endif  // ESTIMATOR_NN_SEQ2SEQ_HELPER_H_
