// Attention, decoders and the loss against tensorflow_addons (testdata/seq2seq/generate.py), whose
// weights and inputs are those of Wave(). Names of variables are those of TF 1.15.
#include "estimator/nn/seq2seq/seq2seq.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/rnn/cells.h"
#include "estimator/nn/rnn/rnn.h"
#include "estimator/nn/testdata/seq2seq/goldens.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/slicing.h"
#include "estimator/ops/testing/eval.h"
#include "gtest/gtest.h"

namespace estimator::seq2seq {
namespace {

using rnn_cell::State;
using testing::CheckGradients;
using testing::Doubles;
using testing::ExpectError;
using testing::ExpectNear;
using testing::VariableNames;
using Names = std::vector<std::string>;

constexpr int64_t kBatch = 2, kMemory = 5, kDepth = 4, kUnits = 4, kInputs = 3, kTokens = 7,
                  kSteps = 6, kBeams = 3;
constexpr int64_t kEnd = 2, kGreedyEnd = 1;

Array Wave(const Shape& shape) {
  Array array(DType::kFloat32, shape);
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    array.data<float>()[i] =
        static_cast<float>((static_cast<double>((i * 37 + 11) % 101) / 101 - 0.5) * 3);
  }
  return array;
}

Tensor WaveInitializer(const Shape& shape, DType) { return Constant(Wave(shape)); }
// The model is built inside of it.
const VariableScopeOptions kWaves = {.reuse = Reuse::kAuto, .initializer = WaveInitializer};

Tensor Logits(const Tensor& x) {
  return layers::Dense(x, {.units = kTokens, .use_bias = false, .name = "output"});
}
Tensor StartTokens() { return Constant({1, 3}); }
Tensor Table() { return Constant(Wave({kTokens, kInputs})); }
Tensor TrainingInputs() { return Constant(Wave({kBatch, kSteps, kInputs})); }

struct Model {
  rnn_cell::Cell cell;
  State state;
};

Model MakeModel(const std::string& name, int64_t multiplier = 1) {
  const Tensor memory = TileBatch(Constant(Wave({kBatch, kMemory, kDepth})), multiplier);
  const Tensor lengths = TileBatch(Constant({5, 3}), multiplier);
  const bool luong = name == "luong";
  const AttentionMechanism mechanism =
      luong
          ? AttentionMechanism(LuongAttention(kUnits, memory, {.memory_sequence_length = lengths}))
          : BahdanauAttention(
                kUnits, memory,
                {.memory_sequence_length = lengths, .normalize = name == "bahdanau_normalize"});
  const AttentionWrapper cell(rnn_cell::BasicRNNCell(kUnits), mechanism,
                              {.attention_layer_size = luong ? 5 : 0, .output_attention = luong});
  const Tensor encoder = TileBatch(Constant(Wave({kBatch, kUnits})), multiplier);
  return {cell, AttentionWrapperState(cell.ZeroState(kBatch * multiplier)).Clone(encoder)};
}

class Seq2Seq : public GraphTest {
 protected:
  //   size: of the part of the golden that is compared; 0: all.
  void Expect(const Tensor& tensor, const std::string& golden, int64_t size = 0) {
    SCOPED_TRACE(golden);
    EST_ASSERT_OK(graph_.status());
    const absl::StatusOr<Array> actual = testing::Eval(tensor);
    EST_ASSERT_OK(actual);
    ASSERT_TRUE(goldens::kSeq2Seq.count(golden) > 0);
    std::vector<double> expected = goldens::kSeq2Seq.at(golden);
    if (size > 0) expected.resize(size);
    ExpectNear(*actual, expected, 1e-5);
  }
};

TEST_F(Seq2Seq, TrainingWithAttentionGivesTensorFlowsNumbers) {
  for (const char* name : {"luong", "bahdanau", "bahdanau_normalize"}) {
    const VariableScope scope(name, kWaves);
    const Model model = MakeModel(name);
    const BasicDecoder decoder(model.cell, TrainingHelper(TrainingInputs(), Constant({6, 3})),
                               model.state, Logits);
    const auto [outputs, state, lengths] = DynamicDecode(decoder);
    Expect(outputs.rnn_output, absl::StrCat(name, "_rnn_output"));
    Expect(outputs.sample_id, absl::StrCat(name, "_sample_id"));
    const AttentionWrapperState last(state);
    Expect(last.attention, absl::StrCat(name, "_attention"));
    Expect(last.alignments[0], absl::StrCat(name, "_alignments"));
    EXPECT_EQ(Doubles(lengths), (std::vector<double>{6, 3}));
  }
}

TEST_F(Seq2Seq, VariablesHaveTensorFlowsNames) {
  const Tensor memory = Zeros({2, 3, 4});
  {
    const VariableScope scope("a");
    const AttentionWrapper cell(rnn_cell::BasicLSTMCell(4),
                                LuongAttention(4, memory, {.scale = true}),
                                {.attention_layer_size = 5});
    DynamicDecode(BasicDecoder(cell, TrainingHelper(Zeros({2, 3, 2}), Constant({3, 3})),
                               cell.ZeroState(2),
                               [](const Tensor& x) { return layers::Dense(x, {.units = 2}); }));
  }
  {
    const VariableScope scope("b");
    const AttentionWrapper cell(
        rnn_cell::GRUCell(3),
        {BahdanauAttention(4, memory, {.normalize = true}), BahdanauAttention(2, memory)});
    DynamicDecode(
        BasicDecoder(cell, TrainingHelper(Zeros({2, 3, 2}), Constant({3, 3})), cell.ZeroState(2)));
  }
  EST_ASSERT_OK(graph_.status());
  const std::string b = "b/decoder/attention_wrapper/";
  EXPECT_EQ(
      VariableNames(graph_),
      (Names{"a/memory_layer/kernel", "a/decoder/attention_wrapper/basic_lstm_cell/kernel",
             "a/decoder/attention_wrapper/basic_lstm_cell/bias",
             "a/decoder/attention_wrapper/luong_attention/attention_g",
             "a/decoder/attention_wrapper/attention_layer/kernel", "a/decoder/dense/kernel",
             "a/decoder/dense/bias", "b/memory_layer/kernel", "b/memory_layer_1/kernel",
             b + "gru_cell/gates/kernel", b + "gru_cell/gates/bias",
             b + "gru_cell/candidate/kernel", b + "gru_cell/candidate/bias",
             b + "bahdanau_attention/query_layer/kernel", b + "bahdanau_attention/attention_v",
             b + "bahdanau_attention/attention_g", b + "bahdanau_attention/attention_b",
             b + "bahdanau_attention_1/query_layer/kernel",
             b + "bahdanau_attention_1/attention_v"}));
}

TEST_F(Seq2Seq, AMemoryWithoutStepsGivesAContextOfZeros) {
  const VariableScope scope("model", kWaves);
  const Tensor memory = Constant(Wave({2, 3, 4}));
  const AttentionWrapper cell(
      rnn_cell::BasicRNNCell(4),
      LuongAttention(4, memory, {.memory_sequence_length = Constant({0, 1})}));
  const auto [output, state] = cell(Constant(Wave({2, 3})), cell.ZeroState(2));
  EST_ASSERT_OK(graph_.status());
  std::vector<double> expected(4, 0);
  for (int i = 0; i < 4; ++i) expected.push_back(Doubles(memory)[12 + i]);
  ExpectNear(*testing::Eval(output), expected);
}

TEST_F(Seq2Seq, GreedyDecodingGivesTensorFlowsTokens) {
  const VariableScope scope("model", kWaves);
  const Model model = MakeModel("luong");
  const BasicDecoder decoder(model.cell, GreedyEmbeddingHelper(Table(), StartTokens(), kGreedyEnd),
                             model.state, Logits);
  const auto [outputs, state, lengths] =
      DynamicDecode(decoder, {.impute_finished = true, .maximum_iterations = kSteps});
  Expect(outputs.sample_id, "greedy_sample_id");
  Expect(outputs.rnn_output, "greedy_rnn_output");
  Expect(lengths, "greedy_lengths");
  const auto [time_major, same_state, same_lengths] = DynamicDecode(
      decoder, {.output_time_major = true, .impute_finished = true, .maximum_iterations = kSteps});
  Expect(Transpose(time_major.sample_id), "greedy_sample_id");
}

TEST_F(Seq2Seq, SamplingAtALowTemperatureIsGreedy) {
  const VariableScope scope("model", kWaves);
  const Model model = MakeModel("luong");
  const BasicDecoder decoder(model.cell,
                             SampleEmbeddingHelper(Table(), StartTokens(), kGreedyEnd,
                                                   {.softmax_temperature = 1e-4, .seed = 7}),
                             model.state, Logits);
  const auto [outputs, state, lengths] =
      DynamicDecode(decoder, {.impute_finished = true, .maximum_iterations = kSteps});
  Expect(outputs.sample_id, "greedy_sample_id");
}

TEST_F(Seq2Seq, ScheduledSamplingFeedsTargetsOrSamples) {
  const VariableScope scope("model", kWaves);
  const Model model = MakeModel("luong");
  const auto decode = [&](float probability) {
    const BasicDecoder decoder(
        model.cell,
        ScheduledEmbeddingTrainingHelper(TrainingInputs(), Constant({6, 3}), Table(),
                                         Constant(probability), {.seed = 1, .scheduling_seed = 2}),
        model.state, Logits);
    return DynamicDecode(decoder).outputs;
  };
  const BasicDecoderOutput never = decode(0), always = decode(1);
  Expect(never.rnn_output, "luong_rnn_output");
  EXPECT_EQ(Doubles(never.sample_id), std::vector<double>(12, -1));
  for (const double id : Doubles(always.sample_id)) EXPECT_GE(id, 0);
  EXPECT_NE(Doubles(always.rnn_output), Doubles(never.rnn_output));
}

TEST_F(Seq2Seq, BeamSearchGivesTensorFlowsTokensAndScores) {
  for (const double weight : {0.0, 1.0}) {
    for (const char* name : {"luong", "bahdanau"}) {
      const VariableScope scope(absl::StrCat(name, weight), kWaves);
      const Model model = MakeModel(name, kBeams);
      const BeamSearchDecoder decoder(
          model.cell, Table(), StartTokens(), kEnd, model.state,
          {.beam_width = kBeams, .output_layer = Logits, .length_penalty_weight = weight});
      const auto [outputs, state, lengths] = DynamicDecode(decoder, {.maximum_iterations = kSteps});
      const std::string prefix = absl::StrCat("beam_", name, "_", weight, "_");
      const BeamSearchDecoderOutput& steps = outputs.beam_search_decoder_output;
      Expect(outputs.predicted_ids, prefix + "predicted_ids");
      Expect(steps.scores, prefix + "scores");
      Expect(steps.predicted_ids, prefix + "step_ids");
      Expect(steps.parent_ids, prefix + "parent_ids");
      Expect(lengths, prefix + "lengths");
    }
  }
}

TEST_F(Seq2Seq, GatherTreeFollowsTheParents) {
  const auto ids = [](const char* name) {
    const std::vector<double>& values = goldens::kSeq2Seq.at(name);
    return Reshape(Constant(std::vector<int32_t>(values.begin(), values.end())), Shape{6, 2, 3});
  };
  Expect(GatherTree(ids("tree_step_ids"), ids("tree_parent_ids"), Constant({4, 6}), 4), "tree_ids");
}

TEST_F(Seq2Seq, TileBatchRepeatsEachExample) {
  EXPECT_EQ(Doubles(TileBatch(Constant({2, 1}, {1, 2}), 2)), (std::vector<double>{1, 1, 2, 2}));
}

TEST_F(Seq2Seq, LossesAreTensorFlows) {
  const Tensor logits = Constant(Wave({2, 3, 4})), targets = Constant({2, 3}, {0, 3, 1, 2, 2, 0});
  const Tensor weights = Constant({2, 3}, {1.0f, 0.5f, 0.0f, 1.0f, 0.0f, 0.0f});
  for (const std::string flags : {"1100", "1000", "0100", "0000", "0011", "0010", "0001"}) {
    Expect(SequenceLoss(logits, targets, weights,
                        {.average_across_timesteps = flags[0] == '1',
                         .average_across_batch = flags[1] == '1',
                         .sum_over_timesteps = flags[2] == '1',
                         .sum_over_batch = flags[3] == '1'}),
           "loss_" + flags);
  }
}

TEST_F(Seq2Seq, GradientsThroughAttentionInALoopAreThoseOfFiniteDifferences) {
  for (const bool luong : {true, false}) {
    const auto loss = [&](const Tensors& in) {
      // The gradient of the table is a sum over time steps, as those of the variables are.
      const VariableScope scope("model", {.reuse = Reuse::kAuto});
      const Tensor memory = in[0], table = in[1];
      const AttentionMechanism mechanism =
          luong ? AttentionMechanism(LuongAttention(
                      3, memory, {.memory_sequence_length = Constant({3, 2}), .scale = true}))
                : BahdanauAttention(3, memory, {.normalize = true});
      const AttentionWrapper cell(rnn_cell::GRUCell(3), mechanism, {.attention_layer_size = 2});
      const Tensor inputs = Gather(table, Constant({2, 3}, {0, 1, 2, 2, 1, 0}));
      const auto start = AttentionWrapperState(cell.ZeroState(2, DType::kFloat64)).Clone(in[2]);
      const auto [outputs, state, lengths] =
          DynamicDecode(BasicDecoder(cell, TrainingHelper(inputs, Constant({3, 2})), start),
                        {.impute_finished = true});
      return Concat({outputs.rnn_output, ExpandDims(AttentionWrapperState(state).attention, 1)}, 1);
    };
    Graph graph;
    const GraphScope scope(graph);
    EST_EXPECT_OK(CheckGradients(
        loss, {testing::Scrambled({2, 3, 2}, -1, 1), testing::Scrambled({3, 2}, -1, 1),
               testing::Scrambled({2, 3}, -1, 1)}));
  }
}

TEST_F(Seq2Seq, AnExampleOfLengthZeroIsOverAtOnce) {
  const VariableScope scope("model", kWaves);
  const Model model = MakeModel("luong");
  const auto decode = [&](int first, int second) {
    return DynamicDecode(
        BasicDecoder(model.cell, TrainingHelper(TrainingInputs(), Constant({first, second})),
                     model.state, Logits),
        {.impute_finished = true});
  };
  const auto some = decode(0, 2), none = decode(0, 0), all = decode(6, 6);
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(Doubles(some.sequence_lengths), (std::vector<double>{0, 2}));
  std::vector<double> expected(2 * kSteps * kTokens, 0);
  const std::vector<double> outputs = Doubles(all.outputs.rnn_output);
  for (int64_t i = kSteps * kTokens; i < (kSteps + 2) * kTokens; ++i) expected[i] = outputs[i];
  ExpectNear(*testing::Eval(some.outputs.rnn_output), expected);
  EXPECT_EQ(Doubles(none.outputs.sample_id), std::vector<double>(2 * kSteps, 0));
  // The state of an example that is over stays.
  EXPECT_EQ(Doubles(AttentionWrapperState(none.state).cell_state),
            Doubles(AttentionWrapperState(model.state).cell_state));
}

TEST_F(Seq2Seq, DynamicRnnRunsACellWithAttention) {
  const VariableScope scope("model", kWaves);
  const Model model = MakeModel("bahdanau");
  const auto [outputs, state] =
      DynamicRnn(model.cell, TrainingInputs(),
                 {.sequence_length = Constant({6, 3}), .initial_state = model.state});
  Expect(Reshape(layers::Dense(Slice(outputs, {0, 0, 0}, {1, -1, -1}),
                               {.units = kTokens, .use_bias = false}),
                 Shape{kSteps, kTokens}),
         "bahdanau_rnn_output", kSteps * kTokens);
}

TEST_F(Seq2Seq, BfloatInputsHaveFloatWeights) {
  const Tensor memory = TileBatch(Zeros({2, 3, 4}, DType::kBfloat16), kBeams);
  const AttentionWrapper cell(
      rnn_cell::GRUCell(4),
      {LuongAttention(4, memory, {.scale = true}),
       BahdanauAttention(
           4, memory,
           {.memory_sequence_length = TileBatch(Constant({1, 2}), kBeams), .normalize = true})},
      {.attention_layer_size = 2});
  const auto [outputs, state, lengths] = DynamicDecode(
      BeamSearchDecoder(cell, Zeros({kTokens, 3}, DType::kBfloat16), StartTokens(), kEnd,
                        cell.ZeroState(2 * kBeams, DType::kBfloat16), {.beam_width = kBeams}),
      {.maximum_iterations = 2});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(outputs.predicted_ids.shape(), (Shape{2, 2, kBeams}));
  EXPECT_EQ(outputs.beam_search_decoder_output.scores.dtype(), DType::kFloat32);
  for (const Variable& variable : graph_.variables()) EXPECT_EQ(variable.dtype(), DType::kFloat32);
}

class Seq2SeqErrors : public Seq2Seq {};

TEST_F(Seq2SeqErrors, DecodingWithoutALimitIsRefused) {
  const Model model = MakeModel("luong");
  DynamicDecode(BasicDecoder(model.cell, GreedyEmbeddingHelper(Table(), StartTokens(), kEnd),
                             model.state, Logits));
  ExpectError(graph_, {"maximum_iterations must be given"});
}

TEST_F(Seq2SeqErrors, AStateThatIsNotTiledIsRefused) {
  const Model model = MakeModel("luong");
  DynamicDecode(BeamSearchDecoder(model.cell, Table(), StartTokens(), kEnd, model.state,
                                  {.beam_width = kBeams, .output_layer = Logits}),
                {.maximum_iterations = kSteps});
  ExpectError(graph_, {"2 examples with 3 beams", "must be 6", "TileBatch"});
}

TEST_F(Seq2SeqErrors, ImputingTheBeamsOfASearchIsRefused) {
  const Model model = MakeModel("luong", kBeams);
  DynamicDecode(BeamSearchDecoder(model.cell, Table(), StartTokens(), kEnd, model.state,
                                  {.beam_width = kBeams, .output_layer = Logits}),
                {.impute_finished = true, .maximum_iterations = kSteps});
  ExpectError(graph_, {"impute_finished", "beam search"});
}

TEST_F(Seq2SeqErrors, ACellOfAnotherSizeThanLuongsUnitsIsRefused) {
  const AttentionWrapper cell(rnn_cell::GRUCell(3), LuongAttention(4, Zeros({2, 3, 4})));
  cell(Zeros({2, 2}), cell.ZeroState(2));
  ExpectError(graph_, {"the query is f32 [2,3]", "num_units is 4"});
}

TEST_F(Seq2SeqErrors, LengthsOfAnotherBatchThanTheMemoryAreRefused) {
  LuongAttention(4, Zeros({2, 3, 4}), {.memory_sequence_length = Constant({1, 2, 3})});
  ExpectError(graph_, {"memory_sequence_length is i32 [3]", "must be [2]"});
}

TEST_F(Seq2SeqErrors, AnEncoderStateOfAnotherShapeIsRefused) {
  const AttentionWrapper cell(rnn_cell::GRUCell(4), LuongAttention(4, Zeros({2, 3, 4})));
  AttentionWrapperState(cell.ZeroState(2)).Clone(Zeros({2, 5}));
  ExpectError(graph_, {"f32 [2,4]", "f32 [2,5]"});
}

TEST_F(Seq2SeqErrors, WeightsOfAnotherShapeAreRefused) {
  SequenceLoss(Zeros({2, 3, 4}), Zeros({2, 3}, DType::kInt32), Zeros({2, 2}));
  ExpectError(graph_, {"f32 [2,3,4]", "f32 [2,2]", "must be [2,3]"});
}

TEST_F(Seq2SeqErrors, AnAverageAndASumOverOneAxisAreRefused) {
  SequenceLoss(Zeros({2, 3, 4}), Zeros({2, 3}, DType::kInt32), Zeros({2, 3}),
               {.sum_over_batch = true});
  ExpectError(graph_, {"exclude each other"});
}

}  // namespace
}  // namespace estimator::seq2seq
