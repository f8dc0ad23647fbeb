#include "estimator/export/any_batch/batch_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/export/testing/analyzed.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

using testing::Analyzed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = BatchConstant::Kind;

Array Ones3(int64_t rows) {
  Array ones(DType::kFloat32, {rows, 3});
  for (float& value : ones.values<float>()) value = 1;
  return ones;
}

TEST(BatchAnalysisTest, SizesThatFollowTheBatchAreUnknown) {
  const Analyzed model([](const Tensor& x) { return Exp(x); });
  EXPECT_THAT(model.analysis.obstacles, IsEmpty());
  EXPECT_EQ(model.analysis.ShapeOf(model.y).ToString(), "[?,4]");
  EXPECT_EQ(model.analysis.batch_placeholder, "x");
  EXPECT_EQ(model.analysis.batch_axis, 0);
}

TEST(BatchAnalysisTest, TheOneVaryingSizeOfAReshapeBecomesMinusOne) {
  const Analyzed model([](const Tensor& x) { return Reshape(x, {2 * x.dim(0), 2}, "reshape"); });
  EXPECT_THAT(model.analysis.obstacles, IsEmpty());
  ASSERT_EQ(model.analysis.constants.size(), 1u);
  const auto& [name, constant] = *model.analysis.constants.begin();
  EXPECT_EQ(name, "reshape/shape");
  EXPECT_EQ(constant.kind, Kind::kReshape);
  EXPECT_EQ(constant.index, 0);
}

TEST(BatchAnalysisTest, AReshapeToGroupsOfRowsDivides) {
  const Analyzed model(
      [](const Tensor& x) {
        return Reshape(x, {x.dim(0) / 4, 16}, "groups");
      },
      {8, 16, 40});
  EXPECT_THAT(model.analysis.obstacles, IsEmpty());
  const BatchConstant& constant = model.analysis.constants.at("groups/shape");
  EXPECT_EQ(constant.kind, Kind::kReshape);
  EXPECT_EQ(constant.divisor, 4);
  EXPECT_EQ(constant.slope.scalar<int64_t>(), 1);
  EXPECT_EQ(constant.intercept.scalar<int64_t>(), 0);
}

TEST(BatchAnalysisTest, AnotherSizeThatDividesIsAnObstacle) {
  const Analyzed model(
      [](const Tensor& x) {
        return AddN({ReduceSum(Fill({x.dim(0) / 4}, Constant(1.0f))), ReduceSum(x)});
      },
      {8, 16, 40});
  EXPECT_THAT(model.analysis.obstacles,
              ElementsAre(HasSubstr("holds values that depend on the batch size")));
}

TEST(BatchAnalysisTest, AnotherInputOfTheSameNodeIsAnObstacle) {
  const Analyzed model([](const Tensor& x) {
    const Tensor a = Exp(x, "a"), b = Negate(x, "b");
    return AddN({Square(x.dim(0) > 3 ? b : a, "square"), a, b});
  });
  EXPECT_THAT(model.analysis.obstacles,
              ElementsAre("'square' (Square) takes 'b:0' at batch size 5 and 'a:0' at 2"));
}

TEST(BatchAnalysisTest, OtherSizesAreLinesOverTheBatch) {
  const Analyzed model([](const Tensor& x) {
    const Tensor rows = Fill({x.dim(0) + 3, 2 * x.dim(0)}, Constant(1.0f), "rows");
    return AddN({ReduceSum(rows), ReduceSum(x)});
  });
  EXPECT_THAT(model.analysis.obstacles, IsEmpty());
  const BatchConstant& dims = model.analysis.constants.at("rows/dims");
  EXPECT_EQ(dims.kind, Kind::kAffine);
  EXPECT_THAT(dims.slope.values<int32_t>(), ElementsAre(1, 2));
  EXPECT_THAT(dims.intercept.values<int32_t>(), ElementsAre(3, 0));
}

TEST(BatchAnalysisTest, AReshapeWithTwoVaryingSizesIsComputed) {
  const Analyzed model([](const Tensor& x) {
    return Reshape(Tile(x, {x.dim(0), 1}), {x.dim(0), x.dim(0), 4}, "square");
  });
  EXPECT_THAT(model.analysis.obstacles, IsEmpty());
  EXPECT_EQ(model.analysis.constants.at("square/shape").kind, Kind::kAffine);
  EXPECT_EQ(model.analysis.ShapeOf(model.y).ToString(), "[?,?,4]");
}

TEST(BatchAnalysisTest, AReshapeThatHasAMinusOneKeepsIt) {
  const Analyzed model([](const Tensor& x) { return Reshape(x, {x.dim(0), -1}, "flat"); });
  EXPECT_THAT(model.analysis.obstacles, IsEmpty());
  EXPECT_EQ(model.analysis.constants.at("flat/shape").kind, Kind::kAffine);
}

TEST(BatchAnalysisTest, ConstantsOfOneValueAreFilled) {
  const Analyzed model([](const Tensor& x) {
    return Concat({x, Constant(Ones3(x.dim(0)), "ones")}, 1);
  });
  EXPECT_THAT(model.analysis.obstacles, IsEmpty());
  const BatchConstant& ones = model.analysis.constants.at("ones");
  EXPECT_EQ(ones.kind, Kind::kFill);
  EXPECT_EQ(ones.value.scalar<float>(), 1);
  EXPECT_THAT(ones.slope.values<int32_t>(), ElementsAre(1, 0));
  EXPECT_THAT(ones.intercept.values<int32_t>(), ElementsAre(0, 3));
}

TEST(BatchAnalysisTest, WithoutAPlaceholderOfTheBatchThereIsNothingToComputeSizesFrom) {
  const Analyzed model([](const Tensor& x) { return Fill({x.dim(0)}, Constant(1.0f)); });
  EXPECT_THAT(model.analysis.obstacles,
              ElementsAre(HasSubstr("but no placeholder has a dimension of that size")));
}

TEST(BatchAnalysisTest, ACountOfTheRowsIsComputedInFloatingPointToo) {
  const Analyzed model([](const Tensor& x) {
    return Divide(ReduceSum(x), Constant(4.0f * static_cast<float>(x.dim(0)), "count"));
  });
  EXPECT_THAT(model.analysis.obstacles, IsEmpty());
  EXPECT_EQ(model.analysis.constants.at("count").slope.scalar<float>(), 4);
}

TEST(BatchAnalysisTest, NumbersThatDependOnTheBatchAreObstacles) {
  const Analyzed model(
      [](const Tensor& x) { return Multiply(x, 1.0 / static_cast<double>(x.dim(0))); });
  EXPECT_THAT(model.analysis.obstacles,
              ElementsAre(HasSubstr("holds values that depend on the batch size")));
}

TEST(BatchAnalysisTest, GrowthThatIsNotLinearIsAnObstacle) {
  const Analyzed model([](const Tensor& x) {
    return AddN({ReduceSum(Fill({x.dim(0) * x.dim(0)}, Constant(1.0f))), ReduceSum(x)});
  });
  EXPECT_THAT(model.analysis.obstacles,
              ElementsAre(HasSubstr("holds values that depend on the batch size")));
}

TEST(BatchAnalysisTest, ALoopOverTheRowsIsAnObstacle) {
  const Analyzed model([](const Tensor& x) {
    Tensor sum = x;
    for (int64_t i = 0; i < x.dim(0); ++i) sum = sum + x;
    return sum;
  });
  EXPECT_THAT(model.analysis.obstacles,
              ElementsAre(HasSubstr(
                  "other nodes at batch size 3 than at 2: 'add_2:0' for 'add_1:0' as y")));
}

TEST(BatchAnalysisTest, AttributesThatFollowTheBatchAreObstacles) {
  const Analyzed model([](const Tensor& x) { return Unstack(x, 0)[0]; });
  EXPECT_THAT(model.analysis.obstacles.size(), 1u);
}

TEST(BatchAnalysisTest, NodesThatTheRootsDoNotNeedDoNotCount) {
  const Analyzed model([](const Tensor& x) {
    Multiply(x, 1.0 / static_cast<double>(x.dim(0)));
    return Exp(x);
  });
  EXPECT_THAT(model.analysis.obstacles, IsEmpty());
}

}  // namespace
}  // namespace estimator
