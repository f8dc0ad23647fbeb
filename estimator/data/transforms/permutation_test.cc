#include "estimator/data/transforms/permutation.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace estimator {
namespace {

TEST(Permutation, HasEveryIndexOnce) {
  for (const int64_t size : {int64_t{1}, int64_t{2}, int64_t{1000}, Permutation::kTableSize + 3}) {
    Permutation permutation(5, size);
    std::vector<bool> seen(static_cast<size_t>(size), false);
    for (int64_t i = 0; i < size; ++i) {
      const auto at = static_cast<size_t>(permutation.At(i));
      ASSERT_LT(at, seen.size());
      ASSERT_FALSE(seen[at]) << "index " << at << " comes twice";
      seen[at] = true;
    }
  }
}

TEST(Permutation, SmallOnesAreAllEquallyLikely) {
  std::map<std::vector<int64_t>, int> counts;
  constexpr int kDraws = 24000;
  for (uint64_t key = 0; key < kDraws; ++key) {
    Permutation p(key, 4);
    ++counts[{p.At(0), p.At(1), p.At(2), p.At(3)}];
  }
  ASSERT_EQ(counts.size(), 24u);
  // 1000 expected each; 150 is more than four standard deviations (31).
  for (const auto& [permutation, count] : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(Permutation, LargeOnesMoveNeighboursApart) {
  const int64_t size = int64_t{1} << 40;
  Permutation permutation(7, size);
  double sum = 0;
  int ascents = 0;
  constexpr int kSamples = 4000;
  for (int64_t i = 0; i < kSamples; ++i) {
    sum += static_cast<double>(permutation.At(i)) / static_cast<double>(size);
    if (permutation.At(i) < permutation.At(i + 1)) ++ascents;
  }
  EXPECT_NEAR(sum / kSamples, 0.5, 0.03);  // six standard deviations (0.0046)
  EXPECT_NEAR(ascents, kSamples / 2, 150);
}

TEST(Permutation, KeysDiffer) {
  Permutation a(1, 1000), b(2, 1000);
  int equal = 0;
  for (int64_t i = 0; i < 1000; ++i) equal += a.At(i) == b.At(i);
  EXPECT_LT(equal, 15);
}

}  // namespace
}  // namespace estimator
