#include "estimator/ops/einsum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Eval;
using testing::Scrambled;

class EinsumTest : public GraphTest {
 protected:
  // The sum of products as its definition says, over all values of all letters. a, b: f64.
  static Array Defined(const std::string& a_labels, const std::string& b_labels,
                       const std::string& out_labels, const Array& a, const Array& b) {
    std::string letters;
    std::vector<int64_t> sizes;
    const auto add = [&](const std::string& labels, const Shape& shape) {
      for (size_t i = 0; i < labels.size(); ++i) {
        if (letters.find(labels[i]) != std::string::npos) continue;
        letters += labels[i];
        sizes.push_back(shape.dim(static_cast<int>(i)));
      }
    };
    add(a_labels, a.shape());
    add(b_labels, b.shape());
    Shape out_shape;
    for (const char label : out_labels) out_shape.push_back(sizes[letters.find(label)]);
    Array out(DType::kFloat64, out_shape);
    std::vector<int64_t> at(letters.size(), 0);
    const auto offset = [&](const std::string& labels) {
      int64_t index = 0;
      for (const char label : labels)
        index = index * sizes[letters.find(label)] + at[letters.find(label)];
      return index;
    };
    while (true) {
      out.data<double>()[offset(out_labels)] +=
          a.data<double>()[offset(a_labels)] * b.data<double>()[offset(b_labels)];
      size_t axis = 0;
      while (axis < at.size() && ++at[axis] == sizes[axis]) at[axis++] = 0;
      if (axis == at.size()) return out;
    }
  }

  void ExpectDefined(const std::string& a, const std::string& b, const std::string& out,
                     const Shape& a_shape, const Shape& b_shape) {
    const Array x = Scrambled(a_shape, -1, 1), y = Scrambled(b_shape, -2, 1);
    const std::string equation = a + "," + b + "->" + out;
    const Tensor result = Einsum(equation, {Constant(x), Constant(y)});
    ASSERT_TRUE(result.valid()) << graph_.status();
    EXPECT_EQ(
        Compare(*Eval(result), Defined(a, b, out, x, y), {.relative = 1e-12, .absolute = 1e-12})
            .report,
        "")
        << equation;
    EXPECT_EQ(
        CheckGradients([&](const std::vector<Tensor>& in) { return Einsum(equation, in); }, {x, y}),
        absl::OkStatus())
        << equation;
  }
};

TEST_F(EinsumTest, MatrixProductsInEveryOrder) {
  ExpectDefined("ij", "jk", "ik", {2, 3}, {3, 4});
  ExpectDefined("ij", "kj", "ik", {2, 3}, {4, 3});
  ExpectDefined("ji", "jk", "ki", {3, 2}, {3, 4});
}

TEST_F(EinsumTest, AttentionOfATransformer) {
  ExpectDefined("bfnh", "btnh", "bnft", {2, 3, 2, 2}, {2, 2, 2, 2});
  ExpectDefined("bnft", "btnh", "bfnh", {2, 2, 3, 2}, {2, 2, 2, 2});
  ExpectDefined("abc", "cde", "abde", {2, 2, 3}, {3, 2, 2});
}

TEST_F(EinsumTest, OuterProductsAndLettersOfOneOperand) {
  ExpectDefined("i", "j", "ij", {3}, {2});
  ExpectDefined("i", "i", "", {3}, {3});
  ExpectDefined("ij", "kj", "k", {2, 3}, {2, 3});
  ExpectDefined("bi", "bi", "bi", {2, 3}, {2, 3});
}

TEST_F(EinsumTest, OneOperandIsSummedAndTransposed) {
  const Tensor x = Constant({2, 3}, {1.f, 2.f, 3.f, 4.f, 5.f, 6.f});
  EXPECT_EQ(
      Compare(*Eval(Einsum("ij->ji", {x})), Array::Of<float>({3, 2}, {1, 4, 2, 5, 3, 6})).report,
      "");
  EXPECT_EQ(Compare(*Eval(Einsum("ij->j", {x})), Array::Of<float>({3}, {5, 7, 9})).report, "");
}

TEST_F(EinsumTest, ThreeOperandsAreCombinedFromTheLeft) {
  const Array a = Scrambled({2, 3}, -1, 1), b = Scrambled({3, 4}, -1, 1),
              c = Scrambled({4, 2}, -1, 1);
  const Array ab = Defined("ij", "jk", "ik", a, b);
  const Array expected = Defined("ik", "kl", "li", ab, c);
  const Tensor result = Einsum("ij,jk,kl->li", {Constant(a), Constant(b), Constant(c)});
  EXPECT_EQ(Compare(*Eval(result), expected, {.relative = 1e-12, .absolute = 1e-12}).report, "");
}

TEST_F(EinsumTest, EllipsisStandsForLeadingAxesThatBroadcast) {
  const Array a = Scrambled({2, 1, 2, 3}, -1, 1), b = Scrambled({2, 3, 2}, -1, 1);
  const auto fn = [](const std::vector<Tensor>& in) { return Einsum("...ij,...jk->...ik", in); };
  const Array actual = *Eval(fn({Constant(a), Constant(b)}));
  ASSERT_EQ(actual.shape(), (Shape{2, 2, 2, 2}));
  for (int64_t p = 0; p < 2; ++p) {
    for (int64_t q = 0; q < 2; ++q) {
      EXPECT_EQ(Compare(actual.Row(p).Row(q), Defined("ij", "jk", "ik", a.Row(p).Row(0), b.Row(q)),
                        {.relative = 1e-12, .absolute = 1e-12})
                    .report,
                "");
    }
  }
  EXPECT_EQ(CheckGradients(fn, {a, b}), absl::OkStatus());
}

TEST_F(EinsumTest, ALetterTwiceTakesTheDiagonal) {
  const Tensor x = Constant({2, 2}, {1.0, 2.0, 3.0, 4.0});
  EXPECT_EQ(Compare(*Eval(Einsum("ii->i", {x})), Array::Of<double>({2}, {1, 4})).report, "");
  EXPECT_EQ(Compare(*Eval(Einsum("ii", {x})), Array::Scalar(5.0)).report, "");
  EXPECT_EQ(CheckGradients([](const std::vector<Tensor>& in) { return Einsum("ijij,jk->ki", in); },
                           {Scrambled({2, 3, 2, 3}, -1, 1), Scrambled({3, 2}, -1, 1)}),
            absl::OkStatus());
}

TEST_F(EinsumTest, WithoutAnArrowLettersThatOccurOnceAreKeptInOrder) {
  EXPECT_EQ(Einsum("zj,ja", {Ones({2, 3}), Ones({3, 4})}).shape(), (Shape{4, 2}));
}

TEST_F(EinsumTest, ALetterWithTwoSizesIsAnErrorNamingIt) {
  EXPECT_FALSE(Einsum("ij,jk->ik", {Ones({2, 3}), Ones({4, 5})}).valid());
  EXPECT_THAT(graph_.status(),
              ErrorIs("einsum: equation 'ij,jk->ik': 'j' is 3 and 4 (operand 1 is f32 [4,5])"));
}

TEST_F(EinsumTest, MalformedEquationsAreErrors) {
  const std::vector<std::pair<std::string, std::vector<Tensor>>> bad = {
      {"ij->ij->i", {Ones({2, 2})}}, {"ij", {Ones({2})}},   {"ij,jk->ik", {Ones({2, 2})}},
      {"i->ii", {Ones({2})}},        {"i->k", {Ones({2})}}, {"i+->i", {Ones({2, 2})}},
  };
  for (const auto& [equation, inputs] : bad) {
    Graph graph;
    GraphScope scope(graph);
    std::vector<Tensor> mine;
    for (const Tensor& input : inputs) mine.push_back(Ones(input.shape()));
    EXPECT_FALSE(Einsum(equation, mine).valid()) << equation;
    EXPECT_THAT(graph.status(), StatusIs(absl::StatusCode::kInvalidArgument)) << equation;
  }
}

TEST_F(EinsumTest, TensordotSumsPairsOfAxes) {
  const Array a = Scrambled({2, 3, 4}, -1, 1), b = Scrambled({4, 3, 2}, -1, 1);
  const auto fn = [](const std::vector<Tensor>& in) {
    return Tensordot(in[0], in[1], {1, -1}, {1, 0});
  };
  EXPECT_EQ(Compare(*Eval(fn({Constant(a), Constant(b)})), Defined("ijk", "kjl", "il", a, b),
                    {.relative = 1e-12, .absolute = 1e-12})
                .report,
            "");
  EXPECT_EQ(CheckGradients(fn, {a, b}), absl::OkStatus());
}

TEST_F(EinsumTest, TensordotWithANumberOfAxesIsAMatrixOrOuterProduct) {
  EXPECT_EQ(Tensordot(Ones({2, 3, 4}), Ones({4, 5}), 1).shape(), (Shape{2, 3, 5}));
  EXPECT_EQ(Tensordot(Ones({2, 3}), Ones({4}), 0).shape(), (Shape{2, 3, 4}));
  EXPECT_FALSE(Tensordot(Ones({2, 3}), Ones({4}), 1).valid());
  EXPECT_THAT(
      graph_.status(),
      ErrorIs(
          "Tensordot_2: axis 1 of a has 3 elements, axis 0 of b has 4 (f32 [2,3] and f32 [4])"));
}

}  // namespace
}  // namespace estimator
