// The functions of file.h and file_system.h on paths of a remote file system.
#include "estimator/base/remote/remote_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/file_lock.h"
#include "estimator/base/testing/memory_file_system.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

absl::Status Busy(absl::string_view path) {
  return absl::UnavailableError(absl::StrCat(path, ": HTTP status 503"));
}

TEST(RemoteFileTest, ReadsBackWhatWasWritten) {
  MemoryFileSystem store;
  for (const size_t size : {0, 1, 4097, 20000000}) {
    const std::string text(size, 'x');
    EST_ASSERT_OK(WriteFileAtomically("mem://b/a", text));
    EXPECT_TRUE(*ReadFile("mem://b/a") == text) << size;
    EXPECT_EQ(*FileSize("mem://b/a"), static_cast<int64_t>(size));
  }
  EXPECT_THAT(ReadFile("mem://b/none"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ReadFile("mem://b/a", 10), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(MmapFile::Open("mem://b/a"), StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(FileLock::TryLock("mem://b/lock"), StatusIs(absl::StatusCode::kUnimplemented));
}

TEST(RemoteFileTest, AFileAppearsWhenItIsClosed) {
  MemoryFileSystem store;
  EST_ASSERT_OK(WriteFileAtomically("mem://b/a", "old"));
  const auto file = *WritableFile::Open("mem://b/a");
  EST_ASSERT_OK(file->Append(std::string(20000000, 'x')));  // more than the buffer
  EST_ASSERT_OK(file->Flush());
  EST_ASSERT_OK(file->Sync());
  EXPECT_EQ(*ReadFile("mem://b/a"), "old");
  EST_ASSERT_OK(file->Close());
  EXPECT_EQ(*FileSize("mem://b/a"), 20000000);
  EXPECT_THAT(file->Append("x"), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(RemoteFileTest, AnAbandonedOrFailedFileLeavesTheOldOne) {
  MemoryFileSystem store;
  EST_ASSERT_OK(WriteFileAtomically("mem://b/a", "old"));
  {
    const auto file = *WritableFile::Open("mem://b/a");
    EST_ASSERT_OK(file->Append("new"));
    EST_ASSERT_OK(file->Abandon());
  }
  for (const char* const failing : {"write", "commit"}) {
    store.OnRequest([failing](absl::string_view request, absl::string_view path) {
      return request == failing ? Busy(path) : absl::OkStatus();
    });
    EXPECT_THAT(WriteFileAtomically("mem://b/a", "new"), StatusIs(absl::StatusCode::kUnavailable));
    store.OnRequest(nullptr);
    EXPECT_EQ(*ReadFile("mem://b/a"), "old") << failing;
  }
}

TEST(RemoteFileTest, AKillAtAnyInstantOfAWriteLeavesOldOrNewContents) {
  MemoryFileSystem store;
  EST_ASSERT_OK(WriteFileAtomically("mem://b/a", "old"));
  int num_operations = 0;
  for (bool done = false; !done; ++num_operations) {
    ASSERT_LT(num_operations, 20);
    {
      const ScopedFaultInjector faults(CrashAfter(num_operations));
      done = WriteFileAtomically("mem://b/a", "new").ok();
    }
    EXPECT_EQ(*ReadFile("mem://b/a"), done ? "new" : "old");
  }
  EXPECT_EQ(num_operations, 4);  // open, write, commit; then it succeeds
}

TEST(RemoteFileTest, AppendingKeepsWhatIsThere) {
  MemoryFileSystem store;
  for (const char* const text : {"123", "45"}) {
    const auto file = *WritableFile::Open("mem://b/a", WritableFile::Mode::kAppend);
    EST_ASSERT_OK(file->Append(text));
    EST_ASSERT_OK(file->Close());
  }
  EXPECT_EQ(*ReadFile("mem://b/a"), "12345");
  // A store that does not answer must not be taken for an empty file.
  store.OnRequest([](absl::string_view, absl::string_view path) { return Busy(path); });
  EXPECT_THAT(WritableFile::Open("mem://b/a", WritableFile::Mode::kAppend),
              StatusIs(absl::StatusCode::kUnavailable));
}

TEST(RemoteFileTest, NamesMakeDirectories) {
  MemoryFileSystem store;
  EST_ASSERT_OK(CreateDirectories("mem://b/run"));
  EXPECT_FALSE(*Exists("mem://b/run"));
  EXPECT_THAT(*ListDirectory("mem://b/run"), IsEmpty());
  EST_ASSERT_OK(WriteFileAtomically("mem://b/run/eval/x", ""));
  EST_ASSERT_OK(WriteFileAtomically("mem://b/run/a", "12"));
  EST_ASSERT_OK(WriteFileAtomically("mem://b/runs", ""));
  EXPECT_TRUE(*DirectoryExists("mem://b/run/"));
  EXPECT_TRUE(IsDirectory("mem://b/run"));
  EXPECT_FALSE(*DirectoryExists("mem://b/run/a"));
  EXPECT_TRUE(FileExists("mem://b/run/a"));
  EXPECT_FALSE(FileExists("mem://b/ru"));
  EXPECT_THAT(*ListDirectory("mem://b/run"), ElementsAre("a", "eval"));
  EXPECT_THAT(FileSizes({"mem://b/run/a", "mem://b/run/none", "mem://b/runs"}),
              ElementsAre(Optional(2), std::nullopt, Optional(0)));
  EXPECT_GT(*FileModifiedTimeSeconds("mem://b/run/a"), 0);
  EXPECT_THAT(FileModifiedTimeSeconds("mem://b/none"), StatusIs(absl::StatusCode::kNotFound));
  EST_ASSERT_OK(RemoveDirectoryRecursively("mem://b/run"));
  EXPECT_EQ(store.Files().size(), 1);
  EST_EXPECT_OK(RemoveDirectoryRecursively("mem://b/run"));
  EXPECT_THAT(RemoveFile("mem://b/run/a"), StatusIs(absl::StatusCode::kNotFound));
}

// Fixed bug: only "No such file or directory".
TEST(RemoteFileTest, ReadingFromAnUnknownStoreNamesTheKnownOnes) {
  const MemoryFileSystem store;
  for (const absl::Status& status :
       {ReadFile("hdfs://b/a").status(), FileSize("hdfs://b/a").status()}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
    EXPECT_THAT(status, ErrorHas("hdfs://b/a: No such file or directory; this program has no file "
                                 "system for hdfs://: mount it, or give a local path, or one of "));
    EXPECT_THAT(status, ErrorHas("or one of mem://"));
  }
}

TEST(RemoteFileTest, RenamesAndLinksByCopying) {
  MemoryFileSystem store;
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically("mem://b/a", "1"));
  EST_ASSERT_OK(RenameFile("mem://b/a", "mem://b/c"));
  EST_ASSERT_OK(LinkFile("mem://b/c", "mem://b/d"));
  EXPECT_THAT(LinkFile("mem://b/c", "mem://b/d"), StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(*ListDirectory("mem://b"), ElementsAre("c", "d"));
  EXPECT_THAT(RenameFile("mem://b/c", dir.File("c")), ErrorHas("different file systems"));
  EST_ASSERT_OK(CopyFile("mem://b/c", dir.File("c")));
  EXPECT_EQ(*ReadFile(dir.File("c")), "1");
  EXPECT_TRUE(IsSameFile("mem://b/c", "mem://b/c/"));
  EXPECT_FALSE(IsSameFile("mem://b/c", dir.File("c")));
  EXPECT_FALSE(IsSymbolicLink("mem://b/c"));
}

TEST(RemoteFileTest, GlobsFollowTheRulesOfLocalOnes) {
  MemoryFileSystem store;
  for (const char* const name :
       {"train-0", "train-1", ".train-2", "t/a-1", "u/a-1", "u/b", "[x]/a", "file"}) {
    EST_ASSERT_OK(WriteFileAtomically(JoinPath("mem://b/d", name), ""));
  }
  EXPECT_THAT(*Glob("mem://b/d/train-*"), ElementsAre("mem://b/d/train-0", "mem://b/d/train-1"));
  EXPECT_THAT(*Glob("mem://b/d/[tu]/a-?"), ElementsAre("mem://b/d/t/a-1", "mem://b/d/u/a-1"));
  EXPECT_THAT(*Glob("mem://b/d/*/b"), ElementsAre("mem://b/d/u/b"));
  EXPECT_THAT(*Glob("mem://b/d/file"), ElementsAre("mem://b/d/file"));
  EXPECT_THAT(*Glob("mem://b/d/none*"), IsEmpty());
  EXPECT_THAT(*Glob(JoinPath(EscapeGlob("mem://b/d/[x]"), "*")), ElementsAre("mem://b/d/[x]/a"));
  store.OnRequest([](absl::string_view, absl::string_view path) { return Busy(path); });
  EXPECT_THAT(Glob("mem://b/d/*"), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(RemoteFileTest, AnUnknownAnswerIsNotAbsence) {
  MemoryFileSystem store;
  store.OnRequest([](absl::string_view, absl::string_view path) { return Busy(path); });
  EXPECT_THAT(Exists("mem://b/a"), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(DirectoryExists("mem://b/a"), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_TRUE(FileExists("mem://b/a"));
  EXPECT_FALSE(IsDirectory("mem://b/a"));
  EXPECT_THAT(FileSizes({"mem://b/a", "mem://b/c"}), ElementsAre(Optional(0), Optional(0)));
}

TEST(RemoteFileTest, AWritableDirectoryIsTriedAndLeftAsItWas) {
  MemoryFileSystem store;
  EST_EXPECT_OK(CheckWritableDirectory("mem://b/run"));
  EXPECT_THAT(store.Files(), IsEmpty());
  EST_ASSERT_OK(WriteFileAtomically("mem://b/file", ""));
  EXPECT_THAT(CheckWritableDirectory("mem://b/file"), ErrorHas("is a file"));
  store.OnRequest([](absl::string_view request, absl::string_view path) {
    return request == "commit" ? absl::PermissionDeniedError(absl::StrCat(path, ": 403"))
                               : absl::OkStatus();
  });
  EXPECT_THAT(CheckWritableDirectory("mem://b/run"), StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST(RemoteFileTest, ASchemeIsLocalUnlessItIsRegistered) {
  EXPECT_FALSE(IsRemotePath("mem://b/a"));
  EXPECT_THAT(CreateDirectories("mem://b/a"), ErrorHas("no file system for mem://"));
  const MemoryFileSystem store;
  EXPECT_TRUE(IsRemotePath("mem://b/a"));
  for (const char* const path : {"", "mem", "/mem://b", "./mem://b", "a/mem://b", "://b"}) {
    EXPECT_FALSE(IsRemotePath(path)) << path;
  }
}

}  // namespace
}  // namespace estimator
