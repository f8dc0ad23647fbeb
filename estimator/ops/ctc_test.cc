#include "estimator/ops/ctc.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The probability of labels, summed over all paths: an independent definition of the loss.
//   p: [steps][classes].
double ProbabilityOf(const std::vector<std::vector<double>>& p, const std::vector<int>& labels,
                     int blank) {
  const size_t classes = p[0].size();
  size_t paths = 1;
  for (size_t t = 0; t < p.size(); ++t) paths *= classes;
  double total = 0;
  for (size_t path = 0; path < paths; ++path) {
    std::vector<int> merged;
    double product = 1;
    int last = -1;
    size_t rest = path;
    for (const std::vector<double>& step : p) {
      const int c = static_cast<int>(rest % classes);
      rest /= classes;
      product *= step[static_cast<size_t>(c)];
      if (c != last && c != blank) merged.push_back(c);
      last = c;
    }
    if (merged == labels) total += product;
  }
  return total;
}

std::vector<std::vector<double>> SoftmaxOf(const Array& logits, int64_t b, int64_t steps) {
  std::vector<std::vector<double>> p;
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<double> row;
    double sum = 0;
    for (int64_t c = 0; c < logits.shape()[2]; ++c) {
      row.push_back(std::exp(logits.AsDouble((t * logits.shape()[1] + b) * logits.shape()[2] + c)));
      sum += row.back();
    }
    for (double& x : row) x /= sum;
    p.push_back(row);
  }
  return p;
}

TEST(CtcLoss, IsThatOfAllPathsOfTheLabels) {
  const Array logits = testing::Scrambled({5, 3, 4}, -2, 2);
  for (const int64_t blank : {0, 2, 3, -1}) {
    Graph graph;
    const GraphScope scope(graph);
    const int blank_class = static_cast<int>(blank < 0 ? 3 : blank);
    const int a = blank_class == 0 ? 1 : 0, b = blank_class == 3 ? 2 : 3;
    const Tensor loss =
        CtcLoss(Constant(Array::Of<int32_t>({3, 3}, {a, b, a, b, b, 9, 7, 7, 7})), Constant(logits),
                Constant({3, 2, 0}), Constant({5, 4, 2}), {.blank_index = blank});
    EXPECT_THAT(
        testing::Doubles(loss),
        ElementsAre(
            DoubleNear(-std::log(ProbabilityOf(SoftmaxOf(logits, 0, 5), {a, b, a}, blank_class)),
                       1e-9),
            DoubleNear(-std::log(ProbabilityOf(SoftmaxOf(logits, 1, 4), {b, b}, blank_class)),
                       1e-9),
            DoubleNear(-std::log(ProbabilityOf(SoftmaxOf(logits, 2, 2), {}, blank_class)), 1e-9)))
        << "blank " << blank;
  }
}

TEST(CtcLoss, HasTheGradientOfFiniteDifferences) {
  for (const bool time_major : {true, false}) {
    const auto loss = [time_major](const std::vector<Tensor>& in) {
      return CtcLoss(Constant(Array::Of<int64_t>({3, 2}, {1, 1, 2, 0, 3, 3})), in[0],
                     Constant({2, 1, 2}), Constant({4, 4, 3}),
                     {.logits_time_major = time_major, .ctc_merge_repeated = time_major});
    };
    const Array logits = testing::Scrambled(time_major ? Shape{4, 3, 5} : Shape{3, 4, 5}, -2, 2);
    const absl::Status status = testing::CheckGradients(loss, {logits});
    EXPECT_TRUE(status.ok()) << status;
  }
}

// A loss of labels [3,2] and logits [4,3,5]. The blank is class 4.
Tensor LossOf(const Array& labels, std::vector<int> label_length, std::vector<int> logit_length,
              bool ignore = false) {
  return CtcLoss(Constant(labels), Constant(testing::Scrambled({4, 3, 5}, -1, 1)),
                 Constant(label_length), Constant(logit_length),
                 {.blank_index = -1, .ignore_longer_outputs_than_inputs = ignore});
}

TEST(CtcLoss, NamesTheExampleAndTheValueOfAMistake) {
  Graph graph;
  const GraphScope scope(graph);
  const Array labels = Array::Of<int32_t>({3, 2}, {0, 1, 2, 3, 3, 0});
  const auto error = [](const Tensor& loss) {
    return std::string(testing::Eval(loss).status().message());
  };
  EXPECT_EQ(error(LossOf(labels, {2, 2, 2}, {4, 4, 4})), "");
  EXPECT_THAT(
      error(LossOf(labels, {2, 2, 2}, {4, 5, 4})),
      HasSubstr("example 1 has sequence_length 5, but the logits have 4 steps: lengths must "
                "be in [0, 4]"));
  EXPECT_THAT(error(LossOf(labels, {2, 2, 3}, {4, 4, 4})),
              HasSubstr("CTC: label_length must be in [0, 2], but element 2 of i32 [3] is 3"));
  EXPECT_THAT(error(LossOf(labels, {2, 2, 2}, {4, 4, 1})),
              HasSubstr("example 2 has 2 labels, but only 1 steps (sequence_length)"));
  EXPECT_THAT(
      error(LossOf(Array::Of<int32_t>({3, 2}, {0, 1, 2, 4, 3, 0}), {2, 2, 2}, {4, 4, 4})),
      HasSubstr("CTC: labels must be in [0, 3], but element 3 of i32 [3,2] is 4: the blank is "
                "class 4"));
}

TEST(CtcLoss, RefusesTheBlankAsALabel) {
  Graph graph;
  const GraphScope scope(graph);
  const auto error = [](int64_t blank, int label) {
    const Tensor loss = CtcLoss(Constant({1, 1}, {label}), Zeros({2, 1, 4}), Constant({1}),
                                Constant({2}), {.blank_index = blank});
    return std::string(testing::Eval(loss).status().message());
  };
  EXPECT_THAT(error(0, 0), HasSubstr("element 0 of i32 [1,1] is 0: the blank is class 0"));
  EXPECT_THAT(error(3, 3), HasSubstr("element 0 of i32 [1,1] is 3: the blank is class 3"));
  EXPECT_THAT(error(2, 2), HasSubstr("example 0 has label -1"));
  EXPECT_EQ(error(2, 3), "");
}

TEST(CtcLoss, IgnoresWhatIsTooLongAndIsInfiniteWithoutAPath) {
  Graph graph;
  const GraphScope scope(graph);
  const Array labels = Array::Of<int32_t>({3, 2}, {0, 1, 2, 2, 3, 0});
  const Tensor loss = LossOf(labels, {2, 2, 2}, {4, 2, 1}, /*ignore=*/true);
  const std::vector<double> losses = testing::Doubles(loss);
  ASSERT_EQ(losses.size(), 3U);
  EXPECT_GT(losses[0], 0);
  EXPECT_EQ(losses[1], INFINITY);  // equal labels need a blank between them
  EXPECT_EQ(losses[2], 0);
}

TEST(CtcLoss, HasNoSecondDerivative) {
  EXPECT_THAT(testing::ErrorOf([] {
                const Tensor x = Zeros({2, 1, 3});
                const Tensor loss = CtcLoss(Constant({1, 1}, {1}), x, Constant({1}), Constant({2}));
                const Tensor slope = Gradients({loss}, {x})[0];
                Gradients({slope}, {x});
              }),
              HasSubstr("CTCLoss has no second derivative"));
}

TEST(CtcLoss, RefusesOperandsThatDoNotFit) {
  EXPECT_THAT(testing::ErrorOf([] {
                CtcLoss(Constant({1, 1}, {1}), Zeros({1, 2, 3}), Constant({1}), Constant({2}));
              }),
              HasSubstr("(logits [B,T,C] need logits_time_major = false)"));
  EXPECT_THAT(testing::ErrorOf([] {
                CtcLoss(Constant({1, 1}, {1}), Zeros({2, 1, 3}), Constant({1}), Constant({2}),
                        {.blank_index = 3});
              }),
              HasSubstr("blank_index is 3, but there are 3 classes"));
  EXPECT_THAT(testing::ErrorOf([] {
                CtcLoss(Constant({1, 1}, {1}), Zeros({2, 3}), Constant({1}), Constant({2}));
              }),
              HasSubstr("float32 or float64 (steps, batch, classes), not f32 [2,3]"));
}

std::vector<double> NumbersOf(const Array& array) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < array.num_elements(); ++i) numbers.push_back(array.AsDouble(i));
  return numbers;
}

// Logits of steps with these classes.
Tensor StepsOf(const std::vector<int>& classes, int64_t num_classes) {
  Array logits(DType::kFloat32, {static_cast<int64_t>(classes.size()), 1, num_classes});
  std::fill_n(logits.data<float>(), logits.num_elements(), 0.0F);
  for (size_t t = 0; t < classes.size(); ++t)
    logits.data<float>()[static_cast<int64_t>(t) * num_classes + classes[t]] = 2;
  return Constant(logits);
}

TEST(CtcGreedyDecoder, MergesRepeatedClassesAndRemovesBlanks) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor steps = StepsOf({1, 1, 3, 1, 0, 2, 2, 3}, 4);
  const CtcDecoded merged = CtcGreedyDecoder(steps, Constant({7}));
  EXPECT_THAT(testing::Doubles(merged.ids), ElementsAre(1, 1, 0, 2, -1, -1, -1, -1));
  EXPECT_THAT(testing::Doubles(merged.length), ElementsAre(4));
  EXPECT_THAT(testing::Doubles(merged.score), ElementsAre(-14));
  const CtcDecoded all =
      CtcGreedyDecoder(steps, Constant({8}), {.merge_repeated = false, .blank_index = 0});
  EXPECT_THAT(testing::Doubles(all.ids), ElementsAre(1, 1, 3, 1, 2, 2, 3, -1));
  EXPECT_THAT(testing::Eval(CtcGreedyDecoder(steps, Constant({9})).ids),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(CtcBeamSearchDecoder, FindsTheLikeliestLabelsIfItKeepsAll) {
  Graph graph;
  const GraphScope scope(graph);
  const Array logits = testing::Scrambled({4, 2, 3}, -2, 2);
  const CtcDecoded decoded =
      CtcBeamSearchDecoder(Constant(logits), Constant({4, 3}), {.beam_width = 100, .top_paths = 2});
  const auto values = testing::EvalAll({decoded.ids, decoded.length, decoded.score});
  ASSERT_TRUE(values.ok()) << values.status();
  const std::vector<double> ids = NumbersOf((*values)[0]), lengths = NumbersOf((*values)[1]),
                            scores = NumbersOf((*values)[2]);
  for (const size_t b : {0, 1}) {
    const int64_t steps = b == 0 ? 4 : 3;
    const auto p = SoftmaxOf(logits, static_cast<int64_t>(b), steps);
    // All label sequences up to that length, in base 3 with 0 as the end.
    std::vector<std::pair<double, std::vector<int>>> all;
    for (int code = 0; code < 81; ++code) {
      std::vector<int> labels;
      bool ended = false, valid = true;
      for (int rest = code, i = 0; i < 4; ++i, rest /= 3) {
        ended = ended || rest % 3 == 0;
        valid = valid && (!ended || rest % 3 == 0);
        if (!ended) labels.push_back(rest % 3 - 1);
      }
      if (valid) all.emplace_back(ProbabilityOf(p, labels, 2), labels);
    }
    std::sort(all.rbegin(), all.rend());
    for (const size_t path : {0, 1}) {
      const size_t row = 2 * b + path;
      const std::vector<int>& labels = all[path].second;
      EXPECT_EQ(lengths[row], labels.size());
      EXPECT_NEAR(scores[row], std::log(all[path].first), 1e-9);
      for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(ids[4 * row + i], i < labels.size() ? labels[i] : -1);
    }
  }
}

TEST(CtcBeamSearchDecoder, MergesEqualNeighboursOnRequest) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor steps = StepsOf({1, 3, 1, 3, 2}, 4) * 4;
  const auto ids = [&](bool merge) {
    return testing::Doubles(
        CtcBeamSearchDecoder(steps, Constant({5}), {.merge_repeated = merge}).ids);
  };
  EXPECT_THAT(ids(false), ElementsAre(1, 1, 2, -1, -1));
  EXPECT_THAT(ids(true), ElementsAre(1, 2, -1, -1, -1));
}

TEST(CtcBeamSearchDecoder, NamesTheExampleOfAMistake) {
  Graph graph;
  const GraphScope scope(graph);
  const auto error = [](int length, int64_t paths) {
    const CtcDecoded decoded = CtcBeamSearchDecoder(Zeros({3, 2, 4}), Constant({3, length}),
                                                    {.beam_width = 4, .top_paths = paths});
    return std::string(testing::Eval(decoded.ids).status().message());
  };
  EXPECT_EQ(error(3, 4), "");
  EXPECT_THAT(error(4, 1), HasSubstr("example 1 has sequence_length 4, but the inputs have 3"));
  EXPECT_THAT(error(0, 2),
              HasSubstr("example 1 has only 1 label sequences, fewer than top_paths = 2"));
  EXPECT_THAT(error(1, 5), HasSubstr("top_paths from 1 to beam_width, not i32 [2], 4 and 5"));
}

}  // namespace
}  // namespace estimator
