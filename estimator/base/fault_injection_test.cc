#include "estimator/base/fault_injection.h"

#include <gtest/gtest.h>

#include <string>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

TEST(FaultInjectionTest, WithoutAnInjectorNothingFails) {
  const Fault fault = AskFaultInjector(FileOperation::kWrite, "/a");
  EST_EXPECT_OK(fault.status);
  EXPECT_FALSE(fault.truncate_after_bytes.has_value());
}

TEST(FaultInjectionTest, TheHookSeesOperationAndPathUntilItsScopeEnds) {
  std::string seen;
  {
    ScopedFaultInjector faults([&seen](FileOperation operation, absl::string_view path) -> Fault {
      seen = std::string(FileOperationName(operation)) + " " + std::string(path);
      return {.status = absl::DataLossError("broken"), .truncate_after_bytes = 3};
    });
    const Fault fault = AskFaultInjector(FileOperation::kSync, "/a/b");
    EXPECT_EQ(fault.status, absl::DataLossError("broken"));
    EXPECT_EQ(fault.truncate_after_bytes, 3);
  }
  EXPECT_EQ(seen, "sync /a/b");
  EST_EXPECT_OK(AskFaultInjector(FileOperation::kSync, "/a/b").status);
}

TEST(FaultInjectionTest, CrashAfterTearsOneWriteAndThenFailsEveryChange) {
  ScopedFaultInjector faults(CrashAfter(1));
  EST_EXPECT_OK(AskFaultInjector(FileOperation::kOpen, "f").status);
  EST_EXPECT_OK(AskFaultInjector(FileOperation::kRead, "f").status);
  EST_EXPECT_OK(AskFaultInjector(FileOperation::kList, "f").status);
  EST_EXPECT_OK(AskFaultInjector(FileOperation::kClose, "f").status);
  const Fault torn = AskFaultInjector(FileOperation::kWrite, "f");
  EXPECT_EQ(torn.status, absl::UnavailableError("injected crash before write of f"));
  EXPECT_TRUE(torn.truncate_after_bytes.has_value());
  const Fault later = AskFaultInjector(FileOperation::kWrite, "f");
  EXPECT_FALSE(later.status.ok());
  EXPECT_FALSE(later.truncate_after_bytes.has_value());
  EXPECT_FALSE(AskFaultInjector(FileOperation::kRemove, "f").status.ok());
}

}  // namespace
}  // namespace estimator
