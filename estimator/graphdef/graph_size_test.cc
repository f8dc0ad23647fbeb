#include "estimator/graphdef/graph_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/array/array.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(GraphSize, CountsConstantsAndNamesTheLargest) {
  Graph graph;
  EXPECT_EQ(CountConstantBytes(graph).total, 0u);
  const GraphScope scope(graph);
  Constant(1.0f);
  const Tensor table = Constant(Array(DType::kFloat32, {100, 5}), "table");
  Exp(table);
  Constant(Array::Scalar<std::string>("seven b"));
  const ConstantBytes count = CountConstantBytes(graph);
  EXPECT_EQ(count.total, 4u + 2000u + 7u);
  EXPECT_EQ(count.largest, 2000u);
  EXPECT_EQ(count.largest_node, "table");
}

TEST(GraphSize, AGraphAboveTheLimitIsRefusedWithItsSizesAndTheCure) {
  Graph graph;
  const GraphScope scope(graph);
  Constant(Array(DType::kFloat32, {2048, 1024}), "table");
  EST_EXPECT_OK(CheckConstantBytes(graph, size_t{8} << 20, "the file"));
  const absl::Status status = CheckConstantBytes(graph, (size_t{8} << 20) - 1, "the file");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               AllOf(HasSubstr("8.0 MiB"), HasSubstr("the file"),
                                     HasSubstr("'table'"), HasSubstr("init_fn"),
                                     HasSubstr("checkpoint_save_graph_def = false"))));
}

}  // namespace
}  // namespace estimator
