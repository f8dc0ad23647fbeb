#include "estimator/base/path.h"

#include <gtest/gtest.h>

namespace estimator {
namespace {

TEST(PathTest, JoinPutsOneSlashBetweenParts) {
  EXPECT_EQ(JoinPath("a", "b", std::string("c")), "a/b/c");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("a", "/b"), "a/b");
  EXPECT_EQ(JoinPath("/", "b"), "/b");
}

TEST(PathTest, JoinLeavesOutEmptyParts) {
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(JoinPath("a", "", "c"), "a/c");
  EXPECT_EQ(JoinPath("", ""), "");
}

TEST(PathTest, BasenameIsWhatFollowsTheLastSlash) {
  EXPECT_EQ(Basename("a/b.txt"), "b.txt");
  EXPECT_EQ(Basename("b.txt"), "b.txt");
  EXPECT_EQ(Basename("a/"), "");
}

TEST(PathTest, DirnameIsWhatPrecedesTheLastSlash) {
  EXPECT_EQ(Dirname("/a/b.txt"), "/a");
  EXPECT_EQ(Dirname("/a"), "/");
  EXPECT_EQ(Dirname("a"), "");
}

}  // namespace
}  // namespace estimator
