#include "estimator/training/input/host_positions.h"

#include <functional>
#include <memory>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/data/pipeline/dataset.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

Dataset OfHost(int hosts, int host, int64_t batch) {
  return Dataset::Range(0, 60)
      .Shuffle(60, {.seed = 1})
      .Repeat()
      .Shard(hosts, host, batch)
      .Map([](const Element& element) { return element; })
      .Batch(batch, {.drop_remainder = true});
}

// The positions of all hosts after so many batches.
std::vector<std::string> After(int hosts, int batches,
                               const std::function<Dataset(int host)>& dataset) {
  std::vector<std::string> positions;
  for (int host = 0; host < hosts; ++host) {
    const std::unique_ptr<Iterator> iterator = *dataset(host).MakeIterator();
    for (int i = 0; i < batches; ++i) EST_EXPECT_OK(iterator->Next());
    positions.push_back(*iterator->SaveState());
  }
  return positions;
}

TEST(HostPositions, AreJoinedAndSplit) {
  const auto two = After(2, 3, [](int host) { return OfHost(2, host, 4); });
  EST_ASSERT_OK_AND_ASSIGN(const auto split, SplitHostPositions(JoinHostPositions(two)));
  EXPECT_EQ(split, two);
  EXPECT_EQ(JoinHostPositions({two[0]}), two[0]) << "that of one process is its own";
  EST_ASSERT_OK_AND_ASSIGN(const auto one, SplitHostPositions(two[0]));
  EXPECT_EQ(one, std::vector<std::string>{two[0]});
  std::string damaged = JoinHostPositions(two);
  damaged[20] ^= 1;
  EXPECT_THAT(SplitHostPositions(damaged), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(BatchesBefore, IsTheSameNumberOfExamplesForOtherHosts) {
  const auto two = After(2, 6, [](int host) { return OfHost(2, host, 4); });  // 48 examples
  EXPECT_EQ(BatchesBefore(two, OfHost(4, 0, 2).Describe(), 4).value_or(-1), 6);
  EXPECT_EQ(BatchesBefore(two, OfHost(1, 0, 8).Describe(), 1).value_or(-1), 6);
  EXPECT_EQ(BatchesBefore(two, OfHost(3, 0, 4).Prefetch(2).Describe(), 3).value_or(-1), 4);
  const auto one = After(1, 6, [](int) { return OfHost(1, 0, 8).Prefetch(2); });
  EXPECT_EQ(BatchesBefore(one, OfHost(2, 0, 4).Describe(), 2).value_or(-1), 6);
  // With PER_HOST_V2, a host reads several batches for a step.
  EXPECT_EQ(BatchesBefore(two, OfHost(1, 0, 4).Describe(), 1).value_or(-1), 12);
}

TEST(BatchesBefore, AMapThatDrawsNumbersIsAMap) {
  const auto of_host = [](int hosts, int host, int64_t batch) {
    return Dataset::Range(0, 60)
        .Shuffle(30)
        .Repeat()
        .Shard(hosts, host, batch)
        .Map([](const Element& element, RandomStream&) { return element; })
        .Batch(batch);
  };
  const auto two = After(2, 6, [&](int host) { return of_host(2, host, 4); });
  EXPECT_EQ(BatchesBefore(two, of_host(4, 0, 2).Describe(), 4).value_or(-1), 6);
}

TEST(BatchesBefore, SaysWhyItIsNotKnown) {
  const auto by_host = [](int host) {
    return Dataset::Range(0, 60).Shard(2, host).Shuffle(30).Repeat().Batch(4);
  };
  EXPECT_THAT(BatchesBefore(After(2, 3, by_host), by_host(0).Describe(), 4),
              ErrorHas("no Shard(context.num_hosts"));
  const auto two = After(2, 5, [](int host) { return OfHost(2, host, 4); });
  EXPECT_THAT(BatchesBefore(two, OfHost(3, 0, 4).Describe(), 3),
              ErrorHas("the 40 examples before it are no whole batches of 3 processes"));
  EXPECT_THAT(
      BatchesBefore(two, OfHost(4, 0, 2).Map([](const Element& e) { return e; }).Describe(), 4),
      ErrorHas("does not end with Batch"));
  EXPECT_THAT(BatchesBefore(two, Dataset::Range(0, 60).Shard(4, 0, 2).Batch(2).Describe(), 4),
              ErrorHas("the input is another one"));
}

}  // namespace
}  // namespace estimator
