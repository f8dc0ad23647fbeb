#include "estimator/data/pipeline/random_stream.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace estimator {
namespace {

TEST(RandomStream, IsPhiloxOfItsKeyAndElement) {
  RandomStream random(7, 3);
  Philox philox(7, 3);
  for (int i = 0; i < 3; ++i) {
    for (const uint32_t expected : philox.Next4()) EXPECT_EQ(random(), expected);
  }
}

TEST(RandomStream, DiffersByKeyAndByElement) {
  std::set<uint64_t> firsts;
  for (uint64_t key = 0; key < 30; ++key) {
    for (uint64_t element = 0; element < 30; ++element) {
      RandomStream random(key, element);
      const uint64_t high = random();
      firsts.insert(high << 32 | random());
    }
  }
  EXPECT_EQ(firsts.size(), 900u);
}

// A resumed run depends on these values.
TEST(RandomStream, ASeedIsTheNextFourNumbers) {
  RandomStream random(7, 3), numbers(7, 3);
  for (int call = 0; call < 3; ++call) {
    for (const int64_t part : random.NextSeed()) {
      const uint64_t high = numbers();
      EXPECT_EQ(static_cast<uint64_t>(part), high << 32 | numbers());
    }
  }
}

TEST(RandomStream, UniformHasItsRangeAndMean) {
  RandomStream random(1);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const float x = random.Uniform(-1, 3);
    ASSERT_GE(x, -1);
    ASSERT_LT(x, 3);
    sum += x;
  }
  EXPECT_NEAR(sum / 10000, 1, 0.05);  // standard error 0.012
}

TEST(RandomStream, UniformIntDrawsEveryIntegerEquallyOften) {
  RandomStream random(1);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[static_cast<size_t>(random.UniformInt(-3, 4) + 3)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);  // standard deviation 93
}

TEST(RandomStream, UniformIntTakesTheWholeRangeOfInt64) {
  RandomStream random(1);
  int num_negative = 0;
  for (int i = 0; i < 1000; ++i) num_negative += random.UniformInt(INT64_MIN, INT64_MAX) < 0;
  EXPECT_NEAR(num_negative, 500, 80);  // standard deviation 16
}

TEST(RandomStream, NormalHasMeanAndStandardDeviation) {
  RandomStream random(1);
  double sum = 0, squares = 0;
  for (int i = 0; i < 10000; ++i) {
    const double x = random.Normal(2, 3);
    sum += x;
    squares += (x - 2) * (x - 2);
  }
  EXPECT_NEAR(sum / 10000, 2, 0.15);
  EXPECT_NEAR(std::sqrt(squares / 10000), 3, 0.15);
}

TEST(RandomStream, BernoulliIsTrueThatOften) {
  RandomStream random(1);
  int count = 0, never = 0, always = 0;
  for (int i = 0; i < 10000; ++i) {
    count += random.Bernoulli(0.2);
    never += random.Bernoulli(0);
    always += random.Bernoulli(1);
  }
  EXPECT_NEAR(count, 2000, 200);  // standard deviation 40
  EXPECT_EQ(never, 0);
  EXPECT_EQ(always, 10000);
}

TEST(RandomStream, ShufflesWithTheStandardLibrary) {
  std::vector<int> order(20), sorted(20);
  std::iota(order.begin(), order.end(), 0);
  sorted = order;
  RandomStream random(1);
  std::shuffle(order.begin(), order.end(), random);
  EXPECT_NE(order, sorted);
  EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), sorted.begin()));
}

}  // namespace
}  // namespace estimator
