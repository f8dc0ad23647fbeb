#include "estimator/checkpoint/bundle/part_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace estimator {
namespace {

std::vector<int64_t> Begins(const PartRows& rows) {
  std::vector<int64_t> begins;
  for (int64_t i = 0; i < rows.num_runs(); ++i) begins.push_back(rows.Begin(i));
  return begins;
}

TEST(PartRows, ASliceOfTheFirstAxisIsOneRun) {
  const PartRows rows({10, 3, 2}, {{4, 2}, {}, {}}, {2, 3, 2});
  EXPECT_EQ(rows.run(), 12);
  EXPECT_EQ(Begins(rows), (std::vector<int64_t>{24}));
}

TEST(PartRows, ASliceOfALaterAxisIsARunForEachIndexBeforeIt) {
  const PartRows rows({2, 5, 3}, {{}, {1, 2}, {}}, {2, 2, 3});
  EXPECT_EQ(rows.run(), 6);
  EXPECT_EQ(Begins(rows), (std::vector<int64_t>{3, 18}));
  const PartRows corner({3, 4}, {{1, 2}, {3, 1}}, {2, 1});
  EXPECT_EQ(corner.run(), 1);
  EXPECT_EQ(Begins(corner), (std::vector<int64_t>{7, 11}));
}

TEST(PartRows, ScalarsAreOneRunAndEmptyPartsNone) {
  EXPECT_EQ(Begins(PartRows({}, {}, {})), (std::vector<int64_t>{0}));
  EXPECT_EQ(PartRows({3, 4}, {{1, 0}, {}}, {0, 4}).num_runs(), 0);
  EXPECT_EQ(PartRows({3, 4}, {{}, {1, 0}}, {3, 0}).num_runs(), 0);
}

TEST(PartRows, FindsTheRunAtOrAfterAnElement) {
  const PartRows rows({4, 4}, {{1, 2}, {1, 2}}, {2, 2});  // elements 5 6 9 10
  EXPECT_EQ(rows.FirstRunAfter(0), 0);
  EXPECT_EQ(rows.FirstRunAfter(6), 0);
  EXPECT_EQ(rows.FirstRunAfter(7), 1);
  EXPECT_EQ(rows.FirstRunAfter(10), 1);
  EXPECT_EQ(rows.FirstRunAfter(11), 2);
}

}  // namespace
}  // namespace estimator
