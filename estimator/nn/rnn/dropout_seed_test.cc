#include "estimator/nn/rnn/dropout_seed.h"

#include "gtest/gtest.h"

namespace estimator::rnn_cell {
namespace {

// RFC 1321, section A.5.
TEST(Md5Hex, GivesTheDigestsOfTheStandard) {
  EXPECT_EQ(Md5Hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(Md5Hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(Md5Hex("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
            "d174ab98d277d9f5a5611c2c9f419d9f");
  EXPECT_EQ(Md5Hex("1234567890123456789012345678901234567890123456789012345678901234567890123456789"
                   "0"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

TEST(DropoutSeed, IsTensorFlowsInTimeStepZeroAndAnotherOneLater) {
  EXPECT_EQ(DropoutSeed(42, "input", 0, 0), 272342091);
  EXPECT_EQ(DropoutSeed(42, "state", 1, 0), 1749902402);
  EXPECT_NE(DropoutSeed(42, "input", 0, 1), DropoutSeed(42, "input", 0, 0));
  EXPECT_NE(DropoutSeed(42, "input", 0, 1), DropoutSeed(42, "input", 0, 2));
}

TEST(TimeStepScope, EndsWithTheStep) {
  EXPECT_EQ(TimeStepScope::Current(), 0);
  {
    const TimeStepScope step(3);
    EXPECT_EQ(TimeStepScope::Current(), 3);
  }
  EXPECT_EQ(TimeStepScope::Current(), 0);
}

}  // namespace
}  // namespace estimator::rnn_cell
