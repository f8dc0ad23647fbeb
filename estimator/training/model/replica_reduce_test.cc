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

TEST(ReduceReplicas, OneReplicasValueIsNotCopied) {
  const Array batch = Array::Of<float>({1, 2}, {1, 2}), count = Array::Scalar<int64_t>(7);
  EXPECT_EQ(ReduceReplicas({batch}).raw(), batch.raw());
  EXPECT_EQ(ReduceReplicas({count, Array::Scalar<int64_t>(9)}).raw(), count.raw());
}

TEST(ReduceReplicas, ACopyHasBytesOfItsOwn) {
  Array value = Array::Scalar(1.0f), count = Array::Scalar<int64_t>(7);
  const Array one = ReduceReplicasToCopy({value});
  const Array first = ReduceReplicasToCopy({count, Array::Scalar<int64_t>(9)});
  value.data<float>()[0] = 2;
  count.data<int64_t>()[0] = 8;
  EXPECT_EQ(one.scalar<float>(), 1.0f);
  EXPECT_EQ(first.scalar<int64_t>(), 7);
}

}  // namespace
}  // namespace estimator
