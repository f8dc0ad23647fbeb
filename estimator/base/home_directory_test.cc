#include "estimator/base/home_directory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace estimator {
namespace {

TEST(HomeDirectory, OnlyATildeAtTheBeginningIsExpanded) {
  setenv("HOME", "/home/ada", 1);
  EXPECT_EQ(ExpandHome("~/run"), "/home/ada/run");
  EXPECT_EQ(ExpandHome("~"), "/home/ada");
  EXPECT_EQ(ExpandHome("~/"), "/home/ada/");
  for (const std::string path : {"", "/tmp/~/run", "./~/run", "~bob/run", "~~", "a~/b"}) {
    EXPECT_EQ(ExpandHome(path), path);
  }
}

TEST(HomeDirectory, WithoutHomeTheUserDatabaseIsAsked) {
  unsetenv("HOME");
  EXPECT_NE(ExpandHome("~/run"), "");
  setenv("HOME", "", 1);
  const std::string path = ExpandHome("~/run");
  EXPECT_EQ(path.substr(path.size() - 4), "/run");
}

}  // namespace
}  // namespace estimator
