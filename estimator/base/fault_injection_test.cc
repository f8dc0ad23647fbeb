#include "estimator/base/fault_injection.h"

#include <gtest/gtest.h>

#include <string>

namespace estimator {
namespace {

TEST(FaultInjectionTest, WithoutAnInjectorNothingFails) {
  const Fault fault = AskFaultInjector(FileOperation::kWrite, "/a");
  EXPECT_TRUE(fault.status.ok());
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
  EXPECT_TRUE(AskFaultInjector(FileOperation::kSync, "/a/b").status.ok());
}

TEST(FaultInjectionTest, CrashAfterTearsOneWriteAndThenFailsEverythingButReads) {
  ScopedFaultInjector faults(CrashAfter(1));
  EXPECT_TRUE(AskFaultInjector(FileOperation::kOpen, "f").status.ok());
  EXPECT_TRUE(AskFaultInjector(FileOperation::kRead, "f").status.ok());
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
