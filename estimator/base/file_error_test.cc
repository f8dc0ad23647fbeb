#include "estimator/base/file_error.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

TEST(FileErrorTest, NamesThePathAndTheCause) {
  const absl::Status status = FileError(EACCES, "open", "run/checkpoint");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kPermissionDenied,
                               HasSubstr("cannot open run/checkpoint: Permission denied")));
  EXPECT_FALSE(IsProcessLimit(status));
  EXPECT_FALSE(IsProcessLimit(FileError(ENOSPC, "write", "run/checkpoint")));
}

// Fixed bug: a save advised to free space on the disk.
TEST(FileErrorTest, TooManyOpenFilesHaveTheLimitAndTheCure) {
  const TempDir dir;
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low = {.rlim_cur = 50, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  std::vector<int> taken;
  for (int fd = 0; (fd = ::open("/dev/null", O_RDONLY)) >= 0;) taken.push_back(fd);
  const absl::Status written = WriteFileAtomically(dir.File("a"), "text");
  for (const int fd : taken) ::close(fd);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(written, ErrorHas("Too many open files; the system limits this process to 50 open "
                                "files (ulimit -n); raise the limit"));
  EXPECT_TRUE(IsProcessLimit(written));
}

}  // namespace
}  // namespace estimator
