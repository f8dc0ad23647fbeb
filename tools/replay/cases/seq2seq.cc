// A decoder with attention, and the official transformer, trained and decoding, as in
// testdata/reference/{seq2seq,seq2seq_decode,transformer,transformer_decode}.
#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/estimator.h"
#include "models/transformer/transformer.h"
#include "tools/replay/cases/cases.h"

namespace estimator::replay {
namespace {

constexpr int64_t kSourceWords = 11, kTargetWords = 9, kEmbedding = 5, kUnits = 6, kAttention = 4;
constexpr int64_t kStart = 1, kEnd = 2;
constexpr int64_t kDecodedSteps = 9, kBeams = 3;

// The scope of all variables. Each decoding opens it again, and has the same variables.
VariableScope TranslatorScope() { return VariableScope("translator", {.reuse = Reuse::kAuto}); }

// The functions below are called inside of this scope.
Tensor TargetEmbeddings() { return GetVariable("target_embeddings", {kTargetWords, kEmbedding}); }

DynamicRnnResult EncodeSource(const Features& features) {
  const Tensor source =
      Gather(GetVariable("source_embeddings", {kSourceWords, kEmbedding}), features["source"]);
  return DynamicRnn(rnn_cell::BasicLSTMCell(kUnits), source,
                    {.sequence_length = features["source_length"], .scope = "encoder"});
}

struct DecoderCell {
  rnn_cell::Cell cell;
  rnn_cell::State start;
};

// The cell of the decoder for `beams` beams of each example.
DecoderCell MakeDecoderCell(const Features& features, int64_t beams = 1) {
  const auto [outputs, encoder_state] = EncodeSource(features);
  const seq2seq::LuongAttention attention(
      kUnits, seq2seq::TileBatch(outputs, beams),
      {.memory_sequence_length = seq2seq::TileBatch(features["source_length"], beams),
       .scale = true});
  const seq2seq::AttentionWrapper cell(rnn_cell::BasicLSTMCell(kUnits), attention,
                                       {.attention_layer_size = kAttention});
  return {cell, seq2seq::AttentionWrapperState(cell.ZeroState(outputs.dim(0) * beams))
                    .Clone(seq2seq::TileBatch(encoder_state, beams))};
}

Tensor WordLogits(const Tensor& x) { return layers::Dense(x, {.units = kTargetWords}); }

Tensor TranslationLoss(const Features& features, const Labels& labels) {
  const VariableScope scope = TranslatorScope();
  const Tensor targets = labels["targets"], length = labels["length"];
  const int64_t batch_size = targets.dim(0), steps = targets.dim(1);
  const Tensor before = Concat({Fill({batch_size, 1}, Constant(static_cast<int32_t>(kStart))),
                                Slice(targets, {0, 0}, {batch_size, steps - 1})},
                               1);
  const auto [cell, start] = MakeDecoderCell(features);
  const seq2seq::TrainingHelper helper(Gather(TargetEmbeddings(), before), length);
  const auto outputs =
      seq2seq::DynamicDecode(seq2seq::BasicDecoder(cell, helper, start, WordLogits)).outputs;
  return seq2seq::SequenceLoss(outputs.rnn_output, targets,
                               SequenceMask(length, steps, {.dtype = DType::kFloat32}));
}

EstimatorSpec Translate(const Features& features, const Labels& labels) {
  const Tensor loss = TranslationLoss(features, labels);
  return EstimatorSpec::Train(loss, train::Adam(0.05).Minimize(loss));
}

EstimatorSpec DecodeTranslations(const Features& features) {
  const Tensor start_tokens =
      Fill({features["source"].dim(0)}, Constant(static_cast<int32_t>(kStart)));
  std::map<std::string, Tensor> predictions;
  {
    const VariableScope scope = TranslatorScope();
    const auto [cell, start] = MakeDecoderCell(features);
    const seq2seq::BasicDecoder decoder(
        cell, seq2seq::GreedyEmbeddingHelper(TargetEmbeddings(), start_tokens, kEnd), start,
        WordLogits);
    const auto [outputs, state, lengths] = seq2seq::DynamicDecode(
        decoder, {.impute_finished = true, .maximum_iterations = kDecodedSteps});
    predictions = {
        {"tokens", outputs.sample_id}, {"logits", outputs.rnn_output}, {"length", lengths}};
  }
  for (const auto& [weight, name] : {std::pair{0.0, "beam"}, std::pair{1.0, "long_beam"}}) {
    const VariableScope scope = TranslatorScope();
    const auto [cell, start] = MakeDecoderCell(features, kBeams);
    const seq2seq::BeamSearchDecoder decoder(
        cell, TargetEmbeddings(), start_tokens, kEnd, start,
        {.beam_width = kBeams, .output_layer = WordLogits, .length_penalty_weight = weight});
    const auto [outputs, state, lengths] =
        seq2seq::DynamicDecode(decoder, {.maximum_iterations = kDecodedSteps});
    predictions[absl::StrCat(name, "_tokens")] = outputs.predicted_ids;
    predictions[absl::StrCat(name, "_scores")] = outputs.beam_search_decoder_output.scores;
    predictions[absl::StrCat(name, "_length")] = lengths;
  }
  return EstimatorSpec::Predict(predictions);
}

transformer::TransformerParams TinyTransformer() {
  transformer::TransformerParams params;
  params.vocab_size = 14;
  params.hidden_size = 8;
  params.num_hidden_layers = 2;
  params.num_heads = 2;
  params.filter_size = 16;
  params.layer_postprocess_dropout = params.attention_dropout = params.relu_dropout = 0;
  params.learning_rate = 0.4;
  params.learning_rate_warmup_steps = 10;
  params.extra_decode_length = 4;
  params.beam_size = kBeams;
  return params;
}

}  // namespace

Cases Seq2SeqCases() {
  const Model tiny(transformer::TransformerModelFn, TinyTransformer());
  return {{"seq2seq", Translate},
          {"seq2seq_decode", DecodeTranslations},
          {"transformer", tiny},
          {"transformer_decode", tiny}};
}

}  // namespace estimator::replay
