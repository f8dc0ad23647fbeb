#include "estimator/base/standard_streams.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace estimator {
namespace {

bool IsDevNull(int descriptor) {
  struct stat info;
  return fstat(descriptor, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3);
}

TEST(StandardStreamsDeathTest, ClosedStreamsBecomeDevNullAndOpenOnesStay) {
  const auto close_and_open = [](int first, int second) {
    int ends[2];
    if (pipe(ends) != 0) _exit(3);
    for (const int stream : {0, 1, 2}) dup2(ends[1], stream);
    close(first);
    close(second);
    OpenClosedStandardStreams();
    for (const int stream : {0, 1, 2}) {
      if (IsDevNull(stream) != (stream == first || stream == second)) _exit(1);
    }
    _exit(0);
  };
  EXPECT_EXIT(close_and_open(2, 2), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(close_and_open(1, 2), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(close_and_open(0, 2), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace estimator
