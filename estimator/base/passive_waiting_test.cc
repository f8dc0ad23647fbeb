// The test starts its own program again, with one setting or another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "estimator/base/run_program.h"

namespace {

using ::testing::HasSubstr;

std::string ThisProgram() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

// What a program that `env <settings>` starts says of itself.
std::string StartedUnder(const std::string& settings) {
  const estimator::ProgramRun run =
      estimator::RunProgram("env " + settings + " '" + ThisProgram() +
                            "' --gtest_also_run_disabled_tests --gtest_filter=*DISABLED_Says*");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return run.output;
}

TEST(PassiveWaiting, DISABLED_SaysItsPolicyAndItsName) {
  const char* policy = getenv("OMP_WAIT_POLICY");
  std::printf("policy: %s\n", policy == nullptr ? "none" : policy);
  std::ifstream comm("/proc/self/comm");
  std::printf("name: %s\n", std::string(std::istreambuf_iterator<char>(comm), {}).c_str());
}

TEST(PassiveWaiting, IsWhatAProgramStartsWith) {
  EXPECT_THAT(StartedUnder("-u OMP_WAIT_POLICY -u GOMP_SPINCOUNT"), HasSubstr("policy: passive\n"));
}

TEST(PassiveWaiting, LeavesTheUsersOwnSettings) {
  EXPECT_THAT(StartedUnder("-u GOMP_SPINCOUNT OMP_WAIT_POLICY=active"),
              HasSubstr("policy: active\n"));
  EXPECT_THAT(StartedUnder("-u OMP_WAIT_POLICY GOMP_SPINCOUNT=9"), HasSubstr("policy: none\n"));
}

TEST(PassiveWaiting, LeavesTheProcessItsName) {
  const std::string name = std::filesystem::path(ThisProgram()).filename().string();
  EXPECT_THAT(StartedUnder("-u OMP_WAIT_POLICY -u GOMP_SPINCOUNT"),
              HasSubstr("name: " + name.substr(0, 15) + "\n"));
}

}  // namespace
