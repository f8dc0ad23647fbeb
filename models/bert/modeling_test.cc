#include "models/bert/modeling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/testing/step.h"

namespace estimator::bert {
namespace {

constexpr char kPretraining[] = "testdata/reference/bert_pretraining/initial";

BertInput Input(int64_t batch, int64_t length) {
  const Tensor ids = Constant(Array(DType::kInt32, {batch, length}));
  return {.input_ids = ids, .input_mask = ids, .token_type_ids = ids};
}

BertConfig SmallConfig() {
  return {.vocab_size = 40,
          .hidden_size = 16,
          .num_hidden_layers = 2,
          .num_attention_heads = 2,
          .intermediate_size = 24,
          .max_position_embeddings = 16,
          .type_vocab_size = 2};
}

using BertModelTest = GraphTest;

TEST_F(BertModelTest, OfBaseSizeHasTheVariablesOfThePublicCheckpoint) {
  const BertModel model = BuildBertModel({.type_vocab_size = 2}, true, Input(2, 128));
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(model.sequence_output.spec().ToString(), "f32 [2,128,768]");
  EXPECT_EQ(model.pooled_output.spec().ToString(), "f32 [2,768]");
  std::map<std::string, std::string> variables;
  int64_t num_parameters = 0;
  for (const Variable& variable : graph_.TrainableVariables()) {
    variables[variable.name()] = variable.spec().ToString();
    num_parameters += variable.shape().num_elements();
  }
  EXPECT_EQ(num_parameters, 109482240);  // uncased_L-12_H-768_A-12
  EXPECT_EQ(variables.size(), 5u + 12 * 16 + 2);
  std::map<std::string, std::string> expected = {
      {"bert/embeddings/word_embeddings", "f32 [30522,768]"},
      {"bert/embeddings/token_type_embeddings", "f32 [2,768]"},
      {"bert/embeddings/position_embeddings", "f32 [512,768]"},
      {"bert/embeddings/LayerNorm/beta", "f32 [768]"},
      {"bert/embeddings/LayerNorm/gamma", "f32 [768]"},
      {"bert/pooler/dense/kernel", "f32 [768,768]"},
      {"bert/pooler/dense/bias", "f32 [768]"}};
  const std::map<std::string, std::string> layer = {
      {"attention/self/query/kernel", "f32 [768,768]"},
      {"attention/self/query/bias", "f32 [768]"},
      {"attention/self/key/kernel", "f32 [768,768]"},
      {"attention/self/key/bias", "f32 [768]"},
      {"attention/self/value/kernel", "f32 [768,768]"},
      {"attention/self/value/bias", "f32 [768]"},
      {"attention/output/dense/kernel", "f32 [768,768]"},
      {"attention/output/dense/bias", "f32 [768]"},
      {"attention/output/LayerNorm/beta", "f32 [768]"},
      {"attention/output/LayerNorm/gamma", "f32 [768]"},
      {"intermediate/dense/kernel", "f32 [768,3072]"},
      {"intermediate/dense/bias", "f32 [3072]"},
      {"output/dense/kernel", "f32 [3072,768]"},
      {"output/dense/bias", "f32 [768]"},
      {"output/LayerNorm/beta", "f32 [768]"},
      {"output/LayerNorm/gamma", "f32 [768]"}};
  for (int i = 0; i < 12; ++i) {
    for (const auto& [name, spec] : layer)
      expected[absl::StrCat("bert/encoder/layer_", i, "/", name)] = spec;
  }
  EXPECT_EQ(variables, expected);
}

// Fixed bug: replicas looked words up, so that the norm of the original on a TPU was another.
TEST_F(BertModelTest, OneHotWordsGiveTheSameOutputAndTheNormOfTheWholeTable) {
  BertConfig config = SmallConfig();
  config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0;
  std::vector<double> outputs, norms, whole;
  for (const bool one_hot : {false, true}) {
    Graph graph;
    graph.set_seed(1);
    const GraphScope scope(graph);
    testing::Stepper stepper(graph);
    BertInput input = Input(2, 8);  // all words are word 1
    input.input_ids = input.input_mask = OnesLike(input.input_ids);
    const BertModel model = BuildBertModel(config, true, input, one_hot);
    // Not of the sequence output, whose layer norm has no gradient of its sum of squares.
    const Tensor gradient = Gradients(ReduceSum(model.pooled_output), {model.embedding_table})[0];
    EST_ASSERT_OK(graph.status());
    outputs.push_back(stepper.Eval(ReduceSum(Square(model.pooled_output))).AsDouble());
    norms.push_back(stepper.Eval(GlobalNorm({gradient})).AsDouble());
    whole.push_back(stepper.Eval(Sqrt(ReduceSum(Square(gradient)))).AsDouble());
  }
  EXPECT_NEAR(whole[1], whole[0], 1e-4 * whole[0]);
  EXPECT_NEAR(outputs[1], outputs[0], 1e-5 * outputs[0]);
  EXPECT_NEAR(norms[1], whole[1], 1e-5 * whole[1]);
  EXPECT_GT(std::abs(norms[0] - whole[0]), 0.1 * whole[0]) << "the slices of a lookup count alone";
}

TEST_F(BertModelTest, DropsOutInTrainingOnly) {
  for (const bool is_training : {true, false}) {
    Graph graph;
    const GraphScope scope(graph);
    BuildBertModel(SmallConfig(), is_training, Input(2, 8));
    EST_ASSERT_OK(graph.status());
    int num_drawn = 0;
    for (const auto& node : graph.nodes()) {
      num_drawn += node->op() == "RandomUniform" && !absl::StrContains(node->name(), "Initializer");
    }
    // After the embeddings, and in each layer after the attention's softmax and two dense layers.
    EXPECT_EQ(num_drawn, is_training ? 1 + 2 * 3 : 0);
  }
}

TEST_F(BertModelTest, ASequenceLongerThanThePositionsIsAnError) {
  BuildBertModel(SmallConfig(), false, Input(2, 17));
  EXPECT_THAT(graph_.status(), ErrorHas("sequences of 17 words"));
  EXPECT_THAT(graph_.status(), ErrorHas("positions for 16"));
}

TEST_F(BertModelTest, StartsAtTheVariablesThatACheckpointHas) {
  BuildBertModel(SmallConfig(), true, Input(2, 8));
  GetVariable("output_weights", {3, 16});  // the pretraining checkpoint does not have it
  InitFromBertCheckpoint(kPretraining);
  EST_ASSERT_OK(graph_.status());
  int num_restored = 0;
  for (const auto& node : graph_.nodes()) num_restored += absl::StartsWith(node->op(), "Restore");
  EXPECT_EQ(num_restored, 5 + 2 * 16 + 2);
}

TEST(BertCheckpoint, IsCheckedForItsTableOfWords) {
  EST_EXPECT_OK(CheckBertCheckpoint("", SmallConfig()));
  EST_EXPECT_OK(CheckBertCheckpoint(kPretraining, SmallConfig()));
  BertConfig other = SmallConfig();
  other.vocab_size = 41;
  const absl::Status shape = CheckBertCheckpoint(kPretraining, other);
  EXPECT_THAT(shape, ErrorHas("word_embeddings is f32 [40,16]"));
  EXPECT_THAT(shape, ErrorHas("[41,16]"));
  const absl::Status foreign = CheckBertCheckpoint("testdata/reference/mnist/initial", other);
  EXPECT_THAT(foreign, ErrorHas("it is not a checkpoint of BERT"));
  EXPECT_THAT(foreign, ErrorHas("conv2d"));
  EXPECT_EQ(CheckBertCheckpoint("/no/such", other).code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace estimator::bert
