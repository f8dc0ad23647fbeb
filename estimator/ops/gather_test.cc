#include "estimator/ops/gather.h"

#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Doubles;
using ::testing::ElementsAre;
using testing::ErrorOf;
using testing::Eval;
using ::testing::HasSubstr;
using testing::Scrambled;
using Inputs = std::vector<Tensor>;

using GatherTest = GraphTest;
using GatherNdTest = GraphTest;
using ScatterNdTest = GraphTest;
using UnsortedSegmentSumTest = GraphTest;
using OneHotTest = GraphTest;
using SequenceMaskTest = GraphTest;

TEST_F(GatherTest, TakesSlicesAlongAnAxis) {
  const Tensor params = Constant({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Doubles(Gather(params, Constant({2, 0, 2}))), ElementsAre(5, 6, 1, 2, 5, 6));
  EXPECT_THAT(Doubles(Gather(params, Constant({1}), {.axis = 1})), ElementsAre(2, 4, 6));
  EXPECT_EQ(Gather(params, Zeros({2, 5}, DType::kInt64), {.axis = -1}).shape(), (Shape{3, 2, 5}));
  EXPECT_EQ(Gather(params, Constant(1)).shape(), Shape{2});
  EXPECT_THAT(ErrorOf([] { Gather(Zeros({2}), Constant(1.0f)); }), HasSubstr("int32 or int64"));
  EXPECT_THAT(ErrorOf([] { Gather(Zeros({2}), Constant(1), {.axis = 1}); }), HasSubstr("axis 1"));
}

TEST_F(GatherTest, EveryBatchHasItsOwnIndices) {
  const Tensor params = Constant({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Doubles(Gather(params, Constant({2, 2}, {2, 0, 1, 1}), {.axis = 1, .batch_dims = 1})),
              ElementsAre(3, 1, 5, 5));
  EXPECT_THAT(ErrorOf([] {
                Gather(Zeros({2, 3}), Zeros({4, 2}, DType::kInt32), {.axis = 1, .batch_dims = 1});
              }),
              HasSubstr("batch_dims 1 of indices [4,2] and params [2,3]"));
}

TEST_F(GatherTest, NamesTheIndexThatIsOutOfRange) {
  const absl::Status status = Eval(Gather(Constant({1, 2}), Constant({0, 2}))).status();
  EXPECT_THAT(status, ErrorHas("indices[1] = 2 is not in [0, 2)"));
}

TEST_F(GatherNdTest, ReadsByRowsOfIndices) {
  const Tensor params = Constant({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(Doubles(GatherNd(params, Constant({2, 2}, {1, 0, 0, 1}))), ElementsAre(3, 2));
  EXPECT_THAT(Doubles(GatherNd(params, Constant({1, 1}, {1}))), ElementsAre(3, 4));
  EXPECT_FALSE(Eval(GatherNd(params, Constant({1, 1}, {2}))).ok());
  EXPECT_THAT(ErrorOf([] { GatherNd(Zeros({2}), Constant({1, 2}, {0, 0})); }), HasSubstr("rank"));
}

TEST_F(ScatterNdTest, AddsWhereIndicesRepeat) {
  EXPECT_THAT(Doubles(ScatterNd(Constant({3, 1}, {0, 2, 0}), Constant({1, 2, 3}), {4})),
              ElementsAre(4, 0, 2, 0));
  EXPECT_THAT(Doubles(ScatterNd(Constant({1, 1}, {1}), Constant({1, 2}, {5, 6}), {2, 2})),
              ElementsAre(0, 0, 5, 6));
  EXPECT_THAT(ErrorOf([] {
                ScatterNd(Constant({1, 1}, {1}), Zeros({1, 3}), {2, 2});
              }),
              HasSubstr("take [1,2]"));
}

// TensorFlow refuses a graph in which the two differ.
TEST_F(ScatterNdTest, HasAShapeOfTheDTypeOfTheIndices) {
  const auto dtype_of_shape = [](const Tensor& indices) {
    return ScatterNd(indices, Constant({1}), {4}).node()->input(2).dtype();
  };
  EXPECT_EQ(dtype_of_shape(Constant(Array::Of<int64_t>({1, 1}, {0}))), DType::kInt64);
  EXPECT_EQ(dtype_of_shape(Constant({1, 1}, {0})), DType::kInt32);
}

TEST_F(UnsortedSegmentSumTest, AddsRowsAndDropsNegativeIds) {
  const Tensor data = Constant({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Doubles(UnsortedSegmentSum(data, Constant({1, -1, 1}), 2)), ElementsAre(0, 0, 6, 8));
  EXPECT_FALSE(Eval(UnsortedSegmentSum(data, Constant({0, 0, 2}), 2)).ok());
  EXPECT_THAT(ErrorOf([] {
                UnsortedSegmentSum(Zeros({3, 2}), Constant({1, 2}), 2);
              }),
              HasSubstr("prefix"));
}

TEST_F(OneHotTest, MarksTheIndex) {
  EXPECT_THAT(Doubles(OneHot(Constant({1, -1, 3}), 3)), ElementsAre(0, 1, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(Doubles(OneHot(Constant({0, 1}), 2,
                             {.on_value = 5, .off_value = -1, .axis = 0, .dtype = DType::kInt32})),
              ElementsAre(5, -1, -1, 5));
  EXPECT_EQ(OneHot(Zeros({4, 5}, DType::kInt64), 3).spec().ToString(), "f32 [4,5,3]");
  EXPECT_THAT(ErrorOf([] { OneHot(Constant({1.0f}), 3); }), HasSubstr("int32 or int64"));
}

TEST_F(SequenceMaskTest, IsTrueBeforeTheLength) {
  const Tensor mask = SequenceMask(Constant({1, 3, 0}), 3);
  EXPECT_EQ(mask.spec().ToString(), "bool [3,3]");
  EXPECT_THAT(Doubles(mask), ElementsAre(1, 0, 0, 1, 1, 1, 0, 0, 0));
  EXPECT_THAT(ErrorOf([] { SequenceMask(Constant({1.0f}), 3); }), HasSubstr("integers"));
}

TEST(Gathering, GradientsMatchFiniteDifferences) {
  const Array x = Scrambled({3, 2, 2}, -1, 1);
  const std::vector<testing::TensorFn> builds = {
      [](const Inputs& in) {
        return Gather(in[0], Constant({2, 0, 2}));
      },
      [](const Inputs& in) {
        return Gather(in[0], Constant({2, 2}, {1, 0, 1, 1}), {.axis = 1});
      },
      [](const Inputs& in) {
        return Gather(in[0], Constant({1, 0, 1}), {.axis = -1});
      },
      [](const Inputs& in) { return Gather(in[0], Constant(1), {.axis = 1}); },
      [](const Inputs& in) {
        return Gather(in[0], Constant({3, 2}, {1, 0, 1, 1, 0, 0}), {.axis = 2, .batch_dims = 1});
      },
      [](const Inputs& in) {
        return TensorScatterUpdate(in[0], Constant({1, 1}, {1}), Ones({1, 2, 2}, in[0].dtype()));
      },
      [](const Inputs& in) {
        return UnsortedSegmentMax(in[0], Constant({1, -1, 0}), 2);
      },
      [](const Inputs& in) {
        return GatherNd(in[0], Constant({3, 2}, {0, 1, 2, 0, 0, 1}));
      },
      [](const Inputs& in) {
        return ScatterNd(Constant({3, 1}, {1, 1, 0}), in[0], {4, 2, 2});
      },
      [](const Inputs& in) {
        return UnsortedSegmentSum(in[0], Constant({1, -1, 0}), 3);
      },
      [](const Inputs& in) {
        return UnsortedSegmentSum(in[0], Constant({3, 2}, {1, 2, 0, 1, -1, 1}), 3);
      }};
  for (const auto& build : builds) EXPECT_EQ(CheckGradients(build, {x}).ToString(), "OK");
}

}  // namespace
}  // namespace estimator
