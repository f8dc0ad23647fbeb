#include "estimator/training/model/replica_reduce.h"

#include "gtest/gtest.h"

namespace estimator {
namespace {

TEST(ReduceReplicas, FloatingScalarsAreMeans) {
  EXPECT_EQ(ReduceReplicas({Array::Scalar(1.0f), Array::Scalar(4.0f)}).scalar<float>(), 2.5f);
}

TEST(ReduceReplicas, OtherScalarsAreReplicaZeros) {
  EXPECT_EQ(
      ReduceReplicas({Array::Scalar<int64_t>(7), Array::Scalar<int64_t>(9)}).scalar<int64_t>(), 7);
}

TEST(ReduceReplicas, BatchesAreJoinedInReplicaOrder) {
  const Array joined =
      ReduceReplicas({Array::Of<float>({1, 2}, {1, 2}), Array::Of<float>({1, 2}, {3, 4})});
  EXPECT_EQ(joined.ToString(), "[[1, 2],\n [3, 4]]");
}

TEST(ReduceReplicas, OneReplicasValueIsACopy) {
  Array value = Array::Scalar(1.0f);
  const Array result = ReduceReplicas({value});
  value.data<float>()[0] = 2;
  EXPECT_EQ(result.scalar<float>(), 1.0f);
}

}  // namespace
}  // namespace estimator
