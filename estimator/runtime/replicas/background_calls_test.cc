#include "estimator/runtime/replicas/background_calls.h"

#include <atomic>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;

TEST(BackgroundCalls, AreMadeInOrderBeforeWaitReturns) {
  BackgroundCalls calls;
  EST_EXPECT_OK(calls.Wait());  // none were started
  std::vector<int> made;
  for (int i = 0; i < 5; ++i) {
    calls.Start([&made, i] {
      made.push_back(i);
      return absl::OkStatus();
    });
  }
  EST_EXPECT_OK(calls.Wait());
  EXPECT_THAT(made, ElementsAre(0, 1, 2, 3, 4));
}

TEST(BackgroundCalls, NothingIsCalledBetweenAnErrorAndWait) {
  BackgroundCalls calls;
  std::vector<int> made;
  const auto start = [&](int i, absl::Status status) {
    calls.Start([&made, i, status] {
      made.push_back(i);
      return status;
    });
  };
  start(0, absl::OkStatus());
  start(1, absl::UnavailableError("the peer is gone"));
  start(2, absl::OkStatus());
  EXPECT_THAT(calls.Wait(), ErrorHas("the peer is gone"));
  start(3, absl::OkStatus());
  EST_EXPECT_OK(calls.Wait());
  EXPECT_THAT(made, ElementsAre(0, 1, 3));
}

TEST(BackgroundCalls, TheDestructorWaitsForTheCallThatRuns) {
  std::atomic<bool> started = false, ended = false;
  {
    BackgroundCalls calls;
    calls.Start([&] {
      started = true;
      started.notify_all();
      std::this_thread::yield();
      ended = true;
      return absl::OkStatus();
    });
    started.wait(false);
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace estimator
