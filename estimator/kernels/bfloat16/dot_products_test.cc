#include "estimator/kernels/bfloat16/dot_products.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "estimator/base/cpu/cpu_isa.h"

namespace estimator::bfloat16 {
namespace {

constexpr int64_t kSteps = 5, kRows = 32, kColumns = 32;
// Numbers between the beginnings of rows and of panels, not multiples of 32 for the rows of taps.
constexpr int64_t kDistance = 421, kPanel = 3200;

std::vector<Bfloat16> Numbers(int64_t count, int64_t factor) {
  std::vector<Bfloat16> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.emplace_back(static_cast<float>(i * factor % 257 - 128) / 16);
  return numbers;
}

double At(const std::vector<Bfloat16>& numbers, int64_t index) {
  return static_cast<double>(static_cast<float>(numbers[static_cast<size_t>(index)]));
}

struct Operands {
  std::vector<Bfloat16> rows = Numbers(kRows * kDistance + 2 * kSteps * 32, 37);
  std::vector<Bfloat16> panels = Numbers(2 * kPanel + 2 * kSteps * 512, 53);

  // Adds the product of a step: the numbers of rows from `row` on, those of panels from `panel` on.
  void AddStep(int64_t row, int64_t panel, std::vector<double>* sums) const {
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t n = 0; n < kColumns; ++n) {
        double& sum = (*sums)[static_cast<size_t>(i * kColumns + n)];
        for (int64_t k = 0; k < 32; ++k) {
          sum += At(rows, row + i * kDistance + k) *
                 At(panels, panel + n / 16 * kPanel + k / 2 * 32 + n % 16 * 2 + k % 2);
        }
      }
    }
  }
};

// The sums of at most 480 products below 64, in another order.
void ExpectNear(const std::vector<float>& actual, const std::vector<double>& expected) {
  for (size_t i = 0; i < actual.size(); ++i)
    ASSERT_NEAR(static_cast<double>(actual[i]), expected[i], 5e-3) << "sum " << i;
}

class DotProducts : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!MayUse(CpuIsa::kAvx512Bf16)) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  }
  // The parameter: whether the products are the first ones, or are added to these.
  bool first() const { return GetParam(); }
  std::vector<float> sums_ = std::vector<float>(kRows * kColumns, 3);
  std::vector<double> expected_ = std::vector<double>(kRows * kColumns, GetParam() ? 0 : 3);
  const Operands operands_;
};

TEST_P(DotProducts, OfTilesReadRowsAtTheirOffsets) {
  const std::vector<int64_t> offsets = {0, 17, 301, 17, 96};
  MultiplyTilesByDotProducts(operands_.rows.data(), kDistance, offsets.data(),
                             operands_.panels.data(), kPanel, kSteps, first(), sums_.data());
  for (int64_t step = 0; step < kSteps; ++step)
    operands_.AddStep(offsets[static_cast<size_t>(step)], step * 512, &expected_);
  ExpectNear(sums_, expected_);
}

TEST_P(DotProducts, OfRowsReadOneStepAfterTheOther) {
  MultiplyRowsByDotProducts(operands_.rows.data(), kDistance, operands_.panels.data(), kPanel,
                            kSteps, false, first(), /*count=*/32, sums_.data());
  for (int64_t step = 0; step < kSteps; ++step)
    operands_.AddStep(step * 32, step * 512, &expected_);
  ExpectNear(sums_, expected_);
}

TEST_P(DotProducts, OfSplitRowsLeaveOutTheProductOfTheLowParts) {
  MultiplyRowsByDotProducts(operands_.rows.data(), kDistance, operands_.panels.data(), kPanel,
                            kSteps, true, first(), /*count=*/32, sums_.data());
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t row = step * 64, panel = step * 1024;
    operands_.AddStep(row, panel + 512, &expected_);
    operands_.AddStep(row, panel, &expected_);
    operands_.AddStep(row + 32, panel, &expected_);
  }
  ExpectNear(sums_, expected_);
}

TEST_P(DotProducts, OfPairsHaveTheirChannelsInOrder) {
  const std::vector<float> before = sums_;
  const std::vector<double> expected_before = expected_;
  for (const PairOrder order : {PairOrder::kPlain, PairOrder::kCopied}) {
    sums_ = before;
    expected_ = expected_before;
    MultiplyPairs(operands_.rows.data(), kPanel, order, operands_.panels.data(), kPanel, kSteps,
                  first(), sums_.data());
    for (int64_t c = 0; c < kRows; ++c) {
      // Where channel c is in the left panels.
      const int64_t left = order == PairOrder::kPlain
                               ? c / 16 * kPanel + c % 16 * 2
                               : c / 4 % 2 * kPanel + (c / 8 * 4 + c % 4) * 2;
      for (int64_t n = 0; n < kColumns; ++n) {
        const int64_t right = n / 16 * kPanel + n % 16 * 2;
        for (int64_t i = 0; i < kSteps * 32; ++i) {
          expected_[static_cast<size_t>(c * kColumns + n)] +=
              At(operands_.rows, left + i / 2 * 32 + i % 2) *
              At(operands_.panels, right + i / 2 * 32 + i % 2);
        }
      }
    }
    ExpectNear(sums_, expected_);
  }
}

INSTANTIATE_TEST_SUITE_P(FirstAndLater, DotProducts, testing::Bool());

}  // namespace
}  // namespace estimator::bfloat16
