#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Products of up to 300 terms in f32, and exponentials of 4 units in the last place.
constexpr Tolerance kProducts{.relative = 2e-5, .absolute = 2e-5};

struct Case {
  int64_t batch = 2, queries = 16, keys = 16, heads = 2, size = 16;
  Shape bias = {2, 1, 1, 16};  // rank 0: none
  bool mask = true;
  float scale = 0.25f, keep_scale = 1.25f;
};

struct Operands {
  explicit Operands(const Case& c)
      : q(RandomArray({c.batch, c.queries, c.heads, c.size}, 1)),
        k(RandomArray({c.batch, c.keys, c.heads, c.size}, 2)),
        v(RandomArray({c.batch, c.keys, c.heads, c.size}, 3)),
        dy(RandomArray({c.batch, c.queries, c.heads, c.size}, 4)),
        bias(c.bias.rank() == 4 ? RandomArray(c.bias, 5, -3, 3) : Array()),
        mask(DType::kBool, {c.batch, c.heads, c.queries, c.keys}) {
    const Array numbers = RandomArray(mask.shape(), 6, 0, 1);
    for (int64_t i = 0; i < mask.num_elements(); ++i)
      mask.data<bool>()[i] = numbers.data<float>()[i] >= 0.2f;
  }
  Array q, k, v, dy, bias, mask;
};

double BiasAt(const Case& c, const Array& bias, int64_t b, int64_t h, int64_t i, int64_t j) {
  if (c.bias.rank() != 4) return 0;
  const Shape& s = c.bias;
  const int64_t index =
      ((std::min(b, s[0] - 1) * s[1] + std::min(h, s[1] - 1)) * s[2] + std::min(i, s[2] - 1)) *
          s[3] +
      std::min(j, s[3] - 1);
  return static_cast<double>(bias.data<float>()[index]);
}

// The definition and its gradient, in f64: y, dq, dk, dv.
std::vector<Array> Expected(const Case& c, const Operands& o) {
  std::vector<std::vector<double>> sums;
  std::vector<Array> results;
  for (const Array* like : {&o.q, &o.q, &o.k, &o.v}) {
    sums.emplace_back(static_cast<size_t>(like->num_elements()));
    results.emplace_back(DType::kFloat32, like->shape());
  }
  const auto at = [](const Array& array, int64_t i) {
    return static_cast<double>(array.data<float>()[i]);
  };
  const auto index = [&](int64_t rows, int64_t b, int64_t h, int64_t row, int64_t d) {
    return ((b * rows + row) * c.heads + h) * c.size + d;
  };
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t h = 0; h < c.heads; ++h) {
      for (int64_t i = 0; i < c.queries; ++i) {
        std::vector<double> p(static_cast<size_t>(c.keys)), dp(p);
        double total = 0, sum = 0;
        for (int64_t j = 0; j < c.keys; ++j) {
          double score = 0;
          for (int64_t d = 0; d < c.size; ++d)
            score += at(o.q, index(c.queries, b, h, i, d)) * at(o.k, index(c.keys, b, h, j, d));
          score = score * static_cast<double>(c.scale) + BiasAt(c, o.bias, b, h, i, j);
          total += p[static_cast<size_t>(j)] = std::exp(score);
        }
        for (int64_t j = 0; j < c.keys; ++j) {
          const auto sj = static_cast<size_t>(j);
          p[sj] /= total;
          const bool kept =
              !c.mask || o.mask.data<bool>()[((b * c.heads + h) * c.queries + i) * c.keys + j];
          const double keep = !kept ? 0 : c.mask ? static_cast<double>(c.keep_scale) : 1;
          for (int64_t d = 0; d < c.size; ++d) {
            const int64_t query = index(c.queries, b, h, i, d), key = index(c.keys, b, h, j, d);
            sums[0][static_cast<size_t>(query)] += p[sj] * keep * at(o.v, key);
            sums[3][static_cast<size_t>(key)] += p[sj] * keep * at(o.dy, query);
            dp[sj] += keep * at(o.dy, query) * at(o.v, key);
          }
          sum += dp[sj] * p[sj];
        }
        for (int64_t j = 0; j < c.keys; ++j) {
          const double ds = (dp[static_cast<size_t>(j)] - sum) * p[static_cast<size_t>(j)] *
                            static_cast<double>(c.scale);
          for (int64_t d = 0; d < c.size; ++d) {
            const int64_t query = index(c.queries, b, h, i, d), key = index(c.keys, b, h, j, d);
            sums[1][static_cast<size_t>(query)] += ds * at(o.k, key);
            sums[2][static_cast<size_t>(key)] += ds * at(o.q, query);
          }
        }
      }
    }
  }
  for (size_t r = 0; r < results.size(); ++r) {
    for (size_t i = 0; i < sums[r].size(); ++i)
      results[r].data<float>()[i] = static_cast<float>(sums[r][i]);
  }
  return results;
}

// y, dq, dk, dv; empty if the tier does not accept the specs.
std::vector<Array> Actual(const Case& c, const Operands& o) {
  const Attrs attrs = {{"has_bias", c.bias.rank() == 4},
                       {"has_mask", c.mask},
                       {"scale", c.scale},
                       {"keep_scale", c.keep_scale}};
  std::vector<Array> inputs = {o.q, o.k, o.v};
  if (c.bias.rank() == 4) inputs.push_back(o.bias);
  if (c.mask) inputs.push_back(o.mask);
  const auto run = [&](const char* op, std::vector<Array> operands,
                       const std::vector<const Array*>& like) {
    KernelSpec spec{.op = op, .attrs = attrs};
    for (const Array* array : like) spec.outputs.push_back({DType::kFloat32, array->shape()});
    const auto result = RunKernel(CompleteSpec(spec, operands), operands, KernelTier::kFused);
    return result.ok() ? *result : std::vector<Array>();
  };
  std::vector<Array> results = run("_Attention", inputs, {&o.q});
  inputs.insert(inputs.begin(), o.dy);
  for (const Array& gradient : run("_AttentionGrad", inputs, {&o.q, &o.k, &o.v}))
    results.push_back(gradient);
  return results;
}

std::string DifferenceOf(const Case& c) {
  const Operands operands(c);
  const std::vector<Array> actual = Actual(c, operands), expected = Expected(c, operands);
  if (actual.size() != expected.size()) return "the specs are not accepted";
  const std::vector<Array> again = Actual(c, operands);
  for (size_t i = 0; i < actual.size(); ++i) {
    const Difference difference = Compare(actual[i], expected[i], kProducts);
    if (!difference.equal) return absl::StrCat("result ", i, ": ", difference.report);
    if (!SameBits(actual[i], again[i])) return absl::StrCat("result ", i, " differs between runs");
  }
  return "";
}

TEST(Attention, IsTheDefinitionForwardAndBackward) { EXPECT_EQ(DifferenceOf({}), ""); }

TEST(Attention, SizesThatDoNotFillVectorsOrTiles) {
  for (const int64_t length : {1, 5, 7, 19, 131}) {
    for (const int64_t size : {1, 3, 20, 64, 80}) {
      const Case c{.queries = length, .keys = length, .size = size, .bias = {2, 1, 1, length}};
      EXPECT_EQ(DifferenceOf(c), "") << length << " " << size;
    }
  }
}

TEST(Attention, OneQuery) {
  for (const int64_t keys : {1, 5, 64, 131}) {
    for (const int64_t size : {1, 3, 8, 16, 20, 64}) {
      const Case c{.queries = 1, .keys = keys, .heads = 3, .size = size, .bias = {2, 1, 1, keys}};
      EXPECT_EQ(DifferenceOf(c), "") << keys << " " << size;
    }
  }
}

TEST(Attention, OneQueryMayHaveTheHeadsFirst) {
  const Case c{.queries = 1, .heads = 3, .size = 8};
  Operands o(c);
  const std::vector<Array> expected = Actual(c, o);
  const Shape turned{c.batch, c.heads, 1, c.size};
  o.q = o.q.Reshaped(turned);
  o.dy = o.dy.Reshaped(turned);
  const std::vector<Array> actual = Actual(c, o);
  ASSERT_EQ(actual.size(), 4u);
  EXPECT_EQ(actual[0].shape(), turned);
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_TRUE(SameBits(actual[i].Reshaped(expected[i].shape()), expected[i])) << i;
}

TEST(Attention, MoreQueriesThanABlockAndOtherKeys) {
  // 32768 scores are a block: 109 queries of 300 keys.
  const Case c{
      .batch = 1, .queries = 250, .keys = 300, .heads = 3, .size = 8, .bias = {1, 3, 250, 300}};
  EXPECT_EQ(DifferenceOf(c), "");
}

// The heads take long enough for the threads to run at the same time.
TEST(Attention, EachThreadHasItsOwnMemory) {
  const Case c{.queries = 128, .keys = 128, .heads = 8, .size = 32, .bias = {2, 1, 1, 128}};
  EXPECT_EQ(DifferenceOf(c), "");
}

TEST(Attention, WithoutBiasOrMask) {
  for (const bool mask : {true, false}) {
    EXPECT_EQ(DifferenceOf({.bias = {}, .mask = mask}), "");
    EXPECT_EQ(DifferenceOf({.bias = {1, 1, 16, 16}, .mask = mask}), "");
  }
}

TEST(Attention, AMaskedKeyHasNoInfluence) {
  Case c;
  Operands o(c);
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t j = 8; j < c.keys; ++j)
      o.bias.data<float>()[b * c.keys + j] = -std::numeric_limits<float>::infinity();
  }
  const std::vector<Array> before = Actual(c, o);
  ASSERT_EQ(before.size(), 4u);
  for (int64_t b = 0; b < c.batch; ++b) {
    const int64_t row = c.heads * c.size;
    for (int64_t i = 8 * row; i < c.keys * row; ++i) {
      o.k.data<float>()[b * c.keys * row + i] = 0.5f;
      o.v.data<float>()[b * c.keys * row + i] = 7;
    }
  }
  const std::vector<Array> after = Actual(c, o);
  EXPECT_TRUE(SameBits(before[0], after[0]));
  EXPECT_TRUE(SameBits(before[1], after[1]));
}

TEST(Attention, LargeScoresDoNotOverflow) {
  Case c{.scale = 1000};
  const std::vector<Array> results = Actual(c, Operands(c));
  ASSERT_EQ(results.size(), 4u);
  for (const Array& result : results) {
    for (int64_t i = 0; i < result.num_elements(); ++i)
      ASSERT_TRUE(std::isfinite(result.data<float>()[i]));
  }
}

TEST(Attention, ShapesThatDoNotFitAreNotAccepted) {
  EXPECT_EQ(DifferenceOf({.bias = {2, 1, 1, 1}}), "the specs are not accepted");
  EXPECT_EQ(DifferenceOf({.bias = {3, 1, 1, 16}}), "the specs are not accepted");
}

}  // namespace
}  // namespace estimator
