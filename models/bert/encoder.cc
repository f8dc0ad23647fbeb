#include "models/bert/encoder.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/bert/optimization.h"

namespace estimator::bert {
namespace {

Initializer KernelInitializer() { return initializers::TruncatedNormal({.stddev = 0.02}); }

class EncoderBuilder {
 public:
  EncoderBuilder(const EncoderParams& params, bool is_training)
      : params_(params), is_training_(is_training) {}

  // Returns the logits, f32 [N, 2].
  Tensor Build(const Tensor& ids, const Tensor& mask) {
    const int64_t length = params_.sequence_length, hidden = params_.hidden_size;
    Tensor x = Gather(Table("word_embeddings", params_.vocab_size), ids) +
               Table("position_embeddings", length).read();
    x = Reshape(Norm(x, "embeddings"), {-1, hidden});
    x = Cast(x, params_.compute_dtype);
    const Tensor bias =
        (1.0f - Cast(Reshape(mask, {-1, 1, 1, length}), DType::kFloat32)) * -10000.0f;
    for (int64_t i = 0; i < params_.num_layers; ++i) {
      const VariableScope scope(absl::StrCat("layer_", i));
      x = Layer(x, Cast(bias, params_.compute_dtype));
    }
    const Tensor first =
        Squeeze(Slice(Reshape(x, {-1, length, hidden}), {0, 0, 0}, {ids.dim(0), 1, hidden}), {1});
    return Cast(Dense(Dense(first, hidden, "pooler", estimator::Tanh), 2, "classifier"),
                DType::kFloat32);
  }

 private:
  static Variable Table(const char* name, int64_t rows, int64_t columns) {
    return GetVariable(name, {rows, columns}, {.initializer = KernelInitializer()});
  }
  Variable Table(const char* name, int64_t rows) const {
    return Table(name, rows, params_.hidden_size);
  }
  // With bfloat16 the variables stay float32, and the product reads their casts.
  Tensor Dense(const Tensor& x, int64_t units, const char* name,
               const Activation& activation = nullptr) const {
    if (x.dtype() == DType::kFloat32) {
      return layers::Dense(x, {.units = units,
                               .activation = activation,
                               .kernel_initializer = KernelInitializer(),
                               .name = name});
    }
    const VariableScope scope(name);
    const Variable kernel = Table("kernel", x.dim(-1), units);
    const Variable bias = GetVariable("bias", {units}, {.initializer = initializers::Zeros()});
    const Tensor y =
        BiasAdd(MatMul(x, Cast(kernel.read(), x.dtype())), Cast(bias.read(), x.dtype()));
    return activation ? activation(y) : y;
  }
  static Tensor Norm(const Tensor& x, const char* name) {
    return layers::LayerNorm(x, {.begin_norm_axis = -1, .epsilon = 1e-12, .name = name});
  }
  Tensor Dropout(const Tensor& x) const {
    return layers::Dropout(x, {.rate = params_.dropout_rate, .training = is_training_});
  }
  // [N * S, H] -> [N, heads, S, H / heads]
  Tensor Heads(const Tensor& x, const char* name) const {
    const int64_t heads = params_.num_heads;
    return Transpose(Reshape(Dense(x, params_.hidden_size, name),
                             {-1, params_.sequence_length, heads, params_.hidden_size / heads}),
                     {0, 2, 1, 3});
  }
  Tensor Layer(const Tensor& x, const Tensor& bias) const {
    const Tensor query = Heads(x, "query"), key = Heads(x, "key"), value = Heads(x, "value");
    const Tensor scores = MatMul(query, key, {.transpose_b = true}) *
                          static_cast<float>(1 / std::sqrt(static_cast<double>(query.dim(3))));
    const Tensor probabilities = Dropout(Softmax(scores + bias));
    const Tensor context =
        Reshape(Transpose(MatMul(probabilities, value), {0, 2, 1, 3}), {-1, params_.hidden_size});
    const Tensor attended = Norm(
        x + Dropout(Dense(context, params_.hidden_size, "attention_output")), "attention_norm");
    const Tensor inner =
        Dense(attended, params_.intermediate_size, "intermediate", GeluApproximate);
    return Norm(attended + Dropout(Dense(inner, params_.hidden_size, "output")), "output_norm");
  }

  const EncoderParams& params_;
  const bool is_training_;
};

Operation TrainOp(const Tensor& loss, double learning_rate) {
  const Schedule rate =
      train::PolynomialDecay({.initial = learning_rate, .decay_steps = 10000, .end = 0});
  return MinimizeClipped(loss, train::AdamWeightDecay(rate, {.weight_decay_rate = 0.01}));
}

}  // namespace

tpu::TPUEstimatorSpec EncoderModelFn(const Features& features, const Labels& labels, Mode mode,
                                     const EncoderParams& params) {
  const Tensor logits =
      EncoderBuilder(params, mode == Mode::kTrain).Build(features["ids"], features["mask"]);
  if (mode == Mode::kPredict)
    return tpu::TPUEstimatorSpec::Predict({{"probabilities", Softmax(logits)}});
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) return tpu::TPUEstimatorSpec::Eval(loss);
  return tpu::TPUEstimatorSpec::Train(loss, TrainOp(loss, params.learning_rate));
}

}  // namespace estimator::bert
