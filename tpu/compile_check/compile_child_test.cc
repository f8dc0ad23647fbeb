#include "tpu/compile_check/compile_child.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Compiled = absl::StatusOr<pjrt::CompiledProgram>;

// A function in place of libtpu, which runs in the child.
CompileRequest RequestWith(std::function<Compiled(const CompileRequest&)> compiler) {
  return {.libtpu = "",
          .stablehlo = "module {}",
          .target = *FindCompileTarget("v3-8"),
          .compiler = std::move(compiler)};
}

// The folder in which libtpu writes the compiled program.
std::string DumpFolder() {
  const absl::string_view args = std::getenv("LIBTPU_INIT_ARGS");
  const absl::string_view flag = "--xla_jf_dump_to=";
  const size_t begin = args.find(flag) + flag.size();
  return std::string(args.substr(begin, args.find(' ', begin) - begin));
}

TEST(CompileInChild, GivesTheCostsAndTheScheduledProgram) {
  const auto request = RequestWith([](const CompileRequest& asked) -> Compiled {
    std::ofstream(DumpFolder() + "/module_1.TLP-hlo.txt") << "HloModule " << asked.stablehlo;
    std::ofstream(DumpFolder() + "/module_2.other.txt") << "a much longer file of another kind";
    pjrt::CompiledProgram program;
    program.costs = {{"flops", 1.5e9}, {"bytes accessed", 64}};
    return program;
  });
  EST_ASSERT_OK_AND_ASSIGN(const CompileOutcome outcome, CompileInChild(request));
  EST_EXPECT_OK(outcome.status);
  EXPECT_EQ(outcome.costs.at("flops"), 1.5e9);
  EXPECT_EQ(outcome.costs.at("bytes accessed"), 64);
  EXPECT_EQ(outcome.scheduled_hlo, "HloModule module {}");
}

TEST(CompileInChild, AnErrorOfTheCompilerKeepsItsCodeAndItsLines) {
  const auto request = RequestWith([](const CompileRequest&) -> Compiled {
    return absl::ResourceExhaustedError("out of memory in HBM\nused 17.2G of 15.7G");
  });
  EST_ASSERT_OK_AND_ASSIGN(const CompileOutcome outcome, CompileInChild(request));
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(outcome.status.message(), "out of memory in HBM\nused 17.2G of 15.7G");
}

TEST(CompileInChild, ACrashIsAnOutcomeWithTheEndOfTheLog) {
  const auto request = RequestWith([](const CompileRequest&) -> Compiled {
    std::fprintf(stderr, "F0101 layout.cc:7] Check failed: !shape.is_dynamic()\n");
    std::fprintf(stderr, "    @ 0x7f00 frame of the stack\n");
    std::abort();
  });
  EST_ASSERT_OK_AND_ASSIGN(const CompileOutcome outcome, CompileInChild(request));
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kAborted);
  const std::string message(outcome.status.message());
  EXPECT_THAT(message, HasSubstr("crashed with signal 6"));
  EXPECT_THAT(message, HasSubstr("Check failed: !shape.is_dynamic()"));
  EXPECT_THAT(message, Not(HasSubstr("frame of the stack")));
}

TEST(CompileInChild, AChildThatExitsIsAnOutcome) {
  const auto request = RequestWith([](const CompileRequest&) -> Compiled { _exit(3); });
  EST_ASSERT_OK_AND_ASSIGN(const CompileOutcome outcome, CompileInChild(request));
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("ended with exit code 3"));
}

TEST(CompileInChild, AChildThatHangsIsKilledAfterTheTimeout) {
  auto request = RequestWith([](const CompileRequest&) -> Compiled {
    for (;;) pause();
  });
  request.timeout_seconds = 0.1;
  EST_ASSERT_OK_AND_ASSIGN(const CompileOutcome outcome, CompileInChild(request));
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("did not finish in 0.1 s"));
  EXPECT_GE(outcome.seconds, 0.1);
}

TEST(CompileInChild, WithoutATemporaryFolderIsAnError) {
  const char* const before = std::getenv("TMPDIR");
  const std::string old = before == nullptr ? "" : before;
  setenv("TMPDIR", "/no/such/folder", 1);
  const absl::Status status = CompileInChild(RequestWith(nullptr)).status();
  if (before == nullptr) {
    unsetenv("TMPDIR");
  } else {
    setenv("TMPDIR", old.c_str(), 1);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("set TMPDIR"));
}

TEST(CompileInChild, AFileThatIsNoLibraryIsNamed) {
  auto request = RequestWith(nullptr);
  request.libtpu = "/no/such/libtpu.so";
  EST_ASSERT_OK_AND_ASSIGN(const CompileOutcome outcome, CompileInChild(request));
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("/no/such/libtpu.so"));
}

TEST(CompileInChild, AChildThatIsEndedFromOutsideDidNotCrash) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    const auto request = RequestWith([signal](const CompileRequest&) -> Compiled {
      kill(getpid(), signal);
      for (;;) pause();
    });
    EST_ASSERT_OK_AND_ASSIGN(const CompileOutcome outcome, CompileInChild(request));
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kCancelled);
    EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("perhaps from outside"));
  }
}

TEST(CompileInChild, TheChildEndsWithAProcessThatASignalStops) {
  // SIGKILL ends the process at once; after the others it ends the child and says so.
  for (const int signal : {SIGTERM, SIGINT, SIGKILL}) {
    SCOPED_TRACE(signal);
    int alive[2];
    ASSERT_EQ(pipe(alive), 0);
    const pid_t process = fork();
    ASSERT_GE(process, 0);
    if (process == 0) {
      close(alive[0]);
      InstallInterruptHandlers();
      const auto request = RequestWith([&alive](const CompileRequest&) -> Compiled {
        if (write(alive[1], "x", 1) != 1) _exit(9);
        for (;;) pause();
      });
      const absl::StatusOr<CompileOutcome> outcome = CompileInChild(request);
      _exit(outcome.ok() && absl::IsCancelled(outcome->status) ? 42 : 1);
    }
    close(alive[1]);
    char started = 0;
    ASSERT_EQ(read(alive[0], &started, 1), 1);
    kill(process, signal);
    int wait_status = 0;
    ASSERT_EQ(waitpid(process, &wait_status, 0), process);
    if (signal == SIGKILL) {
      EXPECT_TRUE(WIFSIGNALED(wait_status));
    } else {
      EXPECT_TRUE(WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 42) << wait_status;
    }
    // The pipe is closed when the process and its child have ended.
    pollfd end = {.fd = alive[0], .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&end, 1, /*timeout (ms)=*/10000), 1) << "the child is still alive";
    char rest = 0;
    EXPECT_EQ(read(alive[0], &rest, 1), 0);
    close(alive[0]);
  }
}

TEST(CompileInChild, NothingIsCompiledAfterASignal) {
  RequestInterruptForTest();
  const auto request = RequestWith([](const CompileRequest&) -> Compiled { _exit(3); });
  const absl::StatusOr<CompileOutcome> outcome = CompileInChild(request);
  ClearInterrupt();
  EST_ASSERT_OK(outcome);
  EXPECT_EQ(outcome->status.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(std::string(outcome->status.message()), HasSubstr("asked this program to stop"));
}

}  // namespace
}  // namespace estimator::tpu
