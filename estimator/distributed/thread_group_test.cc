#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "estimator/base/exit_code.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/distributed/process_group.h"

namespace estimator {
namespace {

// Runs a function on each rank, each in a thread, which destroys its group at the end.
void OnRanks(int size, const std::function<void(ProcessGroup&)>& body, double timeout_secs = 30) {
  auto groups = ThreadGroups(size, timeout_secs);
  std::vector<std::thread> threads;
  for (auto& group : groups) {
    threads.emplace_back([&body, group = std::move(group)] { body(*group); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ThreadGroup, GathersAndBroadcastsInTheOrderOfRanks) {
  OnRanks(4, [](ProcessGroup& group) {
    const std::string mine(group.rank() + 1, static_cast<char>('a' + group.rank()));
    for (int round = 0; round < 50; ++round) {
      const auto sent = group.Broadcast(mine, 2);
      EST_ASSERT_OK(sent.status());
      EXPECT_EQ(*sent, "ccc");
      EXPECT_THAT(group.AllGather(mine).value(), testing::ElementsAre("a", "bb", "ccc", "dddd"));
    }
  });
}

TEST(ThreadGroup, SumsInPlaceAndInSharedBuffers) {
  OnRanks(3, [](ProcessGroup& group) {
    std::vector<float> values(1001, static_cast<float>(group.rank() + 1)), sums(1001);
    EST_ASSERT_OK(group.AllReduceSum(DType::kFloat32, values.data(), sums.data(), 1001));
    EXPECT_THAT(sums, testing::Each(6.f));
    EXPECT_THAT(values, testing::Each(static_cast<float>(group.rank() + 1)));
    EST_ASSERT_OK(group.AllReduceSum(DType::kFloat32, values.data(), values.data(), 1001));
    EXPECT_EQ(values, sums);
    const auto buffer = group.SharedBuffer(100);
    EST_ASSERT_OK(buffer.status());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(*buffer) % 64, 0u);
    auto* shared = static_cast<int64_t*>(*buffer);
    EXPECT_EQ(shared[11], 0);
    shared[0] = 10 + group.rank();
    EST_ASSERT_OK(group.AllReduceSum(DType::kInt64, shared, shared, 12));
    EXPECT_EQ(shared[0], 33);
  });
}

TEST(ThreadGroup, AgreesOnTheLargestValue) {
  OnRanks(3, [](ProcessGroup& group) {
    const auto largest = group.AllReduceMax(group.rank() == 1 ? 7 : -group.rank());
    EST_ASSERT_OK(largest.status());
    EXPECT_EQ(*largest, 7);
    EST_EXPECT_OK(group.Barrier());
  });
}

TEST(ThreadGroup, ARankThatLeavesIsAnErrorOfTheOthers) {
  OnRanks(3, [](ProcessGroup& group) {
    EST_EXPECT_OK(group.Barrier());
    if (group.rank() == 1) return;
    const absl::Status status = group.Barrier();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(status, ErrorHas("rank 1 has left the group"));
    EXPECT_EQ(group.AllReduceMax(1).status(), status);
  });
}

TEST(ThreadGroup, ARankThatGivesUpTellsTheOthersWhy) {
  OnRanks(2, [](ProcessGroup& group) {
    if (group.rank() == 1) group.Abandon("the data is damaged");
    const absl::Status status = group.Barrier();
    EXPECT_THAT(status, ErrorHas("rank 1: the data is damaged"));
    EXPECT_EQ(ExitCodeOf(status), kLostPeerExitCode);
  });
}

TEST(ThreadGroup, ARankThatDoesNotAnswerIsNamed) {
  auto groups = ThreadGroups(3, 0.01);
  const absl::Status status = groups[1]->Barrier();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(status, ErrorHas("rank 0, 2 did not answer for 0.01 s"));
  EXPECT_EQ(groups[0]->Barrier(), status);
}

TEST(SingleProcess, IsAGroupOfOne) {
  const std::unique_ptr<ProcessGroup> group = SingleProcess();
  EXPECT_EQ(group->size(), 1);
  EXPECT_EQ(group->rank(), 0);
  EST_EXPECT_OK(group->Barrier());
  EXPECT_EQ(group->Broadcast("x").value(), "x");
  EXPECT_THAT(group->AllGather("y").value(), testing::ElementsAre("y"));
  EXPECT_EQ(group->AllReduceMax(-3).value(), -3);
  float value = 2, sum = 0;
  EST_EXPECT_OK(group->AllReduceSum(DType::kFloat32, &value, &sum, 1));
  EXPECT_EQ(sum, 2);
}

}  // namespace
}  // namespace estimator
