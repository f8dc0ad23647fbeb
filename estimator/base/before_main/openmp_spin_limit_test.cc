// The test starts its own program again, with one environment or another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "estimator/base/testing/run_program.h"

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Self() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

// What the program writes that `env <settings> <before>` starts: what libgomp has read (as
// "GOMP_SPINCOUNT = '1000'"), and what DISABLED_Says prints.
std::string Output(const std::string& settings, const std::string& before = "") {
  const estimator::ProgramRun run = estimator::RunProgram(
      "env " + settings + " OMP_DISPLAY_ENV=verbose " + before + " '" + Self() +
      "' --gtest_also_run_disabled_tests --gtest_filter=*DISABLED_Says*");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return run.output;
}

constexpr const char* kBrief = "GOMP_SPINCOUNT = '1000'";

TEST(OpenMpSpinLimit, DISABLED_SaysWhatItIsStartedWith) {
  std::printf("%d threads\n", omp_get_max_threads());  // libgomp is needed
  for (const char* name : {"GOMP_SPINCOUNT", "_", "SHLVL", "PWD", "PATH", "HOME"}) {
    const char* value = getenv(name);
    std::printf("%s is %s\n", name, value == nullptr ? "unset" : value);
  }
  std::string name;
  std::ifstream("/proc/self/comm") >> name;
  std::printf("process %s\n", name.c_str());
}

TEST(OpenMpSpinLimit, IsWhatAProgramStartsWith) {
  for (const char* more : {"", "-u _", "-i PATH=/bin:/usr/bin", "-i HOME=/root"}) {
    const std::string unset = "-u OMP_WAIT_POLICY -u GOMP_SPINCOUNT ";
    EXPECT_THAT(Output(unset + more), HasSubstr(kBrief)) << more;
  }
}

TEST(OpenMpSpinLimit, LeavesTheUsersOwnSettings) {
  EXPECT_THAT(Output("-u GOMP_SPINCOUNT OMP_WAIT_POLICY=active"), Not(HasSubstr(kBrief)));
  EXPECT_THAT(Output("-u OMP_WAIT_POLICY GOMP_SPINCOUNT=9"), HasSubstr("GOMP_SPINCOUNT = '9'"));
}

// A fixed bug: the program started itself again as /proc/self/exe. It and those that it started had
// one variable more, it was called "exe" in ps and in the kernel's log, and where the loader had
// been called by name the loader was started, with the program's flags.
TEST(OpenMpSpinLimit, TheProgramHasTheEnvironmentAndTheNameThatItWasStartedWith) {
  const std::string name = Self().substr(Self().rfind('/') + 1, 15);  // the kernel keeps 15
  for (const std::string variable : {"_", "SHLVL", "PWD", "PATH", "HOME"}) {
    const std::string output = Output("-i " + variable + "=/a/b");
    EXPECT_THAT(output, HasSubstr(kBrief));
    EXPECT_THAT(output, HasSubstr(variable + " is /a/b\n"));
    EXPECT_THAT(output, HasSubstr("GOMP_SPINCOUNT is unset\n"));
    EXPECT_THAT(output, HasSubstr("process " + name + "\n"));
  }
  EXPECT_THAT(Output("-i PATH=/bin", "/lib64/ld-linux-x86-64.so.2"), HasSubstr(kBrief));
}

}  // namespace
