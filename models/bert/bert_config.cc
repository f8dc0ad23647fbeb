#include "models/bert/bert_config.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"

namespace estimator::bert {
namespace {

using Json = nlohmann::json;

// Reads the fields of a JSON object, and collects what is wrong with them.
class FieldReader {
 public:
  explicit FieldReader(const Json& object) : object_(object) {}

  void Read(const char* name, int64_t& value) {
    if (const Json* json = Find(name, "an integer", &Json::is_number_integer); json != nullptr)
      value = json->get<int64_t>();
  }
  void Read(const char* name, double& value) {
    if (const Json* json = Find(name, "a number", &Json::is_number); json != nullptr)
      value = json->get<double>();
  }
  void Read(const char* name, std::string& value) {
    if (const Json* json = Find(name, "a string", &Json::is_string); json != nullptr)
      value = json->get<std::string>();
  }
  void Require(const char* name) {
    if (!object_.contains(name)) problems_.push_back(absl::StrCat(name, " is missing"));
  }
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  // Returns null if the field is absent or has another type.
  const Json* Find(const char* name, const char* type, bool (Json::*is_type)() const) {
    const auto found = object_.find(name);
    if (found == object_.end()) return nullptr;
    if (((*found).*is_type)()) return &*found;
    problems_.push_back(absl::StrCat(name, " must be ", type, ", given ", found->dump()));
    return nullptr;
  }

  const Json& object_;
  std::vector<std::string> problems_;
};

absl::Status Problems(const std::vector<std::string>& problems) {
  if (problems.empty()) return absl::OkStatus();
  return InvalidArgument("BERT config: ", absl::StrJoin(problems, "; "));
}

}  // namespace

absl::Status ValidateConfig(const BertConfig& config) {
  std::vector<std::string> problems;
  const auto positive = [&](const char* name, int64_t value) {
    if (value <= 0) problems.push_back(absl::StrCat(name, " must be positive, given ", value));
  };
  positive("vocab_size", config.vocab_size);
  positive("hidden_size", config.hidden_size);
  positive("num_hidden_layers", config.num_hidden_layers);
  positive("num_attention_heads", config.num_attention_heads);
  positive("intermediate_size", config.intermediate_size);
  positive("max_position_embeddings", config.max_position_embeddings);
  positive("type_vocab_size", config.type_vocab_size);
  if (config.num_attention_heads > 0 && config.hidden_size % config.num_attention_heads != 0) {
    problems.push_back(absl::StrCat("hidden_size must be a multiple of num_attention_heads, given ",
                                    config.hidden_size, " and ", config.num_attention_heads));
  }
  const auto probability = [&](const char* name, double value) {
    if (!(value >= 0 && value < 1))
      problems.push_back(absl::StrCat(name, " must be in [0, 1), given ", value));
  };
  probability("hidden_dropout_prob", config.hidden_dropout_prob);
  probability("attention_probs_dropout_prob", config.attention_probs_dropout_prob);
  if (!(config.initializer_range >= 0)) {
    problems.push_back(
        absl::StrCat("initializer_range must be >= 0, given ", config.initializer_range));
  }
  const std::string& activation = config.hidden_act;
  if (activation != "gelu" && activation != "relu" && activation != "tanh" &&
      activation != "linear") {
    problems.push_back(
        absl::StrCat("hidden_act must be gelu, relu, tanh or linear, given '", activation, "'"));
  }
  return Problems(problems);
}

absl::StatusOr<BertConfig> ParseBertConfig(absl::string_view json) {
  const Json object =
      Json::parse(json.begin(), json.end(), /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return Problems(
        {"expected a JSON object such as {\"vocab_size\": 30522, \"hidden_size\": "
         "768, ...}"});
  }
  BertConfig config;
  FieldReader fields(object);
  fields.Require("vocab_size");
  fields.Read("vocab_size", config.vocab_size);
  fields.Read("hidden_size", config.hidden_size);
  fields.Read("num_hidden_layers", config.num_hidden_layers);
  fields.Read("num_attention_heads", config.num_attention_heads);
  fields.Read("intermediate_size", config.intermediate_size);
  fields.Read("hidden_act", config.hidden_act);
  fields.Read("hidden_dropout_prob", config.hidden_dropout_prob);
  fields.Read("attention_probs_dropout_prob", config.attention_probs_dropout_prob);
  fields.Read("max_position_embeddings", config.max_position_embeddings);
  fields.Read("type_vocab_size", config.type_vocab_size);
  fields.Read("initializer_range", config.initializer_range);
  EST_RETURN_IF_ERROR(Problems(fields.problems()));
  EST_RETURN_IF_ERROR(ValidateConfig(config));
  return config;
}

absl::StatusOr<BertConfig> ReadBertConfig(absl::string_view path) {
  EST_ASSIGN_OR_RETURN(const std::string json, ReadFile(path));
  absl::StatusOr<BertConfig> config = ParseBertConfig(json);
  if (!config.ok()) return Annotate(config.status(), path);
  return config;
}

}  // namespace estimator::bert
