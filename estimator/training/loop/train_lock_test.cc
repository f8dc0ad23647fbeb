#include "estimator/training/loop/train_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNull;

TEST(TrainLock, ASecondRunIsRefusedWithTheHolderAndTheCure) {
  const TempDir dir;
  const auto lock = LockForTraining(dir.File("m"));
  EST_ASSERT_OK(lock);
  EXPECT_THAT(LockForTraining(dir.File("m")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("another run is training in " + dir.File("m")),
                             HasSubstr(absl::StrCat("process ", getpid(), " on host ")),
                             HasSubstr(", since 20"), HasSubstr("or use another model_dir"))));
  EST_EXPECT_OK(LockForTraining(dir.File("other")));
}

TEST(TrainLock, AFolderThatCannotBeWrittenNeedsNone) {
  const TempDir dir;
  const testing::CapturedLog log;
  const ScopedFaultInjector faults([](FileOperation, absl::string_view path) -> Fault {
    if (Basename(path) != ".train.lock") return {};
    return {.status = absl::PermissionDeniedError(absl::StrCat("cannot open ", path)),
            .truncate_after_bytes = std::nullopt};
  });
  const auto lock = LockForTraining(dir.path());
  EST_ASSERT_OK(lock);
  EXPECT_THAT(*lock, IsNull());
  EXPECT_THAT(log.warnings, IsEmpty());
}

TEST(TrainLock, AFileSystemWithoutLocksGivesAWarning) {
  const TempDir dir;
  const testing::CapturedLog log;
  const ScopedFaultInjector faults([](FileOperation, absl::string_view path) -> Fault {
    if (Basename(path) != ".train.lock") return {};
    return {.status = absl::UnimplementedError(absl::StrCat("cannot lock ", path)),
            .truncate_after_bytes = std::nullopt};
  });
  EST_EXPECT_OK(LockForTraining(dir.path()));
  EXPECT_THAT(log.warnings, ::testing::ElementsAre(
                                HasSubstr("a second run in this model_dir will not be noticed")));
}

}  // namespace
}  // namespace estimator
