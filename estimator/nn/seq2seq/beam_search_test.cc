// BeamSearch against all sequences, scored one by one, and against the official transformer's
// (testdata/seq2seq/generate.py).
#include "estimator/nn/seq2seq/beam_search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/testdata/seq2seq/goldens.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/testing/eval.h"
#include "gtest/gtest.h"

namespace estimator::seq2seq {
namespace {

using testing::ExpectError;

constexpr int kEos = 0, kVocabulary = 3, kLongest = 3;

// logits = own[id] + h, where h <- h / 2 + memory[id] is the cache.
const std::vector<std::vector<float>> kOwn = {{0, 0, 0}, {0.3f, -0.5f, 0.9f}, {0.2f, 1.1f, -0.7f}};
const std::vector<std::vector<float>> kMemory = {
    {0, 0, 0}, {0.7f, 0.1f, -1.2f}, {-0.4f, 0.8f, 0.5f}};

Tensor Rows(const std::vector<std::vector<float>>& rows) {
  std::vector<float> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return Reshape(Constant(flat), Shape{static_cast<int64_t>(rows.size()), kVocabulary});
}

SymbolsToLogits Network(const Tensor& ids, const Tensor&, const BeamCache& cache) {
  const Tensor last = Squeeze(ids, {1});
  const Tensor& h = cache.at("h");
  return {Gather(Rows(kOwn), last) + h, {{"h", h * 0.5f + Gather(Rows(kMemory), last)}}};
}

struct Sequence {
  std::vector<double> ids;
  double score;
};

// All finished sequences, the best one first.
std::vector<Sequence> AllFinished(int start, const std::vector<double>& h, double alpha) {
  std::vector<Sequence> found;
  const std::function<void(std::vector<double>, std::vector<double>, double)> extend =
      [&](std::vector<double> ids, std::vector<double> memory, double log_prob) {
        const int last = static_cast<int>(ids.back());
        const int length = static_cast<int>(ids.size());
        if (length > kLongest) return;
        double sum = 0;
        for (int v = 0; v < kVocabulary; ++v) sum += std::exp(kOwn[last][v] + memory[v]);
        for (int v = 0; v < kVocabulary; ++v) {
          const double next = log_prob + kOwn[last][v] + memory[v] - std::log(sum);
          std::vector<double> longer = ids;
          longer.push_back(v);
          if (v == kEos) {
            longer.resize(kLongest + 1, 0);
            found.push_back({longer, next / std::pow((5.0 + length) / 6, alpha)});
            continue;
          }
          std::vector<double> next_memory;
          for (int k = 0; k < kVocabulary; ++k)
            next_memory.push_back(memory[k] / 2 + kMemory[last][k]);
          extend(longer, next_memory, next);
        }
      };
  extend({static_cast<double>(start)}, h, 0);
  std::sort(found.begin(), found.end(),
            [](const Sequence& a, const Sequence& b) { return a.score > b.score; });
  return found;
}

using BeamSearchTest = GraphTest;

TEST_F(BeamSearchTest, WithBeamsForAllSequencesItFindsAllOfThemInOrder) {
  const std::vector<std::vector<float>> h = {{0.1f, 0.2f, -0.3f}, {-0.6f, 0.4f, 0.0f}};
  for (const double alpha : {0.0, 0.6, 2.0}) {
    const auto [ids, scores] = BeamSearch(Network, Constant({1, 2}), {{"h", Rows(h)}},
                                          {.vocab_size = kVocabulary,
                                           .beam_size = 7,
                                           .alpha = alpha,
                                           .max_decode_length = kLongest,
                                           .eos_id = kEos});
    EST_ASSERT_OK(graph_.status());
    std::vector<double> expected_ids, expected_scores;
    for (int n = 0; n < 2; ++n) {
      for (const Sequence& sequence :
           AllFinished(n + 1, std::vector<double>(h[n].begin(), h[n].end()), alpha)) {
        expected_ids.insert(expected_ids.end(), sequence.ids.begin(), sequence.ids.end());
        expected_scores.push_back(sequence.score);
      }
    }
    ASSERT_EQ(expected_scores.size(), 14u);
    EXPECT_EQ(testing::Doubles(ids), expected_ids);
    testing::ExpectNear(*testing::Eval(scores), expected_scores, 1e-5);
  }
}

// Numbers that generate.py has too.
Tensor WaveOf(const Shape& shape, double factor) {
  Array array(DType::kFloat32, shape);
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    array.data<float>()[i] =
        static_cast<float>((static_cast<double>((i * 37 + 11) % 101) / 101 - 0.5) * factor);
  }
  return Constant(array);
}

TEST_F(BeamSearchTest, FewBeamsFindTheTokensOfTheOfficialTransformer) {
  const auto network = [](const Tensor& ids, const Tensor&, const BeamCache& cache) {
    const Tensor last = Squeeze(ids, {1});
    const Tensor& h = cache.at("h");
    return SymbolsToLogits{Gather(WaveOf({7, 7}, 3), last) + h,
                           {{"h", h * 0.5f + Gather(WaveOf({7, 7}, 2), last)}}};
  };
  for (const auto& [alpha, name] :
       {std::pair{0.0, "0.0"}, std::pair{0.6, "0.6"}, std::pair{3.0, "3.0"}}) {
    const auto [ids, scores] = BeamSearch(
        network, Constant({1, 3, 5}), {{"h", WaveOf({3, 7}, 3)}},
        {.vocab_size = 7, .beam_size = 3, .alpha = alpha, .max_decode_length = 6, .eos_id = 2});
    EST_ASSERT_OK(graph_.status());
    const std::string prefix = absl::StrCat("transformer_", name);
    EXPECT_EQ(testing::Doubles(ids), goldens::kSeq2Seq.at(prefix + "_ids"));
    testing::ExpectNear(*testing::Eval(scores), goldens::kSeq2Seq.at(prefix + "_scores"), 1e-5);
  }
}

TEST_F(BeamSearchTest, AnExampleWithoutAnEndHasItsUnfinishedSequences) {
  const auto never = [](const Tensor& ids, const Tensor&, const BeamCache& cache) {
    return SymbolsToLogits{BroadcastTo(Constant({-100.0f, 0.0f, 0.0f}), {ids.dim(0), 3}), cache};
  };
  const auto [ids, scores] =
      BeamSearch(never, Constant({1}), {},
                 {.vocab_size = 3, .beam_size = 1, .max_decode_length = 4, .eos_id = 0});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(testing::Doubles(ids), std::vector<double>(5, 1));
  testing::ExpectNear(*testing::Eval(scores), {4 * std::log(0.5)});
}

TEST_F(BeamSearchTest, EndsWhenNoUnfinishedSequenceCanBecomeBetter) {
  // A third step would read a row that is not there.
  const auto two_steps = [](const Tensor& ids, const Tensor& i, const BeamCache& cache) {
    const Tensor row = Gather(Constant({2, 2}, {0.0f, 1.0f, 9.0f, 0.0f}), i);
    return SymbolsToLogits{BroadcastTo(row, {ids.dim(0), 2}), cache};
  };
  const auto [ids, scores] =
      BeamSearch(two_steps, Constant({1}), {},
                 {.vocab_size = 2, .beam_size = 1, .max_decode_length = 9, .eos_id = 0});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(testing::Doubles(ids), (std::vector<double>{1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(BeamSearchTest, LogitsOfAnotherSizeAreRefused) {
  BeamSearch(Network, Constant({1}), {{"h", Zeros({1, 3})}},
             {.vocab_size = 4, .beam_size = 2, .max_decode_length = 3});
  ExpectError(graph_, {"the logits are f32 [2,3], but must be [2,4]"});
}

TEST_F(BeamSearchTest, ACacheWithOtherNamesIsRefused) {
  const auto renames = [](const Tensor& ids, const Tensor& i, const BeamCache& cache) {
    return SymbolsToLogits{Network(ids, i, cache).logits, {{"k", cache.at("h")}}};
  };
  BeamSearch(renames, Constant({1}), {{"h", Zeros({1, 3})}},
             {.vocab_size = 3, .beam_size = 2, .max_decode_length = 3});
  ExpectError(graph_, {"'h'", "the same names"});
}

TEST_F(BeamSearchTest, AMissingLengthIsRefused) {
  BeamSearch(Network, Constant({1}), {{"h", Zeros({1, 3})}}, {.vocab_size = 3, .beam_size = 2});
  ExpectError(graph_, {"max_decode_length must be given and positive"});
}

}  // namespace
}  // namespace estimator::seq2seq
