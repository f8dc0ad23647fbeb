#include "estimator/runtime/passes/transformer/fuse_transformer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/ops.h"
#include "estimator/runtime/lower.h"
#include "estimator/runtime/passes/fold_constants.h"
#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/merge_equal.h"
#include "estimator/runtime/passes/prune.h"
#include "estimator/runtime/passes/simplify.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

const KernelTier kFastest = KernelTier::kOneDnn;

class FuseTransformerTest : public testing::Test {
 protected:
  Tensor Feed(const Shape& shape) {
    feeds_.push_back(Placeholder(DType::kFloat32, shape));
    values_.push_back(Numbers(shape, static_cast<int>(values_.size()) + 1));
    return feeds_.back();
  }
  // The module as the fusing passes see it.
  void Lower(const std::vector<Tensor>& fetches) {
    EST_ASSERT_OK(graph_.status());
    absl::StatusOr<Module> module =
        ir::Lower(graph_, {.feeds = feeds_, .fetches = fetches, .updates = {}});
    EST_ASSERT_OK(module.status());
    module_ = *std::move(module);
    Prune(module_);
    for (int round = 0; round < 2; ++round) {
      EST_ASSERT_OK(FoldConstants(module_));
      MergeEqual(module_);
      Simplify(module_, /*single_replica=*/true);
    }
    Prune(module_);
  }
  // Applies `pass`, and compares the values of the fetches with those before.
  void Apply(void (*pass)(Module&, KernelTier)) {
    const Module before = module_;
    pass(module_, kFastest);
    EXPECT_EQ(DifferenceOf(before, module_, values_), "");
  }

  Graph graph_;
  GraphScope scope_{graph_};
  std::vector<Tensor> feeds_;
  std::vector<Array> values_;
  Module module_;
};

TEST_F(FuseTransformerTest, LayerNormAndItsGradientAreOneNodeEach) {
  for (const Shape& shape : {Shape{12, 32}, Shape{3, 4, 32}}) {
    feeds_.clear();
    values_.clear();
    const Tensor x = Feed(shape), gamma = Feed({32}), beta = Feed({32}), weights = Feed(shape);
    const Tensor y = LayerNorm(x, gamma, beta);
    std::vector<Tensor> fetches = Gradients({ReduceSum(Square(y) * weights)}, {x, gamma, beta});
    fetches.push_back(y);
    Lower(fetches);
    Apply(FuseLayerNorm);
    EXPECT_EQ(Count(module_, "_LayerNorm"), 1) << ToString(module_);
    EXPECT_EQ(Count(module_, "_LayerNormGrad"), 1);
    EXPECT_EQ(Count(module_, "Rsqrt") + Count(module_, "AddN") + Count(module_, "BroadcastTo"), 0)
        << ToString(module_);
  }
}

TEST_F(FuseTransformerTest, TheResidualsGradientIsAddedToThatOfTheLayerNorm) {
  const Tensor x = Feed({12, 32}), gamma = Feed({32}), beta = Feed({32});
  const Tensor y = x + Square(LayerNorm(x, gamma, beta));  // as in a layer that normalizes first
  Lower(Gradients({ReduceSum(Square(y))}, {x, gamma, beta}));
  Apply(FuseLayerNorm);
  EXPECT_EQ(Count(module_, "_LayerNorm"), 1) << ToString(module_);
  EXPECT_EQ(Count(module_, "_LayerNormGrad"), 1);
}

TEST_F(FuseTransformerTest, LayerNormWithoutGradientIsFused) {
  const Tensor x = Feed({12, 32}), gamma = Feed({32}), beta = Feed({32});
  Lower({LayerNorm(x, gamma, beta)});
  Apply(FuseLayerNorm);
  EXPECT_EQ(Count(module_, "_LayerNorm"), 1);
  EXPECT_EQ(module_.nodes.size(), 6u) << ToString(module_);  // feeds, epsilon, axes
}

TEST_F(FuseTransformerTest, LayerNormStaysIfAnotherNodeReadsItsParts) {
  const Tensor x = Feed({12, 32}), gamma = Feed({32}), beta = Feed({32});
  const MeanAndVariance moments = Moments(x, -1, {.keepdims = true});
  const Tensor y = BatchNormalization(x, moments.mean, moments.variance, beta, gamma, 1e-6f);
  Lower({y, moments.variance});
  Apply(FuseLayerNorm);
  EXPECT_EQ(Count(module_, "_LayerNorm"), 0);
}

TEST_F(FuseTransformerTest, MomentsOfTheFirstAxisAreNoLayerNorm) {
  const Tensor x = Feed({32, 32}), gamma = Feed({32}), beta = Feed({32});
  const MeanAndVariance moments = Moments(x, 0, {.keepdims = true});
  Lower({BatchNormalization(x, moments.mean, moments.variance, beta, gamma, 1e-6f)});
  Apply(FuseLayerNorm);
  EXPECT_EQ(Count(module_, "_LayerNorm"), 0);
}

TEST_F(FuseTransformerTest, TheMaskOfADropoutIsDrawnWithoutItsNumbers) {
  const Tensor x = Feed({100, 30});
  const Tensor y = Dropout(x, {.rate = 0.3});
  Lower({y});
  Apply(FuseRandomMask);
  EXPECT_EQ(Count(module_, "_RandomGreaterEqual"), 1) << ToString(module_);
  EXPECT_EQ(Count(module_, "RandomUniform") + Count(module_, "GreaterEqual"), 0);
}

TEST_F(FuseTransformerTest, NumbersThatOthersReadAreDrawn) {
  const Tensor numbers = RandomUniform({100});
  Lower({Cast(GreaterEqual(numbers, 0.5), DType::kFloat32), numbers});
  Apply(FuseRandomMask);
  EXPECT_EQ(Count(module_, "RandomUniform"), 1);
  EXPECT_EQ(Count(module_, "_RandomGreaterEqual"), 0);
}

// The spellings of GELU, and the op that each becomes.
struct Spelling {
  const char* op;
  Tensor (*gelu)(const Tensor& x);
};
Tensor TanhOf(const Tensor& x) { return Tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * Pow(x, 3))); }
const Spelling kSpellings[] = {
    {"_Gelu", Gelu},
    {"_Gelu", [](const Tensor& x) { return x * (0.5 * (1 + Erf(x / std::sqrt(2.0)))); }},
    {"_Gelu", [](const Tensor& x) { return x * 0.5 * (Erf(x * std::sqrt(0.5)) + 1); }},
    {"_GeluApproximate", GeluApproximate},
    {"_GeluApproximate", [](const Tensor& x) { return x * (0.5 * (1 + TanhOf(x))); }},
};

class FuseGeluTest : public FuseTransformerTest {
 protected:
  // The gradient of `y` in the direction of a feed.
  Tensor GradientOf(const Tensor& y, const Tensor& x) {
    const Tensor dy = Feed(y.shape());
    return Gradients({y}, {x}, {Cast(dy, y.dtype())})[0];
  }
  // Checks that the numbers of nodes of the four ops of GELU are `forward` and `backward`.
  void ExpectNodes(int forward, int backward) {
    EXPECT_EQ(Count(module_, "_Gelu") + Count(module_, "_GeluApproximate"), forward)
        << ToString(module_);
    EXPECT_EQ(Count(module_, "_GeluGrad") + Count(module_, "_GeluApproximateGrad"), backward)
        << ToString(module_);
  }
};

TEST_F(FuseGeluTest, ForwardAndGradientAreOneNodeEach) {
  for (const Spelling& spelling : kSpellings) {
    feeds_.clear();
    values_.clear();
    const Tensor x = 4.0 * Feed({12, 32});
    const Tensor y = spelling.gelu(x);
    Lower({y, GradientOf(y, x)});
    Apply(FuseGelu);
    EXPECT_EQ(Count(module_, spelling.op), 1) << ToString(module_);
    EXPECT_EQ(Count(module_, std::string(spelling.op) + "Grad"), 1) << ToString(module_);
    EXPECT_EQ(module_.nodes.size(), 6u) << ToString(module_);  // two feeds, 4 x
  }
}

TEST_F(FuseGeluTest, ForwardAndGradientAreOneNodeEachInBfloat16) {
  for (const Spelling& spelling : kSpellings) {
    feeds_.clear();
    values_.clear();
    const Tensor x = Cast(4.0 * Feed({12, 32}), DType::kBfloat16);
    const Tensor y = spelling.gelu(x);
    Lower({y, GradientOf(y, x)});
    const Module before = module_;
    FuseGelu(module_, kFastest);
    EXPECT_EQ(Count(module_, spelling.op), 1) << ToString(module_);
    EXPECT_EQ(Count(module_, std::string(spelling.op) + "Grad"), 1) << ToString(module_);
    // Before, about ten ops round their results one after the other.
    const auto expected = Interpret(before, values_), actual = Interpret(module_, values_);
    EST_ASSERT_OK(expected.status());
    EST_ASSERT_OK(actual.status());
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(Compare((*actual)[i], (*expected)[i], {.relative = 0.02, .absolute = 0.05}).report,
                "");
    }
  }
}

TEST_F(FuseGeluTest, WithoutAGradientTheForwardOpsAreOneNode) {
  for (const Spelling& spelling : kSpellings) {
    feeds_.clear();
    values_.clear();
    Lower({spelling.gelu(Feed({12, 32}))});
    Apply(FuseGelu);
    EXPECT_EQ(Count(module_, spelling.op), 1) << ToString(module_);
    EXPECT_EQ(module_.nodes.size(), 2u) << ToString(module_);
  }
}

TEST_F(FuseGeluTest, TensorFlowsGradientOfErf) {
  const Tensor x = Feed({12, 32}), dy = Feed({12, 32});
  const Tensor argument = x / std::sqrt(2.0);
  const Tensor half_sum = 0.5 * (1 + Erf(argument));
  // (dy' 2 / sqrt(pi)) exp(-argument^2), where our gradient multiplies exp(...) by the number.
  const Tensor by_argument =
      x * dy * 0.5 * (2 / std::sqrt(M_PI)) * Exp(-Square(argument)) / std::sqrt(2.0);
  Lower({x * half_sum, dy * half_sum + by_argument});
  Apply(FuseGelu);
  ExpectNodes(1, 1);
}

TEST_F(FuseGeluTest, OtherGradientsOfTheInputAreAdded) {
  for (const Spelling& spelling : kSpellings) {
    feeds_.clear();
    values_.clear();
    const Tensor x = Feed({12, 32});
    const Tensor y = Square(x) + spelling.gelu(x);
    Lower({y, GradientOf(y, x)});
    Apply(FuseGelu);
    ExpectNodes(1, 1);
    EXPECT_EQ(Count(module_, "AddN"), 0) << ToString(module_);
  }
}

TEST_F(FuseGeluTest, TwoGelusOfOneInput) {
  const Tensor x = Feed({12, 32});
  const Tensor y = Gelu(x) * GeluApproximate(x);
  Lower({y, GradientOf(y, x)});
  Apply(FuseGelu);
  ExpectNodes(2, 2);
}

// MergeEqual makes one node of both gradients' equal parts, and their sum reads it twice.
TEST_F(FuseGeluTest, TheGradientsOfEqualGelusAreBothAdded) {
  for (const auto gelu : {Gelu, GeluApproximate}) {
    feeds_.clear();
    values_.clear();
    const Tensor x = Feed({12, 32});
    const Tensor y = gelu(x) + gelu(x);
    Lower({y, GradientOf(y, x)});
    Apply(FuseGelu);
    ExpectNodes(0, 0);
  }
}

TEST_F(FuseGeluTest, ItStaysIfAnotherNodeReadsItsParts) {
  const Tensor x = Feed({12, 32});
  const Tensor tanh = TanhOf(x);
  const Tensor y = x * (0.5 * (1 + tanh));
  const Tensor dx = GradientOf(y, x);
  Lower({y, dx, tanh});
  Apply(FuseGelu);
  ExpectNodes(0, 0);
  Lower({y, dx, Gradients({ReduceSum(Square(dx))}, {x})[0]});  // the gradient of the gradient
  Apply(FuseGelu);
  ExpectNodes(0, 0);
}

TEST_F(FuseGeluTest, OtherNumbersAreNoGelu) {
  const Tensor x = Feed({12, 32});
  Lower({x * (0.5 * (1 + Tanh(0.8 * (x + 0.044715 * Pow(x, 3))))), 0.5 * x * (1 + Erf(x / 1.4)),
         0.5 * x * (1.01 + Erf(x / std::sqrt(2.0)))});
  Apply(FuseGelu);
  ExpectNodes(0, 0);
}

TEST_F(FuseGeluTest, AResultOfAnotherShapeStays) {
  const Tensor x = Feed({12, 32});
  Lower({Reshape(0.5 * x, {384}) * Reshape(1 + Erf(x / std::sqrt(2.0)), {384})});
  Apply(FuseGelu);
  ExpectNodes(0, 0);
}

TEST_F(FuseGeluTest, ItJoinsAChain) {
  const Tensor x = Feed({12, 32}), bias = Feed({12, 32});
  const Tensor y = GeluApproximate(x + bias) * 1.5;
  Lower({y, GradientOf(y, x)});
  Apply([](Module& module, KernelTier fastest) {
    FuseGelu(module, fastest);
    FuseElementwise(module, fastest);
  });
  const Node& chain = Only(module_, "_FusedElementwise");
  EXPECT_THAT(chain.attrs.get<std::vector<std::string>>("ops"),
              ::testing::UnorderedElementsAre("AddV2", "_GeluApproximate", "Mul", "Mul",
                                              "_GeluApproximateGrad"));
}

class FuseAttentionTest : public FuseTransformerTest {
 protected:
  static constexpr int64_t kBatch = 2, kLength = 8, kHeads = 2, kSize = 4;

  Tensor Heads(const Tensor& x, const std::vector<int64_t>& axes = {0, 2, 1, 3}) {
    return Transpose(Reshape(x, {kBatch, kLength, kHeads, kSize}), axes);
  }
  // [B * S, heads * D]
  Tensor Attention(const Tensor& q, const Tensor& k, const Tensor& v, bool bias, double rate) {
    Tensor scores = MatMul(Heads(q), Heads(k), {.transpose_b = true}) * 0.5f;
    if (bias) scores = scores + Feed({kBatch, 1, 1, kLength});
    scores_ = scores;
    Tensor p = Softmax(scores);
    if (rate > 0) p = Dropout(p, {.rate = rate});
    return Reshape(Transpose(MatMul(p, Heads(v)), {0, 2, 1, 3}), q.shape());
  }
  void FeedOperands() {
    for (Tensor* operand : {&q_, &k_, &v_}) *operand = Feed({kBatch * kLength, kHeads * kSize});
  }

  Tensor q_, k_, v_, scores_;
};

TEST_F(FuseAttentionTest, ForwardAndGradientAreOneNodeEach) {
  for (const bool bias : {true, false}) {
    for (const double rate : {0.2, 0.0}) {
      feeds_.clear();
      values_.clear();
      FeedOperands();
      const Tensor y = Attention(q_, k_, v_, bias, rate);
      const Tensor weights = Feed(y.shape());
      std::vector<Tensor> fetches = Gradients({ReduceSum(Square(y) * weights)}, {q_, k_, v_});
      fetches.push_back(y);
      Lower(fetches);
      Apply(FuseAttention);
      EXPECT_EQ(Count(module_, "_Attention"), 1) << ToString(module_);
      EXPECT_EQ(Count(module_, "_AttentionGrad"), 1) << ToString(module_);
      EXPECT_EQ(Count(module_, "BatchMatMulV2") + Count(module_, "Transpose"), 0);
    }
  }
}

// A decoder attends from its last position. The transposes of that are no moves.
TEST_F(FuseAttentionTest, OneQueryIsOneNode) {
  for (const bool bias : {true, false}) {
    feeds_.clear();
    values_.clear();
    FeedOperands();
    const Tensor query = Feed({kBatch, kHeads * kSize});
    const Tensor turned = Transpose(Reshape(query, {kBatch, 1, kHeads, kSize}), {0, 2, 1, 3});
    Tensor scores = MatMul(turned, Heads(k_), {.transpose_b = true}) * 0.5f;
    if (bias) scores = scores + Feed({kBatch, 1, 1, kLength});
    const Tensor context = Transpose(MatMul(Softmax(scores), Heads(v_)), {0, 2, 1, 3});
    Lower({Reshape(context, query.shape())});
    Apply(FuseAttention);
    EXPECT_EQ(Count(module_, "_Attention"), 1) << ToString(module_);
    EXPECT_EQ(Count(module_, "BatchMatMulV2") + Count(module_, "Transpose"), 0);
  }
}

TEST_F(FuseAttentionTest, OneTensorCanBeQueryKeyAndValue) {
  q_ = Feed({kBatch * kLength, kHeads * kSize});
  const Tensor y = Attention(q_, q_, q_, true, 0.1);
  Lower(Gradients({ReduceSum(Square(y))}, {q_}));
  Apply(FuseAttention);  // the transposes of q, k and v are one node, so the gradient differs
}

TEST_F(FuseAttentionTest, ScoresThatOthersReadAreKept) {
  FeedOperands();
  const Tensor y = Attention(q_, k_, v_, true, 0);
  Lower({y, scores_});
  Apply(FuseAttention);
  EXPECT_EQ(Count(module_, "_Attention"), 0);
}

TEST_F(FuseAttentionTest, AnotherOrderOfAxesStays) {
  FeedOperands();
  const std::vector<int64_t> axes = {0, 2, 3, 1};
  const Tensor scores = MatMul(Heads(q_, axes), Heads(k_, axes), {.transpose_b = true}) * 0.5f;
  const Tensor y = Transpose(MatMul(Softmax(scores), Heads(v_, axes)), {0, 2, 1, 3});
  Lower({y});
  Apply(FuseAttention);
  EXPECT_EQ(Count(module_, "_Attention"), 0);
}

TEST_F(FuseAttentionTest, TheReferenceTierFusesNothing) {
  FeedOperands();
  Lower({Gelu(LayerNorm(Attention(q_, k_, v_, true, 0.1), Feed({8}), Feed({8})))});
  for (const auto pass : {FuseRandomMask, FuseLayerNorm, FuseAttention, FuseGelu})
    pass(module_, KernelTier::kReference);
  EXPECT_EQ(Count(module_, "_Attention") + Count(module_, "_LayerNorm") +
                Count(module_, "_RandomGreaterEqual") + Count(module_, "_Gelu"),
            0);
}

}  // namespace
}  // namespace estimator::ir
