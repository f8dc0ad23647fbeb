// The sizes of a BERT network, as in the file bert_config.json of a public checkpoint.
#ifndef MODELS_BERT_BERT_CONFIG_H_
#define MODELS_BERT_BERT_CONFIG_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator::bert {

// The defaults are those of BERT-Base.
// Source: google-research/bert modeling.BertConfig.
struct BertConfig {
  int64_t vocab_size = 30522;
  int64_t hidden_size = 768;  // a multiple of num_attention_heads
  int64_t num_hidden_layers = 12;
  int64_t num_attention_heads = 12;
  int64_t intermediate_size = 3072;
  std::string hidden_act = "gelu";  // gelu (approximated with tanh), relu, tanh or linear
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  int64_t max_position_embeddings = 512;  // the longest sequence
  int64_t type_vocab_size = 16;           // public checkpoints have 2
  double initializer_range = 0.02;        // standard deviation of the truncated normal initializer
};

// Checks the sizes.
// Errors: INVALID_ARGUMENT listing all fields that are out of range, with their values.
absl::Status ValidateConfig(const BertConfig& config);

// Reads a JSON object. vocab_size is required, other absent fields have the defaults above, and
// unknown fields are ignored.
// Errors: INVALID_ARGUMENT if the text is not a JSON object, or if a field has the wrong type; as
// ValidateConfig.
absl::StatusOr<BertConfig> ParseBertConfig(absl::string_view json);

// The same for a file. Errors: NOT_FOUND; as ParseBertConfig, with the path.
absl::StatusOr<BertConfig> ReadBertConfig(absl::string_view path);

}  // namespace estimator::bert

#endif  // MODELS_BERT_BERT_CONFIG_H_
