// The tasks of models/bert with a small network without dropout. The same networks are in
// testdata/reference/{bert_classifier,bert_pretraining}, and the sizes in
// testdata/reference/bert/bert_config.json.
#include "models/bert/bert_config.h"
#include "models/bert/classifier.h"
#include "models/bert/optimization.h"
#include "models/bert/pretraining.h"
#include "tools/replay/cases/cases.h"

namespace estimator::replay {
namespace {

bert::BertConfig Config() {
  return {.vocab_size = 40,
          .hidden_size = 16,
          .num_hidden_layers = 2,
          .num_attention_heads = 2,
          .intermediate_size = 24,
          .hidden_dropout_prob = 0,
          .attention_probs_dropout_prob = 0,
          .max_position_embeddings = 16,
          .type_vocab_size = 2,
          .initializer_range = 0.2};
}

constexpr bert::OptimizerOptions kOptimizer = {
    .learning_rate = 0.003, .num_train_steps = 25, .num_warmup_steps = 4};

}  // namespace

Cases BertCases() {
  bert::ClassifierParams classifier;
  classifier.bert_config = Config();
  classifier.num_labels = 3;
  classifier.optimizer = kOptimizer;
  bert::PretrainingParams pretraining;
  pretraining.bert_config = Config();
  pretraining.optimizer = kOptimizer;
  return {{"bert_classifier", Model(bert::ClassifierModelFn, classifier)},
          {"bert_pretraining", Model(bert::PretrainingModelFn, pretraining)}};
}

}  // namespace estimator::replay
