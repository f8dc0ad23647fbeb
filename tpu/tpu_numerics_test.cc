// TPUConfig.tpu_numerics: the losses of a TPU, on replicas in this process.
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/train_fixture.h"

namespace estimator::tpu {
namespace {

using TPUNumericsTest = TPUTrainFixture;

TEST_F(TPUNumericsTest, ProductsAreRoundedOnReplicasAndOnTheCpuAlike) {
  const auto losses = [this](int num_shards, bool tpu_numerics) {
    auto options = TinyTPUOptions(Dir(), num_shards);
    options.config.tpu_config.tpu_numerics = tpu_numerics;
    return Losses(options, 5);
  };
  const std::vector<double> exact = losses(8, false), rounded = losses(8, true);
  ASSERT_EQ(exact.size(), 5u);
  EXPECT_NE(rounded, exact) << "nothing was rounded";
  // bf16 has 8 bits: a relative error of 0.004 in each operand.
  ExpectSameLosses(rounded, exact, 0.1);
  // The same products in another order of sums.
  ExpectSameLosses(losses(0, true), rounded, 0.01);
}

TEST_F(TPUNumericsTest, TheSameSeedGivesTheSameBits) {
  const auto losses = [this] {
    auto options = TinyTPUOptions(Dir(), 4);
    options.config.tpu_config.tpu_numerics = true;
    return Losses(options, 5);
  };
  EXPECT_EQ(losses(), losses());
}

}  // namespace
}  // namespace estimator::tpu
