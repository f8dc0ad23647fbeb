#include "estimator/data/transforms/row_stacker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/data/pipeline/rows.h"

namespace estimator {
namespace {

std::string Nth(size_t i) { return absl::StrCat("row ", i); }

Element RowNumber(int i) {
  return {.features = {{"x", Array::Of<float>({2}, {static_cast<float>(i), 0.5f})},
                       {"s", Array::String(std::string(100, static_cast<char>('a' + i)))}},
          .labels = Array::Scalar<int32_t>(i)};
}

void ExpectEqual(const Element& batch, const Element& expected) {
  for (const auto map : {&Element::features, &Element::labels}) {
    ASSERT_EQ((batch.*map).size(), (expected.*map).size());
    for (const auto& [name, array] : expected.*map) {
      EXPECT_TRUE(SameBits((batch.*map).at(name), array)) << name;
    }
  }
}

TEST(RowStacker, MakesTheBatchOfStackRowsInAnyOrder) {
  std::vector<Element> rows;
  for (int i = 0; i < 5; ++i) rows.push_back(RowNumber(i));
  const Element expected = StackRows(rows, Nth).value();
  RowStacker stacker(5);
  for (const int i : {3, 0, 4, 1, 2}) stacker.Add(i, RowNumber(i));
  ExpectEqual(stacker.Finish(5, Nth).value(), expected);
}

TEST(RowStacker, ABatchMayHaveFewerRows) {
  RowStacker stacker(1000);
  for (int i = 0; i < 3; ++i) stacker.Add(i, RowNumber(i));
  const Element batch = stacker.Finish(3, Nth).value();
  EXPECT_EQ(batch.features.at("x").shape(), Shape({3, 2}));
  ExpectEqual(batch, StackRows(std::vector{RowNumber(0), RowNumber(1), RowNumber(2)}, Nth).value());
}

TEST(RowStacker, DoesNotAllocateForRowsThatMayNotCome) {
  RowStacker stacker(int64_t{1} << 60);
  for (int i = 0; i < 2; ++i) stacker.Add(i, RowNumber(i));
  ExpectEqual(stacker.Finish(2, Nth).value(),
              StackRows(std::vector{RowNumber(0), RowNumber(1)}, Nth).value());
}

TEST(RowStacker, TakesNothingFromARow) {
  const Element kept = RowNumber(1);
  RowStacker stacker(2);
  stacker.Add(0, kept);
  stacker.Add(1, kept);
  const Element batch = stacker.Finish(2, Nth).value();
  EXPECT_EQ(kept.features.at("s").scalar<std::string>(), std::string(100, 'b'));
  EXPECT_EQ(batch.features.at("s").values<std::string>()[1], std::string(100, 'b'));
}

TEST(RowStacker, NamesWhatDiffersAsStackRowsDoes) {
  Element other_shape = RowNumber(2);
  other_shape.features["x"] = Array(DType::kFloat32, {3});
  Element other_dtype = RowNumber(2);
  other_dtype.labels[""] = Array::Scalar<int64_t>(1);
  Element more = RowNumber(2);
  more.features["y"] = Array::Scalar<float>(1);
  Element fewer = RowNumber(2);
  fewer.features.erase("s");
  for (const Element& odd : {other_shape, other_dtype, more, fewer}) {
    for (const std::vector<int>& order : std::vector<std::vector<int>>{{0, 1, 2}, {2, 1, 0}}) {
      const std::vector<Element> rows = {RowNumber(0), RowNumber(1), odd};
      RowStacker stacker(3);
      for (const int i : order) stacker.Add(i, rows[static_cast<size_t>(i)]);
      EXPECT_EQ(stacker.Finish(3, Nth).status(), StackRows(rows, Nth).status());
    }
  }
}

TEST(RowStacker, ThreadsAddRowsAtTheSameTime) {
  constexpr int kThreads = 4, kRows = 32;
  std::vector<Element> rows;
  for (int i = 0; i < kRows; ++i) rows.push_back(RowNumber(i % 20));
  RowStacker stacker(kRows);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < kRows; i += kThreads) stacker.Add(i, RowNumber(i % 20));
    });
  }
  for (std::thread& thread : threads) thread.join();
  ExpectEqual(stacker.Finish(kRows, Nth).value(), StackRows(rows, Nth).value());
}

}  // namespace
}  // namespace estimator
