#include "estimator/base/usage_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

TEST(UsageErrorTest, IsAnInvalidArgumentThatIsMarked) {
  const absl::Status status = UsageError("--train_steps must be positive, given 0");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_TRUE(IsUsageError(status));
  EXPECT_FALSE(IsUsageError(absl::InvalidArgumentError("a bad file")));
}

TEST(UsageErrorTest, StaysMarkedUnderAnotherMessage) {
  EXPECT_TRUE(IsUsageError(Annotate(UsageError("bad"), "--flag")));
}

TEST(UsageErrorTest, OkIsNoError) { EXPECT_FALSE(IsUsageError(AsUsageError(absl::OkStatus()))); }

}  // namespace
}  // namespace estimator
