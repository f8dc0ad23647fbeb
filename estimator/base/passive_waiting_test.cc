// The test starts its own program again, with one setting or another.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

// What OMP_WAIT_POLICY is in a program that `env <settings>` starts.
std::string PolicyUnder(const std::string& settings) {
  const std::string command = "env " + settings + " '" +
                              std::filesystem::read_symlink("/proc/self/exe").string() +
                              "' --gtest_also_run_disabled_tests --gtest_filter=*DISABLED_Says*";
  FILE* pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string text;
  std::array<char, 256> line;
  while (fgets(line.data(), line.size(), pipe) != nullptr) {
    if (std::string(line.data()).rfind("policy:", 0) == 0) text = line.data();
  }
  EXPECT_EQ(pclose(pipe), 0);
  return text;
}

TEST(PassiveWaiting, DISABLED_SaysItsPolicy) {
  const char* policy = getenv("OMP_WAIT_POLICY");
  std::printf("policy: %s\n", policy == nullptr ? "none" : policy);
}

TEST(PassiveWaiting, IsWhatAProgramStartsWith) {
  EXPECT_EQ(PolicyUnder("-u OMP_WAIT_POLICY -u GOMP_SPINCOUNT"), "policy: passive\n");
}

TEST(PassiveWaiting, LeavesTheUsersOwnSettings) {
  EXPECT_EQ(PolicyUnder("-u GOMP_SPINCOUNT OMP_WAIT_POLICY=active"), "policy: active\n");
  EXPECT_EQ(PolicyUnder("-u OMP_WAIT_POLICY GOMP_SPINCOUNT=9"), "policy: none\n");
}

}  // namespace
