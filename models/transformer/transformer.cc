#include "models/transformer/transformer.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "tpu/cross_shard_optimizer.h"

namespace estimator::transformer {
namespace {

// Is added to the scores of positions that do not count. A softmax turns it into 0.
constexpr float kMasked = -1e9f;

// Sines and cosines of the positions, with wave lengths from 2 pi to 10,000 * 2 pi.
// Returns f32 [length, hidden_size].
Tensor Positions(int64_t length, int64_t hidden_size) {
  const int64_t num_scales = hidden_size / 2;
  const float increment = std::log(1e4f) / static_cast<float>(num_scales - 1);
  Array signal(DType::kFloat32, {length, hidden_size});
  for (int64_t position = 0; position < length; ++position) {
    for (int64_t k = 0; k < num_scales; ++k) {
      const float time =
          static_cast<float>(position) * std::exp(static_cast<float>(k) * -increment);
      float* const row = signal.data<float>() + position * hidden_size;
      row[k] = std::sin(time);
      row[num_scales + k] = std::cos(time);
    }
  }
  return Constant(signal);
}

// Row i masks the positions after i. f32 [length, length].
Tensor CausalBias(int64_t length) {
  Array bias(DType::kFloat32, {length, length});
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t k = 0; k < length; ++k)
      bias.data<float>()[i * length + k] = k > i ? kMasked : 0.0f;
  }
  return Constant(bias);
}

Tensor Normalize(const Tensor& x) {
  const VariableScope scope("layer_normalization");
  const Shape channels{x.dim(-1)};
  const Variable scale =
      GetVariable("layer_norm_scale", channels, {.initializer = initializers::Ones()});
  const Variable bias =
      GetVariable("layer_norm_bias", channels, {.initializer = initializers::Zeros()});
  return LayerNorm(x, scale, bias, 1e-6f);
}

std::string LayerName(int64_t layer) { return absl::StrCat("layer_", layer); }

}  // namespace

VariableScope Transformer::Scope() const {
  return VariableScope("model/Transformer",
                       {.reuse = Reuse::kAuto, .initializer = initializers::GlorotUniform()});
}

Tensor Transformer::Embeddings() const {
  const VariableScope scope("embedding_shared_weights/embedding_and_softmax");
  const double stddev = 1 / std::sqrt(static_cast<double>(params_.hidden_size));
  return GetVariable("weights", {params_.vocab_size, params_.hidden_size},
                     {.initializer = initializers::RandomNormal({.stddev = stddev})});
}

// The embedding of padding is 0.
Tensor Transformer::Embed(const Tensor& ids) const {
  const Tensor counts = Cast(NotEqual(ids, kPadding), DType::kFloat32);
  const auto scale = std::sqrt(static_cast<float>(params_.hidden_size));
  return Gather(Embeddings(), ids) * ExpandDims(counts * scale, -1);
}

Tensor Transformer::Dropout(const Tensor& x, double rate) const {
  return layers::Dropout(x, {.rate = rate, .training = is_training_});
}

Tensor Transformer::Project(const Tensor& x, const std::string& name) const {
  return layers::Dense(x, {.units = params_.hidden_size, .use_bias = false, .name = name});
}

// query: [N * S, hidden]. keys, values: [N, T, hidden] or [N * T, hidden].
// bias: broadcasts to [N, heads, S, T].
Tensor Transformer::Attend(const Tensor& query, const Tensor& keys, const Tensor& values,
                           const Tensor& bias, int64_t batch_size) const {
  const int64_t head_size = params_.hidden_size / params_.num_heads;
  const auto heads = [&](const Tensor& x) {
    return Transpose(Reshape(x, Shape{batch_size, -1, params_.num_heads, head_size}), {0, 2, 1, 3});
  };
  const Tensor scores = MatMul(heads(query), heads(keys), {.transpose_b = true}) *
                        static_cast<float>(1 / std::sqrt(static_cast<double>(head_size)));
  const Tensor probabilities = Dropout(Softmax(scores + bias), params_.attention_dropout);
  const Tensor context = Transpose(MatMul(probabilities, heads(values)), {0, 2, 1, 3});
  return Project(Reshape(context, query.shape()), "output_transform");
}

Tensor Transformer::FeedForward(const Tensor& x) const {
  const VariableScope scope("feed_foward_network");  // the original's spelling
  const Tensor hidden =
      layers::Dense(x, {.units = params_.filter_size, .activation = Relu, .name = "filter_layer"});
  return layers::Dense(Dropout(hidden, params_.relu_dropout),
                       {.units = params_.hidden_size, .name = "output_layer"});
}

Tensor Transformer::Residual(const Tensor& x, const std::string& name,
                             const std::function<Tensor(const Tensor&)>& layer) const {
  const VariableScope scope(name);
  return x + Dropout(layer(Normalize(x)), params_.layer_postprocess_dropout);
}

EncoderMemory Transformer::Encode(const Tensor& inputs) const {
  const int64_t batch_size = inputs.dim(0), length = inputs.dim(1);
  EncoderMemory memory;
  memory.bias = Reshape(Cast(Equal(inputs, kPadding), DType::kFloat32) * kMasked,
                        Shape{batch_size, 1, 1, length});
  const VariableScope scope = Scope();
  const Shape rows{-1, params_.hidden_size}, sequences{batch_size, length, params_.hidden_size};
  Tensor x = Reshape(Dropout(Embed(inputs) + Positions(length, params_.hidden_size),
                             params_.layer_postprocess_dropout),
                     rows);
  {
    const VariableScope stack("encoder_stack");
    for (int64_t i = 0; i < params_.num_hidden_layers; ++i) {
      const VariableScope layer(LayerName(i));
      x = Residual(x, "self_attention", [&](const Tensor& y) {
        const VariableScope attention("self_attention");
        return Attend(Project(y, "q"), Project(y, "k"), Project(y, "v"), memory.bias, batch_size);
      });
      x = Residual(x, "ffn", [&](const Tensor& y) { return FeedForward(y); });
    }
    x = Normalize(x);
  }
  // Made here, so that a decoding makes them once and not for each token.
  for (int64_t i = 0; i < params_.num_hidden_layers; ++i) {
    const VariableScope attention(
        absl::StrCat("decoder_stack/", LayerName(i), "/encdec_attention/attention"));
    memory.keys.push_back(Reshape(Project(x, "k"), sequences));
    memory.values.push_back(Reshape(Project(x, "v"), sequences));
  }
  return memory;
}

Tensor Transformer::DecoderStack(Tensor x, const Tensor& bias, const EncoderMemory& memory,
                                 const Remember& remember) const {
  const VariableScope stack("decoder_stack");
  const int64_t batch_size = memory.bias.dim(0);
  for (int64_t i = 0; i < params_.num_hidden_layers; ++i) {
    const VariableScope layer(LayerName(i));
    x = Residual(x, "self_attention", [&](const Tensor& y) {
      const VariableScope attention("self_attention");
      const auto [keys, values] = remember(i, Project(y, "k"), Project(y, "v"));
      return Attend(Project(y, "q"), keys, values, bias, batch_size);
    });
    x = Residual(x, "encdec_attention", [&](const Tensor& y) {
      const VariableScope attention("attention");
      const auto n = static_cast<size_t>(i);
      return Attend(Project(y, "q"), memory.keys[n], memory.values[n], memory.bias, batch_size);
    });
    x = Residual(x, "ffn", [&](const Tensor& y) { return FeedForward(y); });
  }
  return Normalize(x);
}

Tensor Transformer::Logits(const Tensor& targets, const EncoderMemory& memory) const {
  const int64_t batch_size = targets.dim(0), length = targets.dim(1), hidden = params_.hidden_size;
  const VariableScope scope = Scope();
  const Tensor shifted =
      Slice(Pad(Embed(targets), {{0, 0}, {1, 0}, {0, 0}}), {0, 0, 0}, {batch_size, length, hidden});
  const Tensor x = Dropout(shifted + Positions(length, hidden), params_.layer_postprocess_dropout);
  const auto own = [](int64_t, const Tensor& keys, const Tensor& values) {
    return std::pair(keys, values);
  };
  const Tensor bias = Reshape(CausalBias(length), Shape{1, 1, length, length});
  const Tensor outputs = DecoderStack(Reshape(x, Shape{-1, hidden}), bias, memory, own);
  const Tensor logits = MatMul(outputs, Embeddings(), {.transpose_b = true});
  return Reshape(logits, Shape{batch_size, length, params_.vocab_size});
}

seq2seq::BeamCache Transformer::InitialCache(int64_t batch_size, int64_t max_decode_length) const {
  seq2seq::BeamCache cache;
  for (int64_t i = 0; i < params_.num_hidden_layers; ++i) {
    for (const char* name : {"/k", "/v"}) {
      cache[absl::StrCat(LayerName(i), name)] =
          Zeros({batch_size, max_decode_length, params_.hidden_size});
    }
  }
  return cache;
}

seq2seq::SymbolsToLogits Transformer::NextLogits(const Tensor& ids, const Tensor& i,
                                                 seq2seq::BeamCache cache,
                                                 const EncoderMemory& memory) const {
  const int64_t rows = ids.dim(0), length = cache.begin()->second.dim(1);
  const VariableScope scope = Scope();
  const Tensor x = Embed(Squeeze(ids, {1})) + Gather(Positions(length, params_.hidden_size), i);
  const Tensor bias = Reshape(Gather(CausalBias(length), i), Shape{1, 1, 1, length});
  const Tensor places = Stack({Range(rows), Fill({rows}, i)}, 1);
  const auto remember = [&](int64_t layer, const Tensor& keys, const Tensor& values) {
    const auto write = [&](const char* name, const Tensor& row) {
      Tensor& all = cache.at(absl::StrCat(LayerName(layer), name));
      all = TensorScatterUpdate(all, places, row);
      return all;
    };
    return std::pair(write("/k", keys), write("/v", values));
  };
  const Tensor outputs = DecoderStack(x, bias, memory, remember);
  const Tensor logits = MatMul(outputs, Embeddings(), {.transpose_b = true});
  return {logits, cache};
}

namespace {

Tensor TransformerLoss(const Tensor& logits, const Tensor& targets,
                       const TransformerParams& params) {
  const double confidence = 1 - params.label_smoothing;
  const double others = static_cast<double>(params.vocab_size - 1);
  const double low = params.label_smoothing / others;
  const Tensor soft_targets =
      OneHot(targets, params.vocab_size, {.on_value = confidence, .off_value = low});
  // The cross entropy of a perfect prediction.
  const double least = -(confidence * std::log(confidence) + others * low * std::log(low + 1e-20));
  const Tensor losses =
      SoftmaxCrossEntropyWithLogits(soft_targets, logits) - static_cast<float>(least);
  const Tensor weights = Cast(NotEqual(targets, kPadding), DType::kFloat32);
  return ReduceSum(losses * weights) / ReduceSum(weights);
}

Operation TrainOp(const Tensor& loss, const TransformerParams& params) {
  const double scale = params.learning_rate / std::sqrt(static_cast<double>(params.hidden_size));
  const auto warmup = static_cast<float>(params.learning_rate_warmup_steps);
  const Schedule rate = [=](const Tensor& step) {
    return Minimum(1.0f, step / warmup) * static_cast<float>(scale) * Rsqrt(Maximum(step, warmup));
  };
  const train::Adam adam(rate, {.beta1 = params.optimizer_adam_beta1,
                                .beta2 = params.optimizer_adam_beta2,
                                .epsilon = params.optimizer_adam_epsilon});
  return tpu::CrossShardOptimizer(adam).Minimize(loss);
}

// The memory of each example for all of its beams, which are side by side.
EncoderMemory ForBeams(EncoderMemory memory, int64_t beam_size) {
  memory.bias = seq2seq::TileBatch(memory.bias, beam_size);
  for (Tensors* tensors : {&memory.keys, &memory.values}) {
    for (Tensor& tensor : *tensors) tensor = seq2seq::TileBatch(tensor, beam_size);
  }
  return memory;
}

}  // namespace

tpu::TPUEstimatorSpec TransformerModelFn(const Features& features, const Tensor& labels, Mode mode,
                                         const TransformerParams& params) {
  const Tensor inputs = features;
  const Transformer network(params, mode == Mode::kTrain);
  const EncoderMemory memory = network.Encode(inputs);
  if (mode != Mode::kPredict) {
    const Tensor loss = TransformerLoss(network.Logits(labels, memory), labels, params);
    if (mode == Mode::kEval) return tpu::TPUEstimatorSpec::Eval(loss);
    return tpu::TPUEstimatorSpec::Train(loss, TrainOp(loss, params));
  }
  const int64_t batch_size = inputs.dim(0);
  const int64_t max_decode_length = inputs.dim(1) + params.extra_decode_length;
  const EncoderMemory beams = ForBeams(memory, params.beam_size);
  const auto [ids, scores] = seq2seq::BeamSearch(
      [&](const Tensor& ids, const Tensor& i, const seq2seq::BeamCache& cache) {
        return network.NextLogits(ids, i, cache, beams);
      },
      Fill({batch_size}, Constant(static_cast<int32_t>(kPadding))),
      network.InitialCache(batch_size, max_decode_length),
      {.vocab_size = params.vocab_size,
       .beam_size = params.beam_size,
       .alpha = params.alpha,
       .max_decode_length = max_decode_length,
       .eos_id = kEnd});
  const auto best = [](const Tensor& x, const std::vector<int64_t>& begin) {
    std::vector<int64_t> size(begin.size(), -1);
    size[1] = 1;
    return Squeeze(Slice(x, begin, size), {1});
  };
  return tpu::TPUEstimatorSpec::Predict(
      {{"outputs", best(ids, {0, 0, 1})}, {"scores", best(scores, {0, 0})}});
}

}  // namespace estimator::transformer
