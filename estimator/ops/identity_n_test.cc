#include "estimator/ops/identity_n.h"

#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::Doubles;
using ::testing::ElementsAre;
using IdentityNTest = GraphTest;

TEST_F(IdentityNTest, CopiesEachTensor) {
  const std::vector<Tensor> copies = IdentityN({Constant({1.f, 2.f}), Constant({7})});
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_THAT(Doubles(copies[0]), ElementsAre(1, 2));
  EXPECT_THAT(Doubles(copies[1]), ElementsAre(7));
  EXPECT_EQ(copies[1].dtype(), DType::kInt32);
}

TEST_F(IdentityNTest, PassesEachGradient) {
  const absl::Status status = testing::CheckGradients(
      [](const std::vector<Tensor>& x) {
        const std::vector<Tensor> y = IdentityN({x[0], x[1]});
        return y[0] * y[0] * y[1];
      },
      {Array::Scalar(3.0), Array::Scalar(2.0)});
  EXPECT_EQ(status, absl::OkStatus());
}

}  // namespace
}  // namespace estimator
