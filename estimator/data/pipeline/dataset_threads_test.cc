// Iterators of one Dataset run in several threads at once, each in one: what they share is the
// cache, the pool of a parallel map, and the memory of batches. For thread sanitizer above all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {
namespace {

constexpr int kThreads = 4;
constexpr int64_t kRows = 64;

// Rows of `width` int64 that hold their index; of 1 + index % 3, where `ragged`.
absl::StatusOr<Element> Row(int64_t index, bool ragged, int64_t width) {
  Array row(DType::kInt64, {ragged ? 1 + index % 3 : width});
  for (int64_t& value : row.values<int64_t>()) value = index;
  return Element{.features = std::move(row), .labels = {}};
}

Dataset Rows(bool ragged = false, int64_t width = 3) {
  return Dataset::Range(0, kRows).Map(
      [=](const Element& element) {
        return Row(element.features.Only().value().data<int64_t>()[0], ragged, width);
      },
      {.num_parallel_calls = 2});
}

// The first number of every array of one pass; an error's text.
std::string OnePass(const Dataset& dataset) {
  const auto iterator = dataset.MakeIterator();
  if (!iterator.ok()) return iterator.status().ToString();
  std::string seen;
  while (true) {
    const auto element = (*iterator)->Next();
    if (!element.ok()) return element.status().ToString();
    if (!element->has_value()) return seen;
    absl::StrAppend(&seen, (*element)->features.Only().value().data<int64_t>()[0], " ");
  }
}

void ExpectEveryThreadSeesTheSame(const Dataset& dataset) {
  std::vector<std::string> seen(kThreads);
  std::vector<std::thread> threads;
  for (std::string& text : seen)
    threads.emplace_back([&dataset, &text] { text = OnePass(dataset); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen[0].find("0 "), 0u) << seen[0];
  for (const std::string& text : seen) EXPECT_EQ(text, seen[0]);
}

TEST(DatasetThreads, AParallelMapOfAnIndexedSourceIsShared) {
  ExpectEveryThreadSeesTheSame(Rows().Batch(8));
}

TEST(DatasetThreads, AParallelMapOfAStreamIsEachIteratorsOwn) {
  const auto all = [](const Element&) -> absl::StatusOr<bool> { return true; };
  const auto same = [](const Element& element) -> absl::StatusOr<Element> { return element; };
  ExpectEveryThreadSeesTheSame(Rows().Filter(all).Map(same, {.num_parallel_calls = 3}).Batch(4));
}

TEST(DatasetThreads, ACacheOfAnIndexedSourceIsFilledByAll) {
  ExpectEveryThreadSeesTheSame(Rows().Cache().Batch(8));
}

TEST(DatasetThreads, ACacheOfRowsOfDifferentShapesIsFilledByAll) {
  ExpectEveryThreadSeesTheSame(Rows(true).Cache());
}

TEST(DatasetThreads, ACacheOfAStreamIsFilledByTheFirstWholePass) {
  const auto all = [](const Element&) -> absl::StatusOr<bool> { return true; };
  ExpectEveryThreadSeesTheSame(Rows().Filter(all).Cache().Batch(8));
}

TEST(DatasetThreads, AFileCacheIsWrittenByOneAndReadByAll) {
  const TempDir dir;
  const Dataset cached = Rows().Cache(dir.File("rows")).Batch(8);
  ExpectEveryThreadSeesTheSame(cached);
  ExpectEveryThreadSeesTheSame(cached);
}

TEST(DatasetThreads, JoinedDatasetsShareTheCheckOfTheirElements) {
  ExpectEveryThreadSeesTheSame(Dataset::Concatenate({Rows(), Rows()}).Batch(4).Unbatch());
}

TEST(DatasetThreads, LargeBatchesShareTheMemoryOfThoseThatWereDropped) {
  ExpectEveryThreadSeesTheSame(Rows(false, 2048).Cache().Batch(8).Prefetch(2));  // 128 KiB each
}

// The numbers of the next batch; "" after an error.
std::string NextBatch(Iterator& iterator) {
  const auto element = iterator.Next();
  if (!element.ok() || !element->has_value()) return "";
  return absl::StrJoin((*element)->features.Only().value().values<int64_t>(), " ");
}

TEST(DatasetThreads, AnIteratorIsSavedAndDestroyedWhileItReadsAhead) {
  const Dataset dataset = Rows().Shuffle(kRows).Repeat().Batch(8).Prefetch(4);
  std::vector<std::thread> threads;
  std::vector<std::string> seen(kThreads), expected(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 10; ++round) {
        const auto first = dataset.MakeIterator().value(), second = dataset.MakeIterator().value();
        for (int i = 0; i < 5; ++i) NextBatch(*first);
        const std::string state = first->SaveState().value();
        EST_EXPECT_OK(second->RestoreState(state));
        expected[static_cast<size_t>(t)] = NextBatch(*first);
        seen[static_cast<size_t>(t)] = NextBatch(*second);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(expected[0].empty());
  for (const std::string& text : expected) EXPECT_EQ(text, expected[0]);
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace estimator
