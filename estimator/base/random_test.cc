#include "estimator/base/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <set>

namespace estimator {
namespace {

using ::testing::ElementsAre;

constexpr uint64_t kOnes = ~uint64_t{0};

// Known answers: Random123 1.14, tests/kat_vectors, philox4x32 with 10 rounds.
TEST(PhiloxTest, AnswersZeroKeyAndCounterAsPublished) {
  EXPECT_THAT(Philox(0, 0).Next4(), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
}

TEST(PhiloxTest, AnswersAllOnesAsPublished) {
  Philox philox(kOnes, kOnes);
  philox.Skip(kOnes);
  EXPECT_THAT(philox.Next4(), ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
}

TEST(PhiloxTest, AnswersDigitsOfPiAsPublished) {
  Philox philox(0x299f31d0a4093822, 0x0370734413198a2e);
  philox.Skip(0x85a308d3243f6a88);
  EXPECT_THAT(philox.Next4(), ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(PhiloxTest, SkippingEqualsDrawing) {
  Philox drawn(7, 9), skipped(7, 9);
  for (int i = 0; i < 1000; ++i) drawn.Next4();
  skipped.Skip(1000);
  EXPECT_EQ(drawn.Next4(), skipped.Next4());
}

TEST(PhiloxTest, SkippingCarriesIntoTheHighHalf) {
  Philox low(1, 5), high(1, 6);
  low.Skip(kOnes);
  low.Skip(1);
  EXPECT_EQ(low.Next4(), high.Next4());
}

TEST(RandomTest, UniformFloatCoversZeroToBelowOneAndIgnoresTheHighBits) {
  EXPECT_EQ(UniformFloat(0), 0.0f);
  EXPECT_EQ(UniformFloat(0x00400000), 0.5f);
  EXPECT_EQ(UniformFloat(0xffc00000), 0.5f);
  EXPECT_EQ(UniformFloat(0xffffffff), 1.0f - std::ldexp(1.0f, -23));
}

TEST(RandomTest, UniformDoubleTakesTwentyBitsOverThirtyTwo) {
  EXPECT_EQ(UniformDouble(0, 0), 0.0);
  EXPECT_EQ(UniformDouble(0x80000, 0), 0.5);
  EXPECT_EQ(UniformDouble(0xfff00000, 1), std::ldexp(1.0, -52));
  EXPECT_EQ(UniformDouble(0xffffffff, 0xffffffff), 1.0 - std::ldexp(1.0, -52));
}

TEST(RandomTest, NormalPairFollowsItsFormula) {
  const float radius = std::sqrt(-2.0f * std::log(0.5f));
  EXPECT_FLOAT_EQ(NormalPair(0x400000, 0)[0], 0.0f);
  EXPECT_FLOAT_EQ(NormalPair(0x400000, 0)[1], radius);
  EXPECT_FLOAT_EQ(NormalPair(0x400000, 0x200000)[0], radius);  // a quarter turn
  EXPECT_FLOAT_EQ(NormalPair(0, 0)[1], std::sqrt(-2.0f * std::log(1.0e-7f)));
}

TEST(RandomTest, NormalNumbersHaveMeanZeroAndVarianceOne) {
  Philox philox(42);
  double sum = 0, squares = 0;
  constexpr int kResults = 25000;
  for (int i = 0; i < kResults; ++i) {
    for (const float x : Normal4(philox.Next4())) {
      sum += x;
      squares += double{x} * x;
    }
  }
  // Five standard errors of 100,000 samples.
  EXPECT_NEAR(sum / (4 * kResults), 0.0, 0.016);
  EXPECT_NEAR(squares / (4 * kResults), 1.0, 0.023);
}

TEST(RandomTest, TruncatedNormalStaysBelowTwoWithTheRightVariance) {
  const Philox base(42);
  double squares = 0;
  constexpr int kGroups = 25000;
  for (int group = 0; group < kGroups; ++group) {
    for (const float x : TruncatedNormal4(base, group)) {
      ASSERT_LT(std::abs(x), 2.0f);
      squares += double{x} * x;
    }
  }
  EXPECT_NEAR(squares / (4 * kGroups), 0.7737, 0.02);  // 1 - 4 phi(2) / (2 Phi(2) - 1)
}

TEST(RandomTest, TruncatedNormalGroupsBeginEvery256Results) {
  Philox skipped(3);
  skipped.Skip(2 * 256);
  EXPECT_EQ(TruncatedNormal4(Philox(3), 2), TruncatedNormal4(skipped, 0));
}

TEST(RandomTest, TruncatedNormalKeepsTheNormalNumbersInRangeInOrder) {
  for (uint64_t key = 0; key < 100; ++key) {
    Philox philox(key);
    const std::array<float, 4> kept = TruncatedNormal4(philox, 0);
    size_t i = 0;
    while (i < kept.size()) {
      for (const float x : Normal4(philox.Next4())) {
        if (i < kept.size() && std::abs(x) < 2.0f) {
          EXPECT_EQ(kept[i++], x);
        }
      }
    }
  }
}

TEST(RandomTest, HashSeedIsStableAndTellsItsArgumentsApart) {
  std::set<uint64_t> seen;
  for (uint64_t a = 0; a < 64; ++a) {
    for (uint64_t b = 0; b < 64; ++b) seen.insert(HashSeed(a, b));
  }
  EXPECT_EQ(seen.size(), 64u * 64u);
}

}  // namespace
}  // namespace estimator
