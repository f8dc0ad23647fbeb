#include "estimator/runtime/control_flow/growing_list.h"

#include <gtest/gtest.h>

#include <cstring>

#include "estimator/array/array.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

TEST(GrowingList, KeepsItsRowsWhenItGrows) {
  GrowingList list(24);
  for (int64_t i = 0; i < 1000; ++i) {
    EST_ASSERT_OK(list.Resize(i + 1));
    std::memcpy(list.row(i), &i, sizeof(i));
  }
  EXPECT_EQ(list.rows(), 1000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(list.row(0)) % Array::kAlignment, 0u);
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(std::memcmp(list.row(i), &i, sizeof(i)), 0);
}

TEST(GrowingList, KeepsItsMemoryWhenItBecomesShorter) {
  GrowingList list(64);
  EST_ASSERT_OK(list.Resize(500));
  const char* const data = list.row(0);
  EST_ASSERT_OK(list.Resize(0));
  EST_ASSERT_OK(list.Resize(500));
  EXPECT_EQ(list.row(0), data);
}

TEST(GrowingList, RefusesMoreThanTheAvailableMemory) {
  GrowingList list(int64_t{1} << 40);
  EST_ASSERT_OK(list.Resize(0));
  const absl::Status status = list.Resize(1 << 20);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.ToString(), ::testing::HasSubstr("a list of 1048576 elements needs"));
  // Numbers of bytes that do not fit into 64 bits.
  EXPECT_FALSE(list.Resize(int64_t{1} << 60).ok());
  EXPECT_EQ(list.rows(), 0);
}

}  // namespace
}  // namespace estimator
