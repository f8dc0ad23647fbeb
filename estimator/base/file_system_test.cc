#include "estimator/base/file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
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
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr(dir.File("a") + ": No such file or directory")));
}

// Fixed bug: the error was "ALREADY_EXISTS: cannot create directory run: File exists".
TEST(FileSystemTest, ALinkToNothingIsNamedWhereADirectoryIsToBeCreated) {
  const TempDir dir;
  const std::string link = dir.File("link"), target = dir.File("target");
  std::filesystem::create_symlink(target, link);
  const std::string message = link + " is a link to " + target +
                              ", which does not exist; create that directory, or remove the link";
  for (const std::string& path : {link, link + "/", link + "/a/b"}) {
    EXPECT_THAT(CreateDirectories(path), ErrorIs(message));
    EXPECT_THAT(CheckWritableDirectory(path), ErrorIs(message));
  }
  EST_EXPECT_OK(CreateDirectories(target));
  EST_EXPECT_OK(CheckWritableDirectory(link + "/a"));
  EST_EXPECT_OK(CreateDirectories(link + "/a"));
}

TEST(FileSystemTest, SaysWhetherADirectoryCouldBeMadeAndWrittenWithoutMakingIt) {
  const TempDir dir;
  Touch(dir.File("file"));
  EST_EXPECT_OK(CheckWritableDirectory(dir.path()));
  EST_EXPECT_OK(CheckWritableDirectory(dir.File("a/b/c/")));
  EST_EXPECT_OK(CheckWritableDirectory(""));
  EXPECT_FALSE(FileExists(dir.File("a")));
  EXPECT_THAT(CheckWritableDirectory(dir.File("file")),
              ErrorIs(dir.File("file") + " is a file, so it is not a directory"));
  EXPECT_THAT(CheckWritableDirectory(dir.File("file/m")),
              ErrorIs(dir.File("file") + " is a file, so the directory " + dir.File("file/m") +
                      " cannot be created"));
  // Fixed bug: root was told that it may, and found out later.
  EXPECT_THAT(CheckWritableDirectory("/proc/estimator/m").ToString(),
              HasSubstr("PERMISSION_DENIED: cannot write to the directory /proc"));
  EXPECT_THAT(*ListDirectory(dir.path()), ElementsAre("file")) << "the trial leaves nothing";
  if (geteuid() == 0) return;  // may write everywhere else
  EST_ASSERT_OK(CreateDirectories(dir.File("mine")));
  ASSERT_EQ(chmod(dir.File("mine").c_str(), 0500), 0);
  EXPECT_THAT(CheckWritableDirectory(dir.File("mine/m")).ToString(),
              HasSubstr("cannot write to the directory " + dir.File("mine")));
}

TEST(FileSystemTest, CreateDirectoriesMakesTheOnesAboveAndMayRepeat) {
  const TempDir dir;
  EST_EXPECT_OK(CreateDirectories(dir.File("a/b/c")));
  EST_EXPECT_OK(CreateDirectories(dir.File("a/b/c")));
  EXPECT_TRUE(IsDirectory(dir.File("a/b/c")));
  Touch(dir.File("file"));
  EXPECT_FALSE(CreateDirectories(dir.File("file/x")).ok());
}

TEST(FileSystemTest, ALinkIsAnotherNameThatStaysWhenTheFirstGoes) {
  const TempDir dir;
  Touch(dir.File("a"), "12345");
  EST_ASSERT_OK(LinkFile(dir.File("a"), dir.File("b")));
  EXPECT_THAT(LinkFile(dir.File("a"), dir.File("b")), StatusIs(absl::StatusCode::kAlreadyExists));
  EST_ASSERT_OK(RemoveFile(dir.File("a")));
  EXPECT_EQ(*FileSize(dir.File("b")), 5);
  EXPECT_THAT(LinkFile(dir.File("a"), dir.File("c")), StatusIs(absl::StatusCode::kNotFound));
}

TEST(FileSystemTest, RenameReplacesTheTarget) {
  const TempDir dir;
  Touch(dir.File("a"), "new");
  Touch(dir.File("b"), "older");
  EST_EXPECT_OK(RenameFile(dir.File("a"), dir.File("b")));
  EXPECT_FALSE(FileExists(dir.File("a")));
  EXPECT_EQ(*FileSize(dir.File("b")), 3);
  EXPECT_THAT(RenameFile(dir.File("a"), dir.File("b")), StatusIs(absl::StatusCode::kNotFound));
}

TEST(FileSystemTest, SyncDirectoryTakesOnlyDirectories) {
  const TempDir dir;
  EST_EXPECT_OK(SyncDirectory(dir.path()));
  EST_EXPECT_OK(SyncDirectory(""));
  Touch(dir.File("a"));
  EXPECT_FALSE(SyncDirectory(dir.File("a")).ok());
}

TEST(FileSystemTest, RemoveFileReportsAMissingFile) {
  const TempDir dir;
  Touch(dir.File("a"));
  EST_EXPECT_OK(RemoveFile(dir.File("a")));
  EXPECT_THAT(RemoveFile(dir.File("a")), StatusIs(absl::StatusCode::kNotFound));
}

TEST(FileSystemTest, RemoveDirectoryRecursivelyKeepsWhatLinksPointTo) {
  const TempDir dir;
  EST_ASSERT_OK(CreateDirectories(dir.File("a/b")));
  Touch(dir.File("a/b/c"));
  Touch(dir.File("outside"));
  std::filesystem::create_symlink(dir.File("outside"), dir.File("a/link"));
  EST_EXPECT_OK(RemoveDirectoryRecursively(dir.File("a")));
  EST_EXPECT_OK(RemoveDirectoryRecursively(dir.File("a")));
  EXPECT_THAT(*ListDirectory(dir.path()), ElementsAre("outside"));
}

TEST(FileSystemTest, ListDirectoryIsSortedByBytes) {
  const TempDir dir;
  for (const char* name : {"b", "a10", "a2", ".hidden", "B"}) Touch(dir.File(name));
  EXPECT_THAT(*ListDirectory(dir.path()), ElementsAre(".hidden", "B", "a10", "a2", "b"));
  EXPECT_THAT(ListDirectory(dir.File("none")), StatusIs(absl::StatusCode::kNotFound));
}

TEST(FileSystemTest, GlobIsSortedAndSkipsHiddenNames) {
  const TempDir dir;
  for (const char* name : {"x-2", "x-10", ".x-3", "y-1"}) Touch(dir.File(name));
  EXPECT_THAT(*Glob(dir.File("x-*")), ElementsAre(dir.File("x-10"), dir.File("x-2")));
  EXPECT_THAT(*Glob(dir.File("*")),
              ElementsAre(dir.File("x-10"), dir.File("x-2"), dir.File("y-1")));
  EXPECT_THAT(*Glob(dir.File("z*")), IsEmpty());
}

TEST(FileSystemTest, AnEscapedPathIsNoPattern) {
  const TempDir dir;
  const std::string folder = dir.File("lr=[0.05,2]*?\\");
  EST_ASSERT_OK(CreateDirectories(folder));
  EST_ASSERT_OK(WriteFileAtomically(JoinPath(folder, "a"), ""));
  const auto paths = Glob(JoinPath(EscapeGlob(folder), "*")).value();
  EXPECT_EQ(std::vector<std::string>(paths.begin(), paths.end()),
            std::vector<std::string>{JoinPath(folder, "a")});
}

TEST(FileSystemTest, AnUnknownAnswerIsNotAbsence) {
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("a"), ""));
  EXPECT_TRUE(*Exists(dir.File("a")));
  EXPECT_FALSE(*Exists(dir.File("b")));
  EXPECT_FALSE(*Exists(dir.File("a/b")));                  // a parent is a file
  EXPECT_FALSE(*Exists(dir.File(std::string(300, 'a'))));  // no file can have this name
  EXPECT_TRUE(*DirectoryExists(dir.path()));
  EXPECT_FALSE(*DirectoryExists(dir.File("a")));
  EXPECT_FALSE(*DirectoryExists(dir.File("b")));
  // Opening a link to itself gives the error, so it must not be called absent.
  ASSERT_EQ(::symlink("loop", dir.File("loop").c_str()), 0);
  EXPECT_THAT(Exists(dir.File("loop")).status(), ErrorHas("Too many levels"));
  EXPECT_TRUE(FileExists(dir.File("loop")));
  EXPECT_FALSE(FileExists(dir.File("b")));
  ScopedFaultInjector faults([](FileOperation operation, absl::string_view path) -> Fault {
    if (operation != FileOperation::kStat) return {};
    return {.status = absl::ErrnoToStatus(EIO, absl::StrCat("cannot find ", path))};
  });
  EXPECT_THAT(Exists(dir.File("a")).status(), ErrorHas(dir.File("a")));
  EXPECT_THAT(DirectoryExists(dir.path()).status(), ErrorHas(dir.path()));
  EXPECT_THAT(CheckWritableDirectory(dir.path()), ErrorHas("Input/output error"));
}

TEST(FileSystemTest, AnInjectedFaultLeavesTheDiskAlone) {
  const TempDir dir;
  Touch(dir.File("a"));
  {
    ScopedFaultInjector faults(CrashAfter(0));
    EXPECT_THAT(RenameFile(dir.File("a"), dir.File("b")), StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(RemoveFile(dir.File("a")), StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(SyncDirectory(dir.path()), StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_THAT(*ListDirectory(dir.path()), ElementsAre("a"));
}

// Fixed bug: they were folders "gs:" under the current one.
TEST(FileSystemTest, PathsOfOtherFileSystemsAreRefused) {
  for (const char* const path : {"gs://bucket/run", "s3://b"}) {
    EXPECT_THAT(CreateDirectories(path), StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(CheckWritableDirectory(path), ErrorHas("is not a local path"));
    EXPECT_THAT(FileSize(path), ErrorHas("this program has no file system for "));
  }
  const TempDir dir;
  EST_EXPECT_OK(CreateDirectories(dir.File("a://b")));
}

}  // namespace
}  // namespace estimator
