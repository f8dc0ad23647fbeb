#include "models/bert/modeling.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/strings.h"

namespace estimator::bert {
namespace {

constexpr char kWordEmbeddings[] = "bert/embeddings/word_embeddings";

// Builds the layers of one network.
class Builder {
 public:
  Builder(const BertConfig& config, bool is_training, const BertInput& input,
          bool use_one_hot_embeddings)
      : config_(config),
        is_training_(is_training),
        use_one_hot_embeddings_(use_one_hot_embeddings),
        input_(input),
        batch_(input.input_ids.dim(0)),
        length_(input.input_ids.dim(1)) {}

  BertModel Build() {
    BertModel model;
    const VariableScope scope("bert");
    Tensor x = Embeddings(&model.embedding_table);  // [N * S, H]
    {
      const VariableScope encoder("encoder");
      const Tensor mask = AttentionMask();
      for (int64_t i = 0; i < config_.num_hidden_layers; ++i) {
        const VariableScope layer(absl::StrCat("layer_", i));
        x = Layer(x, mask);
      }
    }
    model.sequence_output = Reshape(x, {batch_, length_, config_.hidden_size});
    const VariableScope pooler("pooler");
    const Tensor first =
        Squeeze(Slice(model.sequence_output, {0, 0, 0}, {batch_, 1, config_.hidden_size}), {1});
    model.pooled_output = Dense(first, config_.hidden_size, "dense", estimator::Tanh);
    return model;
  }

 private:
  Variable Table(const char* name, int64_t rows) {
    return GetVariable(name, {rows, config_.hidden_size},
                       {.initializer = CreateInitializer(config_)});
  }
  Tensor Dense(const Tensor& x, int64_t units, const char* name,
               const Activation& activation = nullptr) {
    return layers::Dense(x, {.units = units,
                             .activation = activation,
                             .kernel_initializer = CreateInitializer(config_),
                             .name = name});
  }
  static Tensor LayerNorm(const Tensor& x) {
    return layers::LayerNorm(x, {.begin_norm_axis = -1, .name = "LayerNorm"});
  }
  Tensor HiddenDropout(const Tensor& x) {
    return layers::Dropout(x, {.rate = config_.hidden_dropout_prob, .training = is_training_});
  }

  Tensor Embeddings(Variable* table) {
    const VariableScope scope("embeddings");
    *table = Table("word_embeddings", config_.vocab_size);
    const Variable types = Table("token_type_embeddings", config_.type_vocab_size);
    const Variable positions = Table("position_embeddings", config_.max_position_embeddings);
    if (length_ > config_.max_position_embeddings) {
      Graph::Current().Fail(InvalidArgument(
          "input_ids has sequences of ", length_, " words, but the network has positions for ",
          config_.max_position_embeddings, " (max_position_embeddings)"));
    }
    const Shape rows = {batch_, length_, config_.hidden_size};
    const auto product = [&rows](const Tensor& ids, const Variable& of) {
      return Reshape(MatMul(OneHot(Reshape(ids, {-1}), of.shape().dim(0)), of), rows);
    };
    const Tensor words = use_one_hot_embeddings_ ? product(input_.input_ids, *table)
                                                 : Gather(*table, input_.input_ids);
    Tensor x = words + product(input_.token_type_ids, types);  // few types
    x = x + Slice(positions, {0, 0}, {length_, config_.hidden_size});
    return Reshape(HiddenDropout(LayerNorm(x)), {-1, config_.hidden_size});
  }

  // [N, 1, 1, S]: 0 for a word, -10000 for padding, which a softmax turns into 0.
  Tensor AttentionMask() {
    const Tensor mask = Cast(Reshape(input_.input_mask, {-1, 1, 1, length_}), DType::kFloat32);
    return (1.0f - mask) * -10000.0f;
  }

  // [N * S, H] -> [N, heads, S, H / heads]
  Tensor Heads(const Tensor& x, const char* name) {
    const int64_t heads = config_.num_attention_heads;
    const Tensor y = Dense(x, config_.hidden_size, name);
    return Transpose(Reshape(y, {-1, length_, heads, config_.hidden_size / heads}), {0, 2, 1, 3});
  }

  Tensor SelfAttention(const Tensor& x, const Tensor& mask) {
    const VariableScope scope("self");
    const Tensor query = Heads(x, "query"), key = Heads(x, "key"), value = Heads(x, "value");
    const double head_size = static_cast<double>(query.dim(3));
    const Tensor scores = MatMul(query, key, {.transpose_b = true}) *
                          static_cast<float>(1 / std::sqrt(head_size));  // [N, heads, S, S]
    const Tensor probabilities =
        layers::Dropout(Softmax(scores + mask),
                        {.rate = config_.attention_probs_dropout_prob, .training = is_training_});
    const Tensor context = Transpose(MatMul(probabilities, value), {0, 2, 1, 3});
    return Reshape(context, {-1, config_.hidden_size});
  }

  // Normalizes the sum of a layer's input and its output.
  Tensor Residual(const Tensor& x, const Tensor& input) {
    const VariableScope scope("output");
    return LayerNorm(HiddenDropout(Dense(x, config_.hidden_size, "dense")) + input);
  }

  Tensor Layer(const Tensor& x, const Tensor& mask) {
    Tensor attended;
    {
      const VariableScope scope("attention");
      attended = Residual(SelfAttention(x, mask), x);
    }
    Tensor hidden;
    {
      const VariableScope scope("intermediate");
      hidden = Dense(attended, config_.intermediate_size, "dense", HiddenActivation(config_));
    }
    return Residual(hidden, attended);
  }

  const BertConfig& config_;
  const bool is_training_, use_one_hot_embeddings_;
  const BertInput& input_;
  const int64_t batch_, length_;
};

}  // namespace

BertModel BuildBertModel(const BertConfig& config, bool is_training, const BertInput& input,
                         bool use_one_hot_embeddings) {
  return Builder(config, is_training, input, use_one_hot_embeddings).Build();
}

Initializer CreateInitializer(const BertConfig& config) {
  return initializers::TruncatedNormal({.stddev = config.initializer_range});
}

Activation HiddenActivation(const BertConfig& config) {
  if (config.hidden_act == "gelu") return GeluApproximate;
  if (config.hidden_act == "relu") return Relu;
  if (config.hidden_act == "tanh") return estimator::Tanh;
  return nullptr;
}

Tensor OutputLayer(const Tensor& x, const Variable& weights, const Variable& bias) {
  return BiasAdd(MatMul(x, weights, {.transpose_b = true}), bias);
}

void InitFromBertCheckpoint(absl::string_view init_checkpoint) {
  if (init_checkpoint.empty()) return;
  const auto [assignment_map, names] =
      train::GetAssignmentMapFromCheckpoint(Graph::Current().TrainableVariables(), init_checkpoint);
  train::InitFromCheckpoint(init_checkpoint, assignment_map);
}

absl::Status CheckBertCheckpoint(absl::string_view init_checkpoint, const BertConfig& config) {
  if (init_checkpoint.empty()) return absl::OkStatus();
  EST_ASSIGN_OR_RETURN(const auto variables, ListVariables(init_checkpoint));
  std::vector<std::string> names;
  for (const auto& [name, spec] : variables) {
    if (name == kWordEmbeddings) {
      const Shape expected = {config.vocab_size, config.hidden_size};
      if (spec.shape == expected) return absl::OkStatus();
      return InvalidArgument(init_checkpoint, ": ", name, " is ", spec.ToString(),
                             ", but the config has [vocab_size, ",
                             "hidden_size] = ", expected.ToString(),
                             "; use the bert_config.json of this checkpoint");
    }
    names.push_back(name);
  }
  return InvalidArgument(init_checkpoint, " has no variable ", kWordEmbeddings,
                         ", so it is not a checkpoint of "
                         "BERT; it has ",
                         JoinSome(names, 5));
}

}  // namespace estimator::bert
