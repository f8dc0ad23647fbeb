#include "estimator/base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Pattern(size_t n) {
  std::string text(n, '\0');
  for (size_t i = 0; i < n; ++i) text[i] = static_cast<char>(i * 131 + i / 256);
  return text;
}

TEST(FileTest, ReadsBackWhatWasWrittenAtomically) {
  const TempDir dir;
  for (const size_t size : {0, 1, 4095, 4096, 4097, 1000000}) {
    EST_ASSERT_OK(WriteFileAtomically(dir.File("a"), Pattern(size)));
    EXPECT_EQ(*ReadFile(dir.File("a")), Pattern(size)) << size;
  }
  EXPECT_THAT(*ListDirectory(dir.path()), ElementsAre("a"));
}

TEST(FileTest, ReadsFilesThatTellNoSize) { EXPECT_FALSE(ReadFile("/proc/self/stat")->empty()); }

TEST(FileTest, ReadErrorsNameThePath) {
  const TempDir dir;
  EXPECT_THAT(ReadFile(dir.File("none")), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ReadFile(dir.File("none")), ErrorHas(dir.File("none") + ": No such file"));
  EXPECT_THAT(ReadFile(dir.path()), ErrorHas("Is a directory"));
}

TEST(FileTest, AtomicWriteNamesItsTargetInAnError) {
  const TempDir dir;
  EXPECT_THAT(WriteFileAtomically(dir.File("none/a"), "x"),
              ErrorHas("writing " + dir.File("none/a")));
}

// Fixed bug: a result file of /dev/full became a file there.
TEST(FileTest, AnAtomicWriteGoesThroughLinksAndPipesAndReplacesNeither) {
  const TempDir dir;
  const std::string target = dir.File("target"), link = dir.File("link"), pipe = dir.File("pipe");
  EST_ASSERT_OK(WriteFileAtomically(target, "old"));
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  EST_ASSERT_OK(WriteFileAtomically(link, "new"));
  EXPECT_EQ(*ReadFile(target), "new");
  struct stat info;
  ASSERT_EQ(lstat(link.c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));

  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EST_ASSERT_OK(WriteFileAtomically(pipe, "through"));
  char bytes[16] = {};
  EXPECT_EQ(read(reader, bytes, sizeof(bytes)), 7);
  EXPECT_STREQ(bytes, "through");
  close(reader);
  ASSERT_EQ(lstat(pipe.c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
}

TEST(FileTest, ADerivedFileReplacesLinksAndPipes) {
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("precious"), "precious"));
  ASSERT_EQ(::symlink(dir.File("precious").c_str(), dir.File("link").c_str()), 0);
  ASSERT_EQ(::mkfifo(dir.File("pipe").c_str(), 0600), 0);
  for (const char* const name : {"link", "pipe"}) {
    EST_ASSERT_OK(WriteDerivedFile(dir.File(name), "derived"));
    EXPECT_EQ(*ReadFile(dir.File(name)), "derived");
  }
  EXPECT_EQ(*ReadFile(dir.File("precious")), "precious");
}

// A fixed bug: opening a pipe waited for ever, and a device without end filled the memory.
TEST(FileTest, PipesAndDevicesAreNotRead) {
  const TempDir dir;
  const std::string pipe = dir.File("pipe"), link = dir.File("link");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(symlink(pipe.c_str(), link.c_str()), 0);
  EXPECT_THAT(ReadFile(pipe), ErrorHas(pipe + ": it is a pipe"));
  EXPECT_THAT(ReadFile(link), ErrorHas("it is a pipe"));
  EXPECT_THAT(RandomAccessFile::Open(pipe), ErrorHas("it is a pipe"));
  EXPECT_THAT(MmapFile::Open(pipe), ErrorHas("it is a pipe"));
  EXPECT_THAT(ReadFile("/dev/zero"), ErrorHas("/dev/zero: it is a device"));
  EST_EXPECT_OK(ReadFile("/proc/self/status"));  // a file, though its size is 0
}

TEST(FileTest, AKillAtAnyInstantOfAnAtomicWriteLeavesOldOrNewContents) {
  const TempDir dir;
  const std::string path = dir.File("checkpoint");
  EST_ASSERT_OK(WriteFileAtomically(path, "the old contents"));
  int num_operations = 0;
  bool done = false;
  for (; !done; ++num_operations) {
    ASSERT_LT(num_operations, 20);
    absl::Status status;
    {
      ScopedFaultInjector faults(CrashAfter(num_operations));
      status = WriteFileAtomically(path, "the new contents");
    }
    const std::string contents = *ReadFile(path);
    EXPECT_TRUE(contents == "the old contents" || contents == "the new contents") << contents;
    done = status.ok();
  }
  EXPECT_EQ(num_operations,
            6);  // open, write, sync, rename, sync of the directory; then it succeeds
  EXPECT_EQ(*ReadFile(path), "the new contents");
}

// After a power loss a file may be empty whose bytes were not on the disk before it got its name.
TEST(FileTest, AnAtomicWriteSyncsTheBytesBeforeTheRenameAndTheFolderAfterIt) {
  const TempDir dir;
  std::vector<std::string> operations;
  {
    const ScopedFaultInjector record([&](FileOperation operation, absl::string_view path) -> Fault {
      const bool temporary = absl::StrContains(path, ".tmp-");
      operations.push_back(absl::StrCat(FileOperationName(operation), " ",
                                        temporary            ? "temporary"
                                        : path == dir.path() ? "folder"
                                                             : Basename(path)));
      return {};
    });
    EST_ASSERT_OK(WriteDerivedFile(dir.File("checkpoint"), "contents"));
  }
  // Other questions may be asked before.
  operations.erase(operations.begin(),
                   std::find(operations.begin(), operations.end(), "open temporary"));
  EXPECT_THAT(operations, ElementsAre("open temporary", "write temporary", "sync temporary",
                                      "close temporary", "rename checkpoint", "sync folder"));
}

TEST(WritableFileTest, TruncatesOrAppends) {
  const TempDir dir;
  const std::string path = dir.File("a");
  for (const auto mode : {WritableFile::Mode::kTruncate, WritableFile::Mode::kAppend}) {
    auto file = WritableFile::Open(path, mode);
    EST_ASSERT_OK(file);
    EST_EXPECT_OK((*file)->Append("123"));
    EST_EXPECT_OK((*file)->Close());
  }
  EXPECT_EQ(*ReadFile(path), "123123");
  auto file = WritableFile::Open(path, WritableFile::Mode::kAppend);
  EXPECT_EQ((*file)->size(), 6);
  EST_ASSERT_OK((*file)->Append("4"));
  EXPECT_EQ((*file)->size(), 7);
  file = WritableFile::Open(path);
  EXPECT_EQ((*file)->size(), 0);
}

TEST(WritableFileTest, FlushMakesBufferedBytesVisible) {
  const TempDir dir;
  auto file = *WritableFile::Open(dir.File("a"));
  EST_ASSERT_OK(file->Append("abc"));
  EXPECT_EQ(*ReadFile(dir.File("a")), "");
  EST_ASSERT_OK(file->Flush());
  EXPECT_EQ(*ReadFile(dir.File("a")), "abc");
  EST_EXPECT_OK(file->Sync());
}

TEST(WritableFileTest, PiecesLargerThanTheBufferKeepTheirOrder) {
  const TempDir dir;
  const std::string large = Pattern(600000);
  {
    auto file = *WritableFile::Open(dir.File("a"));
    EST_ASSERT_OK(file->Append("head"));
    EST_ASSERT_OK(file->Append(large));
    for (int i = 0; i < 1000; ++i)
      EST_ASSERT_OK(file->Append(absl::string_view(large).substr(0, 999)));
  }
  std::string expected = "head" + large;
  for (int i = 0; i < 1000; ++i) expected += large.substr(0, 999);
  EXPECT_EQ(*ReadFile(dir.File("a")), expected);
}

TEST(WritableFileTest, AClosedFileRefusesEverything) {
  const TempDir dir;
  auto file = *WritableFile::Open(dir.File("a"));
  EST_EXPECT_OK(file->Close());
  EXPECT_THAT(file->Append("x"), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(file->Sync(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(file->Close(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(WritableFileTest, KeepsItsFirstError) {
  const TempDir dir;
  auto file = *WritableFile::Open(dir.File("a"));
  {
    ScopedFaultInjector faults([](FileOperation operation, absl::string_view) -> Fault {
      if (operation != FileOperation::kWrite) return {};
      return {.status = absl::ResourceExhaustedError("disk full"), .truncate_after_bytes = 2};
    });
    EST_ASSERT_OK(file->Append("abcd"));
    EXPECT_EQ(file->Flush(), absl::ResourceExhaustedError("disk full"));
  }
  EXPECT_EQ(file->Append("e"), absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(file->Close(), absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(*ReadFile(dir.File("a")), "ab");
}

TEST(WritableFileTest, ATornWriteCanPretendSuccess) {
  const TempDir dir;
  ScopedFaultInjector faults([](FileOperation operation, absl::string_view) -> Fault {
    if (operation != FileOperation::kWrite) return {};
    return {.status = absl::OkStatus(), .truncate_after_bytes = 3};
  });
  auto file = *WritableFile::Open(dir.File("a"));
  EST_ASSERT_OK(file->Append("abcdef"));
  EST_EXPECT_OK(file->Close());
  EXPECT_EQ(*FileSize(dir.File("a")), 3);
}

TEST(WritableFileTest, AShortWriteIsFollowedByTheRest) {
  const TempDir dir;
  int num_writes = 0;
  ScopedFaultInjector faults([&](FileOperation operation, absl::string_view) -> Fault {
    if (operation == FileOperation::kWrite) ++num_writes;
    return {.bytes_per_call = 3};
  });
  auto file = *WritableFile::Open(dir.File("a"));
  EST_ASSERT_OK(file->Append("abcdefgh"));
  EST_EXPECT_OK(file->Close());
  EXPECT_EQ(*ReadFile(dir.File("a")), "abcdefgh");
  EXPECT_EQ(num_writes, 1);
}

TEST(WritableFileTest, AnErrorOfClosingIsReturnedAndTheFileIsClosed) {
  const TempDir dir;
  ScopedFaultInjector faults([](FileOperation operation, absl::string_view) -> Fault {
    if (operation != FileOperation::kClose) return {};
    return {.status = absl::DataLossError("lost")};
  });
  auto file = *WritableFile::Open(dir.File("a"));
  EXPECT_EQ(file->Close(), absl::DataLossError("lost"));
  EXPECT_THAT(file->Close(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(WriteFileAtomically(dir.File("b"), "x"), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_EQ(*ListDirectory(dir.path()), std::vector<std::string>{"a"});
}

TEST(RandomAccessFileTest, ReadsAtAnOffsetAndStopsAtTheEnd) {
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("a"), "0123456789"));
  const auto file = *RandomAccessFile::Open(dir.File("a"));
  EXPECT_EQ(file->size(), 10);
  char buffer[8];
  EXPECT_EQ(*file->Read(3, 4, buffer), 4u);
  EXPECT_EQ(std::string(buffer, 4), "3456");
  EXPECT_EQ(*file->Read(8, 4, buffer), 2u);
  EXPECT_EQ(*file->Read(20, 4, buffer), 0u);
}

TEST(RandomAccessFileTest, ReadExactlyReportsAFileThatIsTooShort) {
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("a"), "0123456789"));
  const auto file = *RandomAccessFile::Open(dir.File("a"));
  char buffer[8];
  EST_EXPECT_OK(file->ReadExactly(6, 4, buffer));
  const absl::Status status = file->ReadExactly(7, 4, buffer);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kOutOfRange,
                               HasSubstr("ends at byte 10: 4 bytes at offset 7")));
}

TEST(RandomAccessFileTest, AnInjectedShortReadLooksLikeTheEnd) {
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("a"), "0123456789"));
  ScopedFaultInjector faults([](FileOperation operation, absl::string_view) -> Fault {
    if (operation != FileOperation::kRead) return {};
    return {.status = absl::OkStatus(), .truncate_after_bytes = 4};
  });
  EXPECT_EQ(*ReadFile(dir.File("a")), "0123");
  EXPECT_EQ((*MmapFile::Open(dir.File("a")))->data(), "0123");
}

// A file may have any size and take no space on the disk.
TEST(ReadFileTest, AFileThatIsTooLargeIsRefusedBeforeItIsRead) {
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("a"), "0123456789"));
  EXPECT_EQ(*ReadFile(dir.File("a"), 10), "0123456789");
  ASSERT_EQ(::truncate(dir.File("a").c_str(), int64_t{1} << 40), 0);
  EXPECT_THAT(ReadFile(dir.File("a"), 10),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("has 1099511627776 bytes, but")));
}

TEST(MmapFileTest, ShowsTheContentsEvenAfterTheFileIsReplaced) {
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("a"), "old"));
  const auto file = *MmapFile::Open(dir.File("a"));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("a"), "new"));
  EXPECT_EQ(file->data(), "old");
}

TEST(MmapFileTest, AnEmptyFileIsEmptyAndAMissingOneAnError) {
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("a"), ""));
  EXPECT_EQ((*MmapFile::Open(dir.File("a")))->data(), "");
  EXPECT_THAT(MmapFile::Open(dir.File("b")), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace estimator
