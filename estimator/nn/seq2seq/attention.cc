#include "estimator/nn/seq2seq/attention.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/layers/layer.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/softmax.h"

namespace estimator::seq2seq {
namespace {

// The score of a masked step: its exponential is 0. It is finite, so that the alignments of a
// memory without steps are not NaN.
constexpr double kMaskedScore = -1e9;

// A row of `memory` for each row of `query`, or the graph keeps an error.
bool CheckQuery(absl::string_view mechanism, const Tensor& query, const Tensor& memory) {
  if (!query.valid() || !memory.valid()) return false;
  if (query.rank() == 2 && query.dtype() == memory.dtype() && query.dim(0) == memory.dim(0))
    return true;
  query.graph()->Fail(InvalidArgument(
      mechanism, ": the query is ", query.spec().ToString(), " for the memory ",
      memory.spec().ToString(),
      "; a query needs a row for each memory. Beam search needs TileBatch(memory, beam_width)"));
  return false;
}

}  // namespace

BaseAttention::BaseAttention(const Memory& memory) : scope_(memory.scope), values_(memory.memory) {
  const Tensor& lengths = memory.sequence_length;
  if (!layers::CheckRank(values_, scope_, 3, 3)) values_ = layers::InvalidLike(values_);
  if (!lengths.valid() || !values_.valid()) return;
  if (lengths.shape() != Shape{values_.dim(0)}) {
    values_ = values_.graph()->Fail(InvalidArgument(
        scope_, ": memory_sequence_length is ", lengths.spec().ToString(), ", but the memory is ",
        values_.spec().ToString(), ": it must be [", values_.dim(0), "]"));
    return;
  }
  mask_ = SequenceMask(lengths, values_.dim(1));
  values_ = values_ * ExpandDims(Cast(mask_, values_.dtype()), 2);
}

Tensor BaseAttention::operator()(const Tensor& query, const Tensor& previous) const {
  const VariableScope scope(VariableScope::UniqueDefaultName(scope_));
  return Call(query, previous);
}

Tensor BaseAttention::InitialAlignments() const {
  if (!values_.valid()) return values_;
  return Zeros({values_.dim(0), values_.dim(1)}, values_.dtype());
}

Tensor BaseAttention::MemoryLayer(int64_t num_units) const {
  if (!layers::CheckPositive(num_units, scope_, "num_units") || !values_.valid())
    return layers::InvalidLike(values_);
  return layers::Dense(values_, {.units = num_units,
                                 .use_bias = false,
                                 .name = VariableScope::UniqueDefaultName("memory_layer")});
}

Tensor BaseAttention::Probabilities(const Tensor& scores,
                                    const ProbabilityFn& probability_fn) const {
  const Tensor masked = mask_.valid() ? Where(mask_, scores, kMaskedScore) : scores;
  return probability_fn ? probability_fn(masked) : Softmax(masked);
}

LuongAttention::LuongAttention(int64_t num_units, const Tensor& memory,
                               LuongAttentionOptions options)
    : BaseAttention({memory, options.memory_sequence_length, "luong_attention"}),
      options_(std::move(options)) {
  const NameScope scope(options_.name);
  keys_ = MemoryLayer(num_units);
}

Tensor LuongAttention::Call(const Tensor& query, const Tensor&) const {
  if (!CheckQuery("luong_attention", query, keys_)) return layers::InvalidLike(query);
  if (query.dim(1) != keys_.dim(2)) {
    return query.graph()->Fail(InvalidArgument(
        "luong_attention: the query is ", query.spec().ToString(), ", but num_units is ",
        keys_.dim(2), "; set num_units to the size of the cell's output, ", query.dim(1)));
  }
  Tensor scores = Squeeze(MatMul(ExpandDims(query, 1), keys_, {.transpose_b = true}), {1});
  if (options_.scale) {
    scores = layers::GetWeight("attention_g", {}, query, initializers::Ones(), nullptr,
                               /*trainable=*/true) *
             scores;
  }
  return Probabilities(scores, options_.probability_fn);
}

BahdanauAttention::BahdanauAttention(int64_t num_units, const Tensor& memory,
                                     BahdanauAttentionOptions options)
    : BaseAttention({memory, options.memory_sequence_length, "bahdanau_attention"}),
      num_units_(num_units),
      options_(std::move(options)) {
  const NameScope scope(options_.name);
  keys_ = MemoryLayer(num_units);
}

Tensor BahdanauAttention::Call(const Tensor& query, const Tensor&) const {
  if (!CheckQuery("bahdanau_attention", query, keys_)) return layers::InvalidLike(query);
  const auto weight = [&](absl::string_view name, const Shape& shape,
                          const Initializer& initializer) {
    return layers::GetWeight(name, shape, query, initializer, nullptr, /*trainable=*/true);
  };
  const Tensor projected =
      layers::Dense(query, {.units = num_units_, .use_bias = false, .name = "query_layer"});
  Tensor v = weight("attention_v", {num_units_}, nullptr);
  Tensor sum = keys_ + ExpandDims(projected, 1);
  if (options_.normalize) {
    const Tensor g =
        weight("attention_g", {},
               initializers::Constant(std::sqrt(1.0 / static_cast<double>(num_units_))));
    const Tensor b = weight("attention_b", {num_units_}, initializers::Zeros());
    v = g * v * Rsqrt(ReduceSum(Square(v)));
    sum = sum + b;
  }
  return Probabilities(ReduceSum(v * Tanh(sum), {2}), options_.probability_fn);
}

}  // namespace estimator::seq2seq
