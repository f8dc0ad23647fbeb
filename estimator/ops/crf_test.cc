#include "estimator/ops/crf.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kBatch = 4, kSteps = 4, kTags = 3;
const std::vector<int>& Lengths() {
  static const auto* const lengths = new std::vector<int>{4, 2, 1, 0};
  return *lengths;
}
Array Scores() { return testing::Scrambled({kBatch, kSteps, kTags}, -2, 2); }
Array Transitions() { return testing::Scrambled({kTags, kTags}, -1, 1.5); }
Array Tags() {
  return Array::Of<int32_t>({4, 4}, {2, 0, 0, 1, 1, 2, 9, -1, 0, 7, 7, 7, 5, 5, 5, 5});
}

// All tags of example b, with their scores.
struct Tagging {
  std::vector<int> tags;
  double score = 0;
};
std::vector<Tagging> AllTaggings(int b) {
  const int length = Lengths()[static_cast<size_t>(b)];
  const Array scores = Scores(), transitions = Transitions();
  int count = 1;
  for (int t = 0; t < length; ++t) count *= kTags;
  std::vector<Tagging> all;
  for (int code = 0; code < count; ++code) {
    Tagging tagging;
    for (int t = 0, rest = code; t < length; ++t, rest /= kTags) {
      const int tag = rest % kTags;
      tagging.score += scores.AsDouble((b * kSteps + t) * kTags + tag);
      if (t > 0) tagging.score += transitions.AsDouble(tagging.tags.back() * kTags + tag);
      tagging.tags.push_back(tag);
    }
    all.push_back(tagging);
  }
  return all;
}

class CrfTest : public ::testing::Test {
 protected:
  Graph graph_;
  const GraphScope scope_{graph_};
  const Tensor scores_ = Constant(Scores()), transitions_ = Constant(Transitions());
  const Tensor lengths_ = Constant(Lengths());
};

TEST_F(CrfTest, LikelihoodIsTheShareOfTheTagsInAllTags) {
  const std::vector<double> score =
      testing::Doubles(CrfSequenceScore(scores_, Constant(Tags()), lengths_, transitions_));
  const std::vector<double> norm = testing::Doubles(CrfLogNorm(scores_, lengths_, transitions_));
  const std::vector<double> likelihood = testing::Doubles(
      CrfLogLikelihood(scores_, Constant(Tags()), lengths_, transitions_).log_likelihood);
  ASSERT_EQ(score.size(), 4U);
  for (int b = 0; b < kBatch; ++b) {
    const auto at = static_cast<size_t>(b);
    double sum = 0, given = 0;
    for (const Tagging& tagging : AllTaggings(b)) {
      sum += std::exp(tagging.score);
      bool same = true;
      for (size_t t = 0; t < tagging.tags.size(); ++t)
        same = same && tagging.tags[t] ==
                           static_cast<int>(Tags().AsDouble(b * kSteps + static_cast<int>(t)));
      if (same) given = tagging.score;
    }
    EXPECT_NEAR(score[at], given, 1e-9) << b;
    EXPECT_NEAR(norm[at], std::log(sum), 1e-9) << b;
    EXPECT_NEAR(likelihood[at], given - std::log(sum), 1e-9) << b;
  }
}

TEST_F(CrfTest, DecodesTheTagsOfTheHighestScore) {
  const CrfDecodeResult decoded = CrfDecode(scores_, transitions_, lengths_);
  const std::vector<double> tags = testing::Doubles(decoded.decode_tags),
                            best = testing::Doubles(decoded.best_score);
  ASSERT_EQ(tags.size(), 16U);
  for (int b = 0; b < 3; ++b) {  // an empty sequence counts as one of a step
    const std::vector<Tagging> all = AllTaggings(b);
    const auto highest = std::max_element(
        all.begin(), all.end(), [](const auto& x, const auto& y) { return x.score < y.score; });
    EXPECT_NEAR(best[static_cast<size_t>(b)], highest->score, 1e-9);
    for (size_t t = 0; t < kSteps; ++t)
      EXPECT_EQ(tags[static_cast<size_t>(b) * kSteps + t],
                t < highest->tags.size() ? highest->tags[t] : 0)
          << b << ", " << t;
  }
}

TEST_F(CrfTest, LikelihoodHasTheGradientOfFiniteDifferences) {
  const auto likelihood = [](const std::vector<Tensor>& in) {
    return CrfLogLikelihood(in[0], Constant(Tags()), Constant(Lengths()), in[1]).log_likelihood;
  };
  EST_EXPECT_OK(testing::CheckGradients(likelihood, {Scores(), Transitions()}));
}

TEST_F(CrfTest, OneStepNeedsNoTransitions) {
  const Tensor x = Constant({1, 1, 2}, {1.0F, 3.0F}), none = Zeros({2, 2});
  EXPECT_THAT(testing::Doubles(CrfDecode(x, none, Constant({1})).decode_tags), ElementsAre(1));
  EXPECT_THAT(testing::Doubles(CrfSequenceScore(x, Constant({1, 1}, {0}), Constant({1}), none)),
              ElementsAre(1));
}

TEST_F(CrfTest, MakesTheVariableTransitions) {
  const CrfLogLikelihoodResult result = CrfLogLikelihood(scores_, Constant(Tags()), lengths_);
  EXPECT_EQ(result.transition_params.spec().ToString(), "f64 [3,3]");
  ASSERT_EQ(graph_.variables().size(), 1U);
  EXPECT_EQ(graph_.variables()[0].name(), "transitions");
}

TEST_F(CrfTest, RefusesOperandsThatDoNotFit) {
  EXPECT_THAT(testing::ErrorOf([] {
                CrfLogNorm(Zeros({2, 3}), Constant({1, 2}), Zeros({3, 3}));
              }),
              HasSubstr("crf_log_norm: inputs are scores, float32 or float64 [B,T,K]"));
  EXPECT_THAT(testing::ErrorOf([] {
                CrfDecode(Zeros({2, 4, 3}), Zeros({4, 4}), Constant({1, 2}));
              }),
              HasSubstr("take lengths i32 or i64 [2] and transitions [3,3], not i32 [2] and f32"));
  EXPECT_THAT(
      testing::ErrorOf([] {
        CrfSequenceScore(Zeros({2, 4, 3}), Constant({1, 2}), Constant({1, 2}), Zeros({3, 3}));
      }),
      HasSubstr("take tags i32 or i64 [2,4], not i32 [2]"));
  EXPECT_THAT(testing::Eval(CrfSequenceScore(Zeros({1, 1, 3}), Constant({1, 1}, {3}), Constant({1}),
                                             Zeros({3, 3})))
                  .status()
                  .code(),
              absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace estimator
