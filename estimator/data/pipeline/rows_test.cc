#include "estimator/data/pipeline/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

std::string Nth(size_t i) { return absl::StrCat("row ", i); }

TEST(Rows, StackAddsAnAxis) {
  const std::vector<Element> rows = {
      {.features = Array::Of<float>({2}, {1, 2}), .labels = Array::String("a")},
      {.features = Array::Of<float>({2}, {3, 4}), .labels = Array::String("b")}};
  const Element batch = StackRows(rows, Nth).value();
  EXPECT_EQ(Compare(batch.features.at(""), Array::Of<float>({2, 2}, {1, 2, 3, 4})).report, "");
  EXPECT_TRUE(SameBits(batch.labels.at(""), Array::Of<std::string>({2}, {"a", "b"})));
}

TEST(Rows, StackNamesWhatDiffers) {
  const Element a{.features = {{"x", Array(DType::kFloat32, {2})}}, .labels = {}};
  const Element b{.features = {{"y", Array(DType::kFloat32, {2})}}, .labels = {}};
  const Element c{.features = {}, .labels = {}};
  const Element d{.features = {{"x", Array(DType::kInt32, {2})}}, .labels = {}};
  EXPECT_THAT(
      StackRows(std::vector{a, b}, Nth),
      ErrorIs(
          "Batch: row 1 has features[\"y\"], but row 0 in the same batch does not; every element "
          "needs the same names"));
  EXPECT_THAT(StackRows(std::vector{a, c}, Nth),
              ErrorIs("Batch: row 1 does not have features[\"x\"], but row 0 in the same batch "
                      "does; every element "
                      "needs the same names"));
  EXPECT_FALSE(StackRows(std::vector{a, d}, Nth).ok());
}

TEST(Rows, LargeBatchesReuseMemoryOnlyWhenItIsFree) {
  const Shape shape = {1 << 16};
  Array first = BatchArray(DType::kFloat32, shape);
  const void* const address = first.raw();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % Array::kAlignment, 0u);
  const Array second = BatchArray(DType::kFloat32, shape);
  EXPECT_NE(second.raw(), address);
  const Array row = first.Slice(5, 6);
  first = Array();
  EXPECT_NE(BatchArray(DType::kFloat32, shape).raw(), address) << "a slice still holds it";
}

TEST(Rows, GatherTakesRowsInAnyOrder) {
  const Element columns{.features = Array::Of<int64_t>({3, 2}, {0, 1, 2, 3, 4, 5}), .labels = {}};
  const Element batch = GatherRows(columns, {2, 0, 2});
  EXPECT_TRUE(SameBits(batch.features.at(""), Array::Of<int64_t>({3, 2}, {4, 5, 0, 1, 4, 5})));
}

}  // namespace
}  // namespace estimator
