#include "estimator/base/testing/temp_dir.h"

#include <gtest/gtest.h>

#include <fstream>

#include "estimator/base/file_system.h"

namespace estimator {
namespace {

TEST(TempDirTest, IsThereForItsScopeAndGoneWithItsFilesAfterwards) {
  std::string path;
  {
    const TempDir dir;
    path = dir.path();
    EXPECT_TRUE(IsDirectory(path));
    std::ofstream(dir.File("a")) << "contents";
    EXPECT_EQ(dir.File("a"), path + "/a");
    EXPECT_TRUE(FileExists(path + "/a"));
  }
  EXPECT_FALSE(FileExists(path));
}

TEST(TempDirTest, TwoAreApart) {
  const TempDir a, b;
  EXPECT_NE(a.path(), b.path());
}

}  // namespace
}  // namespace estimator
