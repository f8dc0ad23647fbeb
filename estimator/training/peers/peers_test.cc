#include "estimator/training/peers/peers.h"

#include <functional>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Calls `body` on each rank, each in a thread.
void OnRanks(int size, const std::function<void(Peers& peers)>& body) {
  auto groups = ThreadGroups(size);
  std::vector<std::thread> threads;
  for (auto& group : groups) {
    threads.emplace_back([&body, group = std::move(group)]() mutable {
      Peers peers{std::shared_ptr<ProcessGroup>(std::move(group))};
      body(peers);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Peers, AProcessAloneExchangesWithItself) {
  Peers peers;
  EXPECT_TRUE(peers.alone() && peers.is_chief());
  EXPECT_THAT(*peers.Exchange("a", absl::OkStatus(), "x"), ElementsAre("x"));
  EXPECT_THAT(peers.Agree("b", absl::DataLossError("lost")), ErrorIs("lost"));
  EXPECT_EQ(peers.FromChief("c", std::string("y")).value_or(""), "y");
}

TEST(Peers, AllLearnWhatEachSays) {
  OnRanks(3, [](Peers& peers) {
    EXPECT_THAT(*peers.Exchange("a", absl::OkStatus(), absl::StrCat(peers.rank())),
                ElementsAre("0", "1", "2"));
    EXPECT_EQ(peers.FromChief("b", absl::StrCat("of ", peers.rank())).value_or(""), "of 0");
  });
}

TEST(Peers, AnErrorOfOneIsThatOfAllWithItsName) {
  OnRanks(3, [](Peers& peers) {
    const absl::Status mine = peers.rank() == 1   ? absl::DataLossError("lost")
                              : peers.rank() == 2 ? absl::InternalError("later")
                                                  : absl::OkStatus();
    const absl::Status agreed = peers.Agree("a", mine);
    EXPECT_EQ(agreed.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(agreed, ErrorIs(peers.rank() == 1 ? "lost" : "rank 1 (localhost): lost"));
    EXPECT_FALSE(ExitCodeOf(agreed).has_value()) << "no process was lost";
  });
}

TEST(Peers, AnErrorOfOneAloneReachesTheOthersAtTheirNextExchange) {
  OnRanks(2, [](Peers& peers) {
    const absl::Status result = peers.rank() == 1
                                    ? peers.Finish(absl::DataLossError("lost"))
                                    : peers.Finish(peers.Agree("something else", absl::OkStatus()));
    EXPECT_THAT(result, ErrorHas("lost"));
  });
}

TEST(Peers, RanksThatDoDifferentThingsAreAnError) {
  OnRanks(2, [](Peers& peers) {
    EXPECT_THAT(peers.Agree(peers.is_chief() ? "Train" : "Evaluate", absl::OkStatus()),
                ErrorHas("rank 0 (localhost) is at 'Train', rank 1 (localhost) at 'Evaluate'"));
  });
}

TEST(Peers, CheckSameNamesRankAndFact) {
  OnRanks(3, [](Peers& peers) {
    EST_EXPECT_OK(peers.CheckSame({{"seed", "1"}}));
    const absl::Status status =
        peers.CheckSame({{"seed", "1"}, {"threads", peers.rank() == 2 ? "4" : "2"}});
    EXPECT_THAT(status,
                ErrorHas("the threads of rank 2 (localhost) is 4, that of rank 0 (localhost) 2"));
    EXPECT_EQ(status.message().find("rank 1"), absl::string_view::npos);
  });
}

TEST(Peers, FetchesAreThoseOfAllReplicasInTheOrderOfOneProcess) {
  OnRanks(2, [](Peers& peers) {
    // Two parts (accumulate_steps) of two replicas each; the second fetch is not asked for.
    StepFetches mine;
    for (int part = 0; part < 2; ++part) {
      for (int replica = 0; replica < 2; ++replica) {
        const float number = static_cast<float>(4 * part + 2 * peers.rank() + replica);
        mine.push_back({Array::Scalar(number), Array::Scalar(-1.f)});
      }
    }
    StepFetches all;
    const auto notes = peers.GatherFetches(
        "a step", mine, {0}, /*parts=*/2,
        {.flags = uint64_t{1} << peers.rank(), .position = absl::StrCat(peers.rank())}, all);
    EST_ASSERT_OK(notes.status());
    EXPECT_EQ((*notes)[1].flags, 2u);
    EXPECT_EQ((*notes)[1].position, "1");
    ASSERT_EQ(all.size(), 8u);
    for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i][0].AsDouble(), static_cast<double>(i));
  });
}

}  // namespace
}  // namespace estimator
