#include "estimator/base/file_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "absl/strings/str_cat.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(FileLock, ASecondLockIsRefusedWithTheHolderUntilTheFirstIsReleased) {
  const TempDir dir;
  const std::string path = dir.File("lock");
  {
    const auto first = FileLock::TryLock(path);
    EST_ASSERT_OK(first);
    EXPECT_THAT(FileLock::TryLock(path),
                StatusIs(absl::StatusCode::kAlreadyExists,
                         AllOf(HasSubstr(path), HasSubstr(absl::StrCat("process ", getpid())),
                               HasSubstr(" on host "), HasSubstr(", since 20"))));
  }
  EXPECT_EQ(*ReadFile(path), "") << "a free lock names no holder";
  EST_EXPECT_OK(FileLock::TryLock(path));
}

TEST(FileLock, AKilledProcessLeavesNoLockBehind) {
  const TempDir dir;
  const std::string path = dir.File("lock");
  std::array<int, 2> pipe_ends = {};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto lock = FileLock::TryLock(path);
    const char result = lock.ok() ? 'y' : 'n';
    if (write(pipe_ends[1], &result, 1) != 1) _exit(1);
    while (true) pause();
  }
  char result = 0;
  ASSERT_EQ(read(pipe_ends[0], &result, 1), 1);
  EXPECT_EQ(result, 'y');
  EXPECT_TRUE(ProcessExists(child));
  EXPECT_THAT(FileLock::TryLock(path), StatusIs(absl::StatusCode::kAlreadyExists,
                                                HasSubstr(absl::StrCat("process ", child, " "))));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(ProcessExists(child));
  EXPECT_NE(*ReadFile(path), "") << "the killed process could not clean up";
  EST_EXPECT_OK(FileLock::TryLock(path));
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(FileLock, ALinkAFolderOrAPipeIsNoLock) {
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("precious"), "precious"));
  ASSERT_EQ(::symlink(dir.File("precious").c_str(), dir.File("link").c_str()), 0);
  ASSERT_EQ(::mkfifo(dir.File("pipe").c_str(), 0600), 0);
  EST_ASSERT_OK(CreateDirectories(dir.File("folder")));
  for (const char* const name : {"link", "pipe", "folder"}) {
    EXPECT_THAT(FileLock::TryLock(dir.File(name)).status(), ErrorHas(dir.File(name))) << name;
    EXPECT_TRUE(absl::IsInvalidArgument(FileLock::TryLock(dir.File(name)).status())) << name;
  }
  EXPECT_EQ(*ReadFile(dir.File("precious")), "precious");
}

TEST(FileLock, AFileThatCannotBeOpenedIsAnErrorOfItsOwn) {
  const TempDir dir;
  EXPECT_THAT(FileLock::TryLock(dir.File("none/lock")), StatusIs(absl::StatusCode::kNotFound));
  const ScopedFaultInjector faults([](FileOperation, absl::string_view path) -> Fault {
    return {.status = absl::PermissionDeniedError(absl::StrCat("cannot open ", path)),
            .truncate_after_bytes = std::nullopt};
  });
  EXPECT_THAT(FileLock::TryLock(dir.File("lock")), StatusIs(absl::StatusCode::kPermissionDenied));
}

}  // namespace
}  // namespace estimator
