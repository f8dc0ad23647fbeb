// Networks for words, as in testdata/reference/{embedding_classifier,attention_block}.
#include <cmath>
#include <string>

#include "estimator/estimator.h"
#include "tools/replay/cases/cases.h"

namespace estimator::replay {
namespace {

using layers::Dense;

EstimatorSpec EmbeddingClassifier(const Features& features, const Tensor& labels) {
  const Variable table = GetVariable("embeddings", {40, 6});
  const Tensor words = Gather(table, features["words"]);
  const Tensor mask =
      ExpandDims(SequenceMask(features["length"], 7, {.dtype = DType::kFloat32}), 2);
  const Tensor mean = ReduceSum(words * mask, {1}) / ReduceSum(mask, {1});
  const Tensor hidden = Dense(mean, {.units = 8, .activation = Tanh});
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, Dense(hidden, {.units = 3}));
  return EstimatorSpec::Train(loss, train::Adam(0.01).Minimize(loss));
}

constexpr int64_t kHeads = 2, kWidth = 8, kLength = 6, kHeadWidth = kWidth / kHeads;

Tensor LayerNorm(const Tensor& x) { return layers::LayerNorm(x, {.begin_norm_axis = -1}); }

// [N, length, width] -> [N, heads, length, width / heads]
Tensor Heads(const Tensor& x, const std::string& name) {
  const Tensor y = Dense(x, {.units = kWidth, .name = name});
  return Transpose(Reshape(y, {-1, kLength, kHeads, kHeadWidth}), {0, 2, 1, 3});
}

Tensor Attention(const Tensor& x, const Tensor& mask) {
  const VariableScope scope("attention");
  const Tensor query = Heads(x, "query"), key = Heads(x, "key"), value = Heads(x, "value");
  Tensor scores = MatMul(query, key, {.transpose_b = true}) *
                  static_cast<float>(1 / std::sqrt(static_cast<double>(kHeadWidth)));
  const Tensor seen = Reshape(Cast(mask, DType::kFloat32), {-1, 1, 1, kLength});
  scores = scores + (1.0f - seen) * -10000.0f;
  const Tensor context = Transpose(MatMul(Softmax(scores), value), {0, 2, 1, 3});
  const Tensor output =
      Dense(Reshape(context, {-1, kLength, kWidth}), {.units = kWidth, .name = "output"});
  return LayerNorm(output + x);
}

EstimatorSpec AttentionBlock(const Features& features, const Tensor& labels) {
  const Tensor attended = Attention(features["x"], features["mask"]);
  const Tensor hidden =
      Dense(attended, {.units = 16, .activation = GeluApproximate, .name = "intermediate"});
  const Tensor y = LayerNorm(Dense(hidden, {.units = kWidth, .name = "output"}) + attended);
  const Tensor first = Squeeze(Slice(y, {0, 0, 0}, {-1, 1, -1}), {1});
  const Tensor pooled = Dense(first, {.units = kWidth, .activation = Tanh, .name = "pooler"});
  const Tensor loss =
      losses::SparseSoftmaxCrossEntropy(labels, Dense(pooled, {.units = 3, .name = "classifier"}));
  return EstimatorSpec::Train(loss, train::GradientDescent(0.1).Minimize(loss));
}

}  // namespace

Cases TextCases() {
  return {{"embedding_classifier", EmbeddingClassifier}, {"attention_block", AttentionBlock}};
}

}  // namespace estimator::replay
