// Attention mechanisms: how much a query is like each step of a memory, such as the outputs of an
// encoder.
//
//   seq2seq::AttentionMechanism attention = seq2seq::LuongAttention(
//       128, encoder_outputs, {.memory_sequence_length = features["length"]});
//
// A mechanism is made from a memory [N, M, D]. For a query [N, Q] it gives alignments [N, M],
// which are not negative and sum to 1. AttentionWrapper (attention_wrapper.h) uses it in a cell.
#ifndef ESTIMATOR_NN_SEQ2SEQ_ATTENTION_H_
#define ESTIMATOR_NN_SEQ2SEQ_ATTENTION_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "estimator/graph/tensor.h"

namespace estimator::seq2seq {

// From scores [N, M] to alignments.
using ProbabilityFn = std::function<Tensor(const Tensor& scores)>;

// Base of the mechanisms. Copies share their weights.
class BaseAttention {
 public:
  virtual ~BaseAttention() = default;

  // The alignments [N, M] of `query` [N, Q].
  //   previous: the alignments of the time step before, for mechanisms that depend on them.
  Tensor operator()(const Tensor& query, const Tensor& previous) const;
  // The alignments before the first time step: all zeros.
  virtual Tensor InitialAlignments() const;
  // The memory, with zeros after the length of each example. [N, M, D]
  const Tensor& values() const { return values_; }

 protected:
  struct Memory {
    Tensor memory;           // [N, M, D], floating
    Tensor sequence_length;  // integer [N]; invalid: all of the memory counts
    std::string scope;       // of the variables that the queries need: "luong_attention"
  };
  explicit BaseAttention(const Memory& memory);
  // A dense layer without a bias, in the caller's scope: the keys of the memory.
  Tensor MemoryLayer(int64_t num_units) const;
  // The alignments, inside of the scope of the mechanism.
  virtual Tensor Call(const Tensor& query, const Tensor& previous) const = 0;
  // probability_fn(scores) with the steps after the length of each example masked. Softmax by
  // default.
  Tensor Probabilities(const Tensor& scores, const ProbabilityFn& probability_fn) const;

 private:
  std::string scope_;
  Tensor values_;
  Tensor mask_;  // bool [N, M]; invalid: nothing is masked
};

// Any mechanism. It holds a copy.
class AttentionMechanism {
 public:
  template <std::derived_from<BaseAttention> A>
  AttentionMechanism(A attention)  // NOLINT: by design
      : attention_(std::make_shared<const A>(std::move(attention))) {}
  const BaseAttention& operator*() const { return *attention_; }
  const BaseAttention* operator->() const { return attention_.get(); }

 private:
  std::shared_ptr<const BaseAttention> attention_;
};

struct LuongAttentionOptions {
  // Integer [N]: the number of steps of each memory that count. The others get no alignment.
  // A length of 0 gives a context of zeros. None: all count.
  Tensor memory_sequence_length = {};
  bool scale = false;                      // the scores are multiplied by a variable
  ProbabilityFn probability_fn = nullptr;  // none: Softmax
  std::string name = "LuongAttention";
};

// score[n, m] = query[n] . (memory[n, m] memory_layer/kernel)
//   memory: [N, M, D], floating. Queries are [N, num_units].
//   Variables: `memory_layer/kernel` [D, num_units] in the scope of the constructor, and
//              `<scope of the cell>/luong_attention/attention_g` [] if scale is set.
// Errors (kept by the graph): INVALID_ARGUMENT if the memory is not [N, M, D], if the lengths are
// not [N], or if a query is not [N, num_units].
// Source: TF 1.15 tf.contrib.seq2seq.LuongAttention.
class LuongAttention : public BaseAttention {
 public:
  LuongAttention(int64_t num_units, const Tensor& memory, LuongAttentionOptions options = {});

 protected:
  Tensor Call(const Tensor& query, const Tensor& previous) const override;

 private:
  LuongAttentionOptions options_;
  Tensor keys_;  // [N, M, num_units]
};

struct BahdanauAttentionOptions {
  Tensor memory_sequence_length = {};      // as that of LuongAttention
  bool normalize = false;                  // v is attention_g * v / |v|, and b is added
  ProbabilityFn probability_fn = nullptr;  // none: Softmax
  std::string name = "BahdanauAttention";
};

// score[n, m] = v . Tanh(memory[n, m] memory_layer/kernel + query[n] query_layer/kernel + b)
//   memory: [N, M, D], floating. Queries are [N, Q].
//   Variables: `memory_layer/kernel` [D, num_units] in the scope of the constructor, and in
//              `<scope of the cell>/bahdanau_attention`: `query_layer/kernel` [Q, num_units],
//              `attention_v` [num_units]; if normalize is set, also `attention_g` [] and
//              `attention_b` [num_units].
// Errors (kept by the graph): as LuongAttention, for queries that are no matrix.
// Source: TF 1.15 tf.contrib.seq2seq.BahdanauAttention.
class BahdanauAttention : public BaseAttention {
 public:
  BahdanauAttention(int64_t num_units, const Tensor& memory, BahdanauAttentionOptions options = {});

 protected:
  Tensor Call(const Tensor& query, const Tensor& previous) const override;

 private:
  int64_t num_units_;
  BahdanauAttentionOptions options_;
  Tensor keys_;  // [N, M, num_units]
};

}  // namespace estimator::seq2seq

#endif  // ESTIMATOR_NN_SEQ2SEQ_ATTENTION_H_
