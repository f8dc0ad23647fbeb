#include "estimator/base/finished_early.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

TEST(FinishedEarlyTest, IsACancelledStatusThatIsMarked) {
  const absl::Status status = FinishedEarly("the report is printed");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(IsFinishedEarly(status));
  EXPECT_FALSE(IsFinishedEarly(absl::CancelledError("interrupted")));
  EXPECT_FALSE(IsFinishedEarly(absl::OkStatus()));
}

TEST(FinishedEarlyTest, StaysMarkedUnderAnotherMessage) {
  EXPECT_TRUE(IsFinishedEarly(Annotate(FinishedEarly("done"), "training")));
}

}  // namespace
}  // namespace estimator
