#include "estimator/export/any_batch/batch_instance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/export/testing/analyzed.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/random.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

using testing::Analyzed;
using ::testing::IsEmpty;

Analyzed OfThreeSizes(const std::function<Tensor(const Tensor&)>& model) {
  Analyzed analyzed(model, {8, 16, 40});
  EXPECT_THAT(analyzed.analysis.obstacles, IsEmpty());
  return analyzed;
}

TEST(BatchInstanceTest, TheGraphOfAnotherSizeIsMadeWithoutTheModel) {
  const Analyzed model = OfThreeSizes([](const Tensor& x) {
    const int64_t n = x.dim(0);
    const Tensor groups = Tile(Reshape(x, {n / 4, 16}), {4, 1});
    return EnsureShape(Concat({groups, Ones({n, 3})}, 1), {n, 19});
  });
  const auto instance = InstantiateForBatch(model.analysis, {model.y}, 12);
  EST_ASSERT_OK(instance);
  EXPECT_EQ(instance->Of(model.y).spec().ToString(), "f32 [12,19]");
  EXPECT_EQ(instance->Of(model.y).graph(), instance->graph.get());
}

TEST(BatchInstanceTest, ASizeThatDoesNotDivideIsRefused) {
  const Analyzed model = OfThreeSizes([](const Tensor& x) {
    return Reshape(x, {x.dim(0) / 4, 16}, "groups");
  });
  EXPECT_THAT(InstantiateForBatch(model.analysis, {model.y}, 10),
              ErrorHas("the model does not take a batch of 10: 'groups/shape': one of its sizes "
                       "would be 10 / 4"));
}

TEST(BatchInstanceTest, NamesAndSeedsStay) {
  const Analyzed model = OfThreeSizes([](const Tensor& x) {
    return x + RandomUniform({x.dim(0), 4}, {.seed = 3, .name = "noise"});
  });
  const auto instance = InstantiateForBatch(model.analysis, {model.y}, 5);
  EST_ASSERT_OK(instance);
  for (const auto& [from, to] : instance->nodes) {
    EXPECT_EQ(to->name(), from->name());
    if (from->op() != "RandomUniform") continue;
    EXPECT_EQ(to->attrs().i("seed2"), from->attrs().i("seed2"));
  }
}

TEST(BatchInstanceTest, WithoutAnAnalysisItIsACopy) {
  const Analyzed model = OfThreeSizes([](const Tensor& x) { return Exp(x); });
  const auto copy = InstantiateForBatch(BatchAnalysis(), {model.y}, 3);
  EST_ASSERT_OK(copy);
  EXPECT_EQ(copy->Of(model.y).spec().ToString(), "f32 [8,4]");
}

TEST(BatchInstanceTest, LargeConstantsAreForeseen) {
  const Analyzed model = OfThreeSizes([](const Tensor& x) {
    return Concat({x, Ones({x.dim(0), 20})}, 1);
  });
  EXPECT_EQ(LargestConstantBytes(model.analysis, 1000), 1000 * 20 * 4);
}

}  // namespace
}  // namespace estimator
