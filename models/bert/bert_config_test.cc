#include "models/bert/bert_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator::bert {
namespace {

// The file that comes with a public Chinese checkpoint, which has more fields than the others.
constexpr char kJson[] = R"({
  "attention_probs_dropout_prob": 0.2,
  "directionality": "bidi",
  "hidden_act": "relu",
  "hidden_dropout_prob": 0,
  "hidden_size": 64,
  "initializer_range": 0.03,
  "intermediate_size": 256,
  "max_position_embeddings": 128,
  "num_attention_heads": 4,
  "num_hidden_layers": 3,
  "pooler_type": "first_token_transform",
  "type_vocab_size": 2,
  "vocab_size": 21128
})";

TEST(BertConfig, IsReadFromAFile) {
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("bert_config.json"), kJson));
  const absl::StatusOr<BertConfig> config = ReadBertConfig(dir.File("bert_config.json"));
  EST_ASSERT_OK(config);
  EXPECT_EQ(config->vocab_size, 21128);
  EXPECT_EQ(config->hidden_size, 64);
  EXPECT_EQ(config->num_hidden_layers, 3);
  EXPECT_EQ(config->num_attention_heads, 4);
  EXPECT_EQ(config->intermediate_size, 256);
  EXPECT_EQ(config->hidden_act, "relu");
  EXPECT_EQ(config->hidden_dropout_prob, 0);
  EXPECT_EQ(config->attention_probs_dropout_prob, 0.2);
  EXPECT_EQ(config->max_position_embeddings, 128);
  EXPECT_EQ(config->type_vocab_size, 2);
  EXPECT_EQ(config->initializer_range, 0.03);
}

TEST(BertConfig, AbsentFieldsHaveTheDefaultsOfBertBase) {
  const absl::StatusOr<BertConfig> config = ParseBertConfig(R"({"vocab_size": 100})");
  EST_ASSERT_OK(config);
  EXPECT_EQ(config->vocab_size, 100);
  EXPECT_EQ(config->hidden_size, 768);
  EXPECT_EQ(config->hidden_act, "gelu");
  EXPECT_EQ(config->type_vocab_size, 16);
}

TEST(BertConfig, MistakesAreNamedWithTheirValues) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> mistakes = {
      {"not json", {"expected a JSON object"}},
      {"[1]", {"expected a JSON object"}},
      {"{}", {"vocab_size is missing"}},
      {R"({"vocab_size": "many", "hidden_size": 1.5})",
       {"vocab_size must be an integer, given \"many\"", "hidden_size must be an integer"}},
      {R"({"vocab_size": 9, "hidden_size": 10, "num_attention_heads": 3})",
       {"hidden_size must be a multiple of num_attention_heads, given 10 and 3"}},
      {R"({"vocab_size": 0, "num_attention_heads": 0})",
       {"vocab_size must be positive, given 0", "num_attention_heads must be positive, given 0"}},
      {R"({"vocab_size": 9, "hidden_act": "swish"})",
       {"hidden_act must be gelu, relu, tanh or linear, given 'swish'"}},
      {R"({"vocab_size": 9, "hidden_dropout_prob": 1})",
       {"hidden_dropout_prob must be in [0, 1), given 1"}},
  };
  for (const auto& [json, parts] : mistakes) {
    const absl::Status status = ParseBertConfig(json).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << json;
    for (const std::string& part : parts) EXPECT_THAT(status, ErrorHas(part)) << json;
  }
}

TEST(BertConfig, AFileThatIsMissingOrWrongIsNamed) {
  const TempDir dir;
  EXPECT_THAT(ReadBertConfig(dir.File("none.json")).status(), ErrorHas("none.json"));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("wrong.json"), "{}"));
  EXPECT_THAT(ReadBertConfig(dir.File("wrong.json")).status(), ErrorHas("wrong.json"));
}

}  // namespace
}  // namespace estimator::bert
