#include "estimator/base/exit_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

TEST(ExitCodeTest, StaysUnderAnotherMessage) {
  const absl::Status lost = WithExitCode(absl::UnavailableError("rank 1"), kLostPeerExitCode);
  EXPECT_EQ(ExitCodeOf(lost), 3);
  EXPECT_EQ(ExitCodeOf(Annotate(lost, "step 5")), 3);
  EXPECT_EQ(ExitCodeOf(WithExitCode(lost, 137)), 137);
}

TEST(ExitCodeTest, OtherStatusesHaveNone) {
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("x")), std::nullopt);
  EXPECT_EQ(ExitCodeOf(WithExitCode(absl::OkStatus(), 5)), std::nullopt);
}

TEST(ExitCodeTest, AProgramThatFinishedEarlyHasZero) {
  const absl::Status status = FinishedEarly("the report is printed");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(IsFinishedEarly(Annotate(status, "training")));
  EXPECT_FALSE(IsFinishedEarly(absl::CancelledError("interrupted")));
  EXPECT_FALSE(IsFinishedEarly(absl::OkStatus()));
}

}  // namespace
}  // namespace estimator
