// VectorizedMap gives what MapFn gives, op by op.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/graph/variable.h"
#include "estimator/ops/ops.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Doubles;
using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::Scrambled;

class VectorizedMapTest : public GraphTest {
 protected:
  int NumLoops() const {
    int count = 0;
    for (const auto& node : graph_.nodes()) count += node->op() == "While";
    return count;
  }
  // Both with the gradients of a weighted sum of the results.
  void ExpectAsMapFn(const std::string& what, const std::function<Tensors(const Tensors&)>& fn,
                     const Tensors& elems) {
    const int num_loops = NumLoops();
    const Tensors vectorized = VectorizedMap(fn, elems);
    ASSERT_EQ(graph_.status().ToString(), "OK") << what;
    ASSERT_EQ(NumLoops(), num_loops) << what;
    const Tensors mapped = MapFn(fn, elems);
    ASSERT_EQ(vectorized.size(), mapped.size()) << what;
    Tensors fetches;
    for (const Tensors* results : {&vectorized, &mapped}) {
      Tensors sums;
      for (const Tensor& result : *results) {
        fetches.push_back(result);
        if (!IsFloating(result.dtype())) continue;
        sums.push_back(
            ReduceSum(result * Constant(Scrambled(result.shape(), -1, 2, result.dtype()))));
      }
      for (size_t k = 0; !sums.empty() && k < elems.size(); ++k) {
        if (!IsFloating(elems[k].dtype())) continue;
        const Tensor gradient = Gradients(sums, {elems[k]})[0];
        fetches.push_back(gradient.valid() ? gradient : ZerosLike(elems[k]));
      }
    }
    const auto values = testing::EvalAll(fetches);
    ASSERT_TRUE(values.ok()) << what << ": " << values.status();
    const size_t half = fetches.size() / 2;
    for (size_t i = 0; i < half; ++i) {
      EXPECT_EQ(
          Compare((*values)[i], (*values)[half + i], {.relative = 1e-9, .absolute = 1e-9}).report,
          "")
          << what << ", result " << i;
    }
  }
};

using Functions = std::map<std::string, std::function<Tensors(const Tensors&)>>;

// Rows x [2, 4] and y [4], both different from row to row.
TEST_F(VectorizedMapTest, OpsOfRowsGiveWhatALoopGives) {
  const Tensor w = Constant(Scrambled({4, 3}, -1, 1)), bias = Constant(Scrambled({4}, -1, 1));
  const Functions functions = {
      {"elementwise",
       [&](const Tensors& r) {
         return Tensors{r[0] * r[1] + bias, Tanh(r[1]) * 2};
       }},
      {"a number of each row", [&](const Tensors& r) { return Tensors{r[0] * ReduceSum(r[1])}; }},
      {"select", [&](const Tensors& r) { return Tensors{Where(Greater(r[1], 0.0), r[0], bias)}; }},
      {"AddN",
       [&](const Tensors& r) {
         return Tensors{AddN({r[1], bias, Relu(r[1])})};
       }},
      {"reductions",
       [&](const Tensors& r) {
         return Tensors{ReduceMean(r[0], {0}), ReduceMax(r[0], {-1}, {.keepdims = true}),
                        ReduceSum(r[0])};
       }},
      {"searches",
       [&](const Tensors& r) {
         return Tensors{ArgMax(r[0], 1), ArgMin(r[0], 0)};
       }},
      {"scans",
       [&](const Tensors& r) {
         return Tensors{Cumsum(r[0], -1), Reverse(r[0], {1})};
       }},
      {"products",
       [&](const Tensors& r) {
         return Tensors{MatMul(r[0], w),
                        MatMul(w, r[0], {.transpose_a = true, .transpose_b = true}),
                        MatMul(r[0], r[0], {.transpose_b = true}),
                        MatMul(r[0], Constant(Scrambled({2, 3}, 0, 1)), {.transpose_a = true})};
       }},
      {"batched products",
       [&](const Tensors& r) {
         return Tensors{BatchMatMulV2(Reshape(r[0], {2, 2, 2}), Reshape(r[1], {2, 2}))};
       }},
      {"softmax",
       [&](const Tensors& r) {
         return Tensors{Softmax(r[0]), LogSoftmax(r[1])};
       }},
      {"cross entropy",
       [&](const Tensors& r) {
         return Tensors{SparseSoftmaxCrossEntropyWithLogits(Constant({3, 0}), r[0]),
                        SoftmaxCrossEntropyWithLogits(Softmax(r[0] * 2), r[0])};
       }},
      {"shapes",
       [&](const Tensors& r) {
         return Tensors{Reshape(r[0], {4, 2}),
                        ExpandDims(r[1], 0),
                        Squeeze(ExpandDims(r[1], -1)),
                        Transpose(r[0]),
                        BroadcastTo(r[1], {2, 4}),
                        Tile(r[0], {2, 1}),
                        Cast(ShapeOf(r[0]), DType::kFloat64)};
       }},
      {"fills",
       [&](const Tensors& r) {
         return Tensors{Fill({3}, ReduceSum(r[1])), ZerosLike(r[0]), OnesLike(r[1])};
       }},
      {"joins",
       [&](const Tensors& r) {
         return Tensors{Concat({r[0], ExpandDims(bias, 0)}, 0), Concat({r[0], r[0]}, -1),
                        Stack({r[1], bias}, 1), Stack({r[1], r[1]}, -1)};
       }},
      {"parts",
       [&](const Tensors& r) {
         Tensors parts = Split(r[0], 2, {.axis = 1});
         for (const Tensor& part : Split(r[1], std::vector<int64_t>{1, 3})) parts.push_back(part);
         for (const Tensor& part : Unstack(r[0], -1)) parts.push_back(part);
         parts.push_back(Slice(r[0], {1, 0}, {1, 2}));
         parts.push_back(StridedSlice(r[0], {Slicing::At(1), Slicing::Span(1, 4, 2)}));
         return parts;
       }},
      {"padding",
       [&](const Tensors& r) {
         return Tensors{Pad(r[0], {{1, 0}, {0, 2}})};
       }},
      {"bias",
       [&](const Tensors& r) {
         return Tensors{BiasAdd(r[0], bias), L2Loss(r[0])};
       }},
      {"gathers",
       [&](const Tensors& r) {
         const Tensor index = Cast(ArgMax(r[0], 1), DType::kInt32);
         return Tensors{Gather(r[1], index), Gather(w, index),
                        Gather(w, index - index, {.axis = 1}),
                        Gather(r[0], Constant({1, 0, 3}), {.axis = 1}), OneHot(index, 4)};
       }},
      {"nothing of the row", [&](const Tensors&) { return Tensors{bias * 2}; }},
  };
  const Tensor x = Constant(Scrambled({3, 2, 4}, -1, 1)), y = Constant(Scrambled({3, 4}, -2, 1));
  for (const auto& [what, fn] : functions) ExpectAsMapFn(what, fn, {x, y});
}

TEST_F(VectorizedMapTest, ImagesOfRowsAreOneBatch) {
  const Tensor filter = Constant(Scrambled({3, 3, 2, 3}, -1, 1));
  ExpectAsMapFn("a convolution",
                [&](const Tensors& r) {
                  const Tensor y = Relu(Conv2D(r[0], filter, {.padding = Padding::kSame}));
                  return Tensors{MaxPool(y), Gradients({ReduceSum(Square(y))}, {r[0]})[0]};
                },
                {Constant(Scrambled({3, 2, 4, 4, 2}, -1, 1))});
}

// The gradients of each example, as a private optimizer clips them.
TEST_F(VectorizedMapTest, GradientsInsideAreThoseOfOneExample) {
  const Tensor w1 = Constant(Scrambled({4, 5}, -1, 1)), b1 = Constant(Scrambled({5}, -1, 1));
  const Tensor w2 = Constant(Scrambled({5, 3}, -1, 1));
  ExpectAsMapFn("a network",
                [&](const Tensors& r) {
                  const Tensor hidden = Relu(BiasAdd(MatMul(ExpandDims(r[0], 0), w1), b1));
                  const Tensor loss = ReduceMean(
                      SparseSoftmaxCrossEntropyWithLogits(ExpandDims(r[1], 0), MatMul(hidden, w2)));
                  Tensors results = Gradients({loss}, {w1, b1, w2});
                  const Tensor norm =
                      Sqrt(AddN({ReduceSum(Square(results[0])), ReduceSum(Square(results[1]))}));
                  results.push_back(results[0] / Maximum(norm, 0.1));
                  return results;
                },
                {Constant(Scrambled({3, 4}, -1, 1)), Constant({2, 0, 1})});
}

TEST_F(VectorizedMapTest, HasGradients) {
  const auto fn = [](const Tensors& in) {
    return VectorizedMap(
        [&](const Tensor& row) { return MatMul(ExpandDims(Sin(row), 0), in[1]) * ReduceSum(row); },
        in[0]);
  };
  EXPECT_THAT(CheckGradients(fn, {Scrambled({3, 2}, -1, 1), Scrambled({2, 2}, -1, 1)}), IsOk());
}

TEST_F(VectorizedMapTest, NamesAnOpThatHasNoFormForAllRows) {
  const auto refused = [](const std::function<Tensor(const Tensor&)>& fn) {
    return ErrorOf([&fn] { VectorizedMap(fn, Constant({1.0, 2.0})); });
  };
  EXPECT_THAT(refused([](const Tensor& x) { return x + RandomUniform({}, {.dtype = x.dtype()}); }),
              HasSubstr("(RandomUniform) of the function of VectorizedMap has no form for all rows "
                        "at once; use MapFn"));
  EXPECT_THAT(refused([](const Tensor& x) {
                return WhileLoop([](const Tensors& v) { return Less(v[0], 3.0); },
                                 [](const Tensors& v) { return Tensors{v[0] * 2}; }, {x})[0];
              }),
              HasSubstr("'while' (While) of the function"));
  EXPECT_THAT(refused([](const Tensor& x) {
                const Variable w = GetVariable("w", {}, {.dtype = DType::kFloat64});
                Graph::Current().update_ops().push_back(Assign(w, x));
                return x;
              }),
              HasSubstr("updates variable 'w'; return its value, and assign it outside"));
  EXPECT_THAT(ErrorOf([] { VectorizedMap([](const Tensor& x) { return x; }, Constant(1.0)); }),
              HasSubstr("VectorizedMap: 'Const:0' is f64 []"));
}

}  // namespace
}  // namespace estimator
