#include "estimator/base/file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "estimator/base/fault_injection.h"
#include "estimator/base/path.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void Touch(const std::string& path, const std::string& contents = "") {
  std::ofstream(path) << contents;
}

TEST(FileSystemTest, TellsFilesAndDirectoriesApart) {
  const TempDir dir;
  Touch(dir.File("a"));
  EXPECT_TRUE(FileExists(dir.File("a")));
  EXPECT_FALSE(IsDirectory(dir.File("a")));
  EXPECT_TRUE(FileExists(dir.path()));
  EXPECT_TRUE(IsDirectory(dir.path()));
  EXPECT_FALSE(FileExists(dir.File("b")));
}

TEST(FileSystemTest, SizeAndTimeOfAFile) {
  const TempDir dir;
  Touch(dir.File("a"), "12345");
  EXPECT_EQ(*FileSize(dir.File("a")), 5);
  EXPECT_GT(*FileModifiedTimeSeconds(dir.File("a")), 1.6e9);
}

TEST(FileSystemTest, ErrorsNameThePathAndTheCause) {
  const TempDir dir;
  const absl::Status status = FileSize(dir.File("a")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr(dir.File("a") + ": No such file or directory"));
}

TEST(FileSystemTest, SaysWhetherADirectoryCouldBeMadeAndWrittenWithoutMakingIt) {
  const TempDir dir;
  Touch(dir.File("file"));
  EXPECT_TRUE(CheckWritableDirectory(dir.path()).ok());
  EXPECT_TRUE(CheckWritableDirectory(dir.File("a/b/c/")).ok());
  EXPECT_TRUE(CheckWritableDirectory("").ok());
  EXPECT_FALSE(FileExists(dir.File("a")));
  EXPECT_EQ(CheckWritableDirectory(dir.File("file")).message(),
            dir.File("file") + " is a file, so it is no directory");
  EXPECT_EQ(CheckWritableDirectory(dir.File("file/m")).message(),
            dir.File("file") + " is a file, so there can be no directory " + dir.File("file/m"));
  // Fixed bug: root was told that it may, and found out later.
  EXPECT_THAT(CheckWritableDirectory("/proc/estimator/m").ToString(),
              HasSubstr("PERMISSION_DENIED: cannot write to the directory /proc"));
  EXPECT_THAT(*ListDirectory(dir.path()), ElementsAre("file")) << "the trial leaves nothing";
  if (geteuid() == 0) return;  // may write everywhere else
  ASSERT_TRUE(CreateDirectories(dir.File("mine")).ok());
  ASSERT_EQ(chmod(dir.File("mine").c_str(), 0500), 0);
  EXPECT_THAT(CheckWritableDirectory(dir.File("mine/m")).ToString(),
              HasSubstr("cannot write to the directory " + dir.File("mine")));
}

TEST(FileSystemTest, CreateDirectoriesMakesTheOnesAboveAndMayRepeat) {
  const TempDir dir;
  EXPECT_TRUE(CreateDirectories(dir.File("a/b/c")).ok());
  EXPECT_TRUE(CreateDirectories(dir.File("a/b/c")).ok());
  EXPECT_TRUE(IsDirectory(dir.File("a/b/c")));
  Touch(dir.File("file"));
  EXPECT_FALSE(CreateDirectories(dir.File("file/x")).ok());
}

TEST(FileSystemTest, ALinkIsAnotherNameThatStaysWhenTheFirstGoes) {
  const TempDir dir;
  Touch(dir.File("a"), "12345");
  ASSERT_TRUE(LinkFile(dir.File("a"), dir.File("b")).ok());
  EXPECT_EQ(LinkFile(dir.File("a"), dir.File("b")).code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(RemoveFile(dir.File("a")).ok());
  EXPECT_EQ(*FileSize(dir.File("b")), 5);
  EXPECT_EQ(LinkFile(dir.File("a"), dir.File("c")).code(), absl::StatusCode::kNotFound);
}

TEST(FileSystemTest, RenameReplacesTheTarget) {
  const TempDir dir;
  Touch(dir.File("a"), "new");
  Touch(dir.File("b"), "older");
  EXPECT_TRUE(RenameFile(dir.File("a"), dir.File("b")).ok());
  EXPECT_FALSE(FileExists(dir.File("a")));
  EXPECT_EQ(*FileSize(dir.File("b")), 3);
  EXPECT_EQ(RenameFile(dir.File("a"), dir.File("b")).code(), absl::StatusCode::kNotFound);
}

TEST(FileSystemTest, SyncDirectoryTakesOnlyDirectories) {
  const TempDir dir;
  EXPECT_TRUE(SyncDirectory(dir.path()).ok());
  EXPECT_TRUE(SyncDirectory("").ok());
  Touch(dir.File("a"));
  EXPECT_FALSE(SyncDirectory(dir.File("a")).ok());
}

TEST(FileSystemTest, RemoveFileReportsAMissingFile) {
  const TempDir dir;
  Touch(dir.File("a"));
  EXPECT_TRUE(RemoveFile(dir.File("a")).ok());
  EXPECT_EQ(RemoveFile(dir.File("a")).code(), absl::StatusCode::kNotFound);
}

TEST(FileSystemTest, RemoveDirectoryRecursivelyKeepsWhatLinksPointTo) {
  const TempDir dir;
  ASSERT_TRUE(CreateDirectories(dir.File("a/b")).ok());
  Touch(dir.File("a/b/c"));
  Touch(dir.File("outside"));
  std::filesystem::create_symlink(dir.File("outside"), dir.File("a/link"));
  EXPECT_TRUE(RemoveDirectoryRecursively(dir.File("a")).ok());
  EXPECT_TRUE(RemoveDirectoryRecursively(dir.File("a")).ok());
  EXPECT_THAT(*ListDirectory(dir.path()), ElementsAre("outside"));
}

TEST(FileSystemTest, ListDirectoryIsSortedByBytes) {
  const TempDir dir;
  for (const char* name : {"b", "a10", "a2", ".hidden", "B"}) Touch(dir.File(name));
  EXPECT_THAT(*ListDirectory(dir.path()), ElementsAre(".hidden", "B", "a10", "a2", "b"));
  EXPECT_EQ(ListDirectory(dir.File("none")).status().code(), absl::StatusCode::kNotFound);
}

TEST(FileSystemTest, GlobIsSortedAndSkipsHiddenNames) {
  const TempDir dir;
  for (const char* name : {"x-2", "x-10", ".x-3", "y-1"}) Touch(dir.File(name));
  EXPECT_THAT(*Glob(dir.File("x-*")), ElementsAre(dir.File("x-10"), dir.File("x-2")));
  EXPECT_THAT(*Glob(dir.File("*")),
              ElementsAre(dir.File("x-10"), dir.File("x-2"), dir.File("y-1")));
  EXPECT_THAT(*Glob(dir.File("z*")), IsEmpty());
}

TEST(FileSystemTest, AnInjectedFaultLeavesTheDiskAlone) {
  const TempDir dir;
  Touch(dir.File("a"));
  {
    ScopedFaultInjector faults(CrashAfter(0));
    EXPECT_EQ(RenameFile(dir.File("a"), dir.File("b")).code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(RemoveFile(dir.File("a")).code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(SyncDirectory(dir.path()).code(), absl::StatusCode::kUnavailable);
  }
  EXPECT_THAT(*ListDirectory(dir.path()), ElementsAre("a"));
}

// Fixed bug: they were folders "gs:" under the current one.
TEST(FileSystemTest, PathsOfOtherFileSystemsAreRefused) {
  for (const char* const path : {"gs://bucket/run", "s3://b"}) {
    EXPECT_EQ(CreateDirectories(path).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(CheckWritableDirectory(path).message()),
                ::testing::HasSubstr("is not a local path"));
  }
  const TempDir dir;
  EXPECT_TRUE(CreateDirectories(dir.File("a://b")).ok());
}

}  // namespace
}  // namespace estimator
