#include "estimator/base/out_of_resources.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

struct TooLarge : std::bad_alloc {
  const char* what() const noexcept override { return "out of memory: an array of 9.0 GiB"; }
};

TEST(OutOfResources, AnErrorNamesCauseAndCure) {
  EXPECT_THAT(OutOfResourcesError(std::bad_alloc()),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("out of memory: "), HasSubstr("take a smaller batch"))));
  EXPECT_THAT(OutOfResourcesError(TooLarge()),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("out of memory: an array of 9.0 GiB: ")));
  // A fixed bug: the message was "Resource temporarily unavailable".
  const std::system_error no_thread(
      std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_THAT(OutOfResourcesError(no_thread),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       AllOf(HasSubstr("cannot start a thread"), HasSubstr("ulimit -u"),
                             HasSubstr("OMP_NUM_THREADS"))));
  EST_EXPECT_OK(OutOfResourcesError(std::out_of_range("map::at")));
}

TEST(OutOfResourcesDeathTest, ALimitOfTheAddressSpaceIsNamed) {
#if defined(__SANITIZE_ADDRESS__) || defined(EST_SANITIZE_THREAD)
  GTEST_SKIP() << "sanitizers need all of the address space";
#endif
  const auto limit = [] {
    const rlimit gibibyte = {1 << 30, 1 << 30};
    if (setrlimit(RLIMIT_AS, &gibibyte) != 0) _exit(2);
    const std::string message = OutOfResourcesError(std::bad_alloc()).ToString();
    _exit(message.find("is limited to 1.0 GiB; raise the limit (ulimit -v)") == std::string::npos);
  };
  EXPECT_EXIT(limit(), ::testing::ExitedWithCode(0), "");
}

// A fixed bug: the process was aborted, with a stack trace.
TEST(OutOfResourcesDeathTest, AnExceptionOnAnotherThreadEndsTheProcessWithAMessage) {
  const auto fail = [] {
    InstallOutOfResourcesHandlers(2);
    std::thread([] { throw std::bad_alloc(); }).join();
  };
  EXPECT_EXIT(fail(), ::testing::ExitedWithCode(2), "error: RESOURCE_EXHAUSTED: out of memory: ");
}

TEST(OutOfResourcesDeathTest, OtherExceptionsAbortAsBefore) {
  const auto fail = [] {
    InstallOutOfResourcesHandlers(1);
    std::thread([] { throw std::out_of_range("map::at"); }).join();
  };
  EXPECT_EXIT(fail(), ::testing::KilledBySignal(SIGABRT), "map::at");
}

// As libgomp does when it cannot start a thread. Its own message does not name the cure.
TEST(OutOfResourcesDeathTest, AnExitWithoutThreadsNamesTheCure) {
#if defined(__SANITIZE_ADDRESS__) || defined(EST_SANITIZE_THREAD)
  GTEST_SKIP() << "sanitizers need all of the address space";
#endif
  const auto exit_without_threads = [] {
    InstallOutOfResourcesHandlers(1);
    const rlimit mebibyte = {1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_AS, &mebibyte) != 0) _exit(2);
    std::exit(1);
  };
  EXPECT_EXIT(exit_without_threads(), ::testing::ExitedWithCode(1),
              "error: RESOURCE_EXHAUSTED: cannot start a thread");
}

// A fixed bug: SIGXFSZ ended the process without a word.
TEST(OutOfResourcesDeathTest, ALimitOfTheSizeOfFilesIsAnErrorOfTheWriter) {
  const TempDir dir;
  const auto write = [&dir] {
    InstallOutOfResourcesHandlers(1);
    const rlimit limit = {100, 100};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
    const absl::Status status = WriteFileAtomically(dir.File("f"), std::string(1000, 'x'));
    const std::string text = status.ToString();
    _exit(text.find("File too large") == std::string::npos ||
          text.find("limits files to 100 bytes (ulimit -f)") == std::string::npos);
  };
  EXPECT_EXIT(write(), ::testing::ExitedWithCode(0), "");
  EXPECT_FALSE(FileExists(dir.File("f")));
}

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
