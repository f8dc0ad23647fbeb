// The file system on a shim of this test, which needs no Arrow. testdata/interop/check_remote.py
// tests the real one.
#include "estimator/remote/arrow_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/remote/arrow_library.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using Variables = std::map<std::string, std::string>;

ArrowPath Parsed(const std::string& path, const Variables& variables = {}) {
  const auto parsed = ParseArrowPath(path, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
  EST_EXPECT_OK(parsed);
  return parsed.value_or(ArrowPath{});
}

TEST(ArrowPathTest, HasTheBucketAndTheName) {
  EXPECT_EQ(Parsed("gs://bucket/a/b").uri, "gs://bucket?retry_limit_seconds=120");
  EXPECT_EQ(Parsed("gs://bucket/a/b").name, "bucket/a/b");
  EXPECT_EQ(Parsed("s3://bucket").name, "bucket");
  EXPECT_EQ(Parsed("gs://anonymous@bucket/a").uri, "gs://anonymous@bucket?retry_limit_seconds=120");
  EXPECT_EQ(Parsed("gs://anonymous@bucket/a").name, "bucket/a");
  const std::string azure = "abfs://box@account.dfs.core.windows.net/a/b";
  EXPECT_EQ(Parsed(azure).uri, "abfs://box@account.dfs.core.windows.net/");
  EXPECT_EQ(Parsed(azure).name, "box/a/b");
  EXPECT_EQ(Parsed("abfs://account.dfs.core.windows.net/box/a").name, "box/a");
}

TEST(ArrowPathTest, TakesOptionsFromTheEnvironment) {
  const Variables variables = {{"STORAGE_EMULATOR_HOST", "http://localhost:4443/"},
                               {"ESTIMATOR_GS_OPTIONS", "x=9"},
                               {"ESTIMATOR_S3_OPTIONS", "region=eu-west-1"}};
  EXPECT_EQ(
      Parsed("gs://b/a", variables).uri,
      "gs://anonymous@b?x=9&retry_limit_seconds=120&scheme=http&endpoint_override=localhost:4443");
  EXPECT_EQ(Parsed("s3://b/a", variables).uri, "s3://b?region=eu-west-1");
}

TEST(ArrowPathTest, APathWithoutBucketIsRefused) {
  const auto none = [](const char*) { return std::string(); };
  for (const char* const path : {"gs://", "gs:///a", "gs://anonymous@/a", "gs://me:secret@b/a"}) {
    EXPECT_THAT(ParseArrowPath(path, none), StatusIs(absl::StatusCode::kInvalidArgument)) << path;
  }
}

TEST(ArrowLibraryTest, AMissingLibraryNamesTheCommandThatInstallsIt) {
  const auto shim = LoadArrowFrom("/nowhere/libestimator_arrow.so");
  EXPECT_THAT(shim, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(shim.status(), ErrorHas("tools/get_arrow.sh"));
  ArrowFileSystem files([&] { return shim; });
  EXPECT_THAT(files.Stat("gs://bucket/a").status(), ErrorHas("gs://bucket/a: remote files need"));
}

// A store in memory, in C.
std::map<std::string, std::string>& Store() {
  static auto* const store = new std::map<std::string, std::string>;
  return *store;
}
int num_connections = 0, num_errors = 0;
std::atomic<bool> slow_bucket_waits = false, slow_bucket_is_asked = false;

EstArrowError* NewError(int32_t kind, const char* message) {
  ++num_errors;
  return new EstArrowError{kind, message};
}

struct FakeWriter {
  std::string path, contents;
};

EstArrowShim FakeShim() {
  EstArrowShim shim{};
  shim.abi = EST_ARROW_SHIM_ABI;
  shim.FreeError = [](EstArrowError* error) {
    --num_errors;
    delete error;
  };
  shim.Connect = [](const char* uri, EstArrowFileSystem** bucket) -> EstArrowError* {
    if (absl::StrContains(uri, "slow")) {
      slow_bucket_is_asked = true;
      while (slow_bucket_waits) std::this_thread::yield();
    }
    if (absl::StrContains(uri, "closed")) return NewError(EST_ARROW_PERMISSION_DENIED, "no entry");
    static char places[10];
    *bucket = reinterpret_cast<EstArrowFileSystem*>(&places[num_connections++]);
    return nullptr;
  };
  shim.Stat = [](EstArrowFileSystem*, const char* path, EstArrowInfo* info) -> EstArrowError* {
    if (absl::StrContains(path, "busy")) return NewError(EST_ARROW_UNAVAILABLE, "HTTP status 503");
    const auto found = Store().find(path);
    if (found == Store().end()) return nullptr;
    *info = {.kind = EST_ARROW_FILE,
             .size = static_cast<int64_t>(found->second.size()),
             .modified_ns = 1'500'000'000};
    return nullptr;
  };
  shim.List = [](EstArrowFileSystem*, const char* path, auto* entry, void* context) {
    EstArrowInfo info{.kind = EST_ARROW_DIRECTORY, .size = 0, .modified_ns = 0};
    entry(context, path, &info);
    return static_cast<EstArrowError*>(nullptr);
  };
  shim.Remove = [](EstArrowFileSystem*, const char* path) -> EstArrowError* {
    return Store().erase(path) == 1 ? nullptr : NewError(EST_ARROW_NOT_FOUND, "no such key");
  };
  shim.RemoveDirectory = [](EstArrowFileSystem*, const char*) -> EstArrowError* {
    Store().clear();
    return nullptr;
  };
  shim.Copy = [](EstArrowFileSystem*, const char* from, const char* to) -> EstArrowError* {
    Store()[to] = Store()[from];
    return nullptr;
  };
  shim.OpenReader = [](EstArrowFileSystem*, const char* path, EstArrowReader** reader,
                       int64_t* size) -> EstArrowError* {
    if (Store().count(path) == 0) return NewError(EST_ARROW_NOT_FOUND, "no such key");
    *reader = reinterpret_cast<EstArrowReader*>(new std::string(Store()[path]));
    *size = static_cast<int64_t>(Store()[path].size());
    return nullptr;
  };
  shim.Read = [](EstArrowReader* reader, int64_t offset, int64_t n, char* buffer,
                 int64_t* count) -> EstArrowError* {
    const std::string bytes = reinterpret_cast<std::string*>(reader)->substr(
        static_cast<size_t>(offset), static_cast<size_t>(n));
    std::memcpy(buffer, bytes.data(), bytes.size());
    *count = static_cast<int64_t>(bytes.size());
    return nullptr;
  };
  shim.CloseReader = [](EstArrowReader* reader) { delete reinterpret_cast<std::string*>(reader); };
  shim.OpenWriter = [](EstArrowFileSystem*, const char* path,
                       EstArrowWriter** writer) -> EstArrowError* {
    *writer = reinterpret_cast<EstArrowWriter*>(new FakeWriter{path, ""});
    return nullptr;
  };
  shim.Write = [](EstArrowWriter* writer, const char* data, int64_t n) -> EstArrowError* {
    reinterpret_cast<FakeWriter*>(writer)->contents.append(data, static_cast<size_t>(n));
    return nullptr;
  };
  shim.Commit = [](EstArrowWriter* writer) -> EstArrowError* {
    const auto* const fake = reinterpret_cast<FakeWriter*>(writer);
    Store()[fake->path] = fake->contents;
    return nullptr;
  };
  shim.CloseWriter = [](EstArrowWriter* writer) { delete reinterpret_cast<FakeWriter*>(writer); };
  return shim;
}

class ArrowFileSystemTest : public ::testing::Test {
 protected:
  ArrowFileSystemTest() {
    Store().clear();
    num_connections = num_errors = 0;
    RegisterRemoteFileSystem("gs", &files_);
  }
  // Arrow's registration is not restored: the other tests of this program do not use it.
  ~ArrowFileSystemTest() override { RegisterRemoteFileSystem("gs", nullptr); }

  const EstArrowShim shim_ = FakeShim();
  ArrowFileSystem files_{[this]() -> absl::StatusOr<const EstArrowShim*> { return &shim_; }};
};

TEST_F(ArrowFileSystemTest, FilesGoThroughTheShim) {
  EST_ASSERT_OK(WriteFileAtomically("gs://b/x/a", "contents"));
  EXPECT_EQ(Store()["b/x/a"], "contents");
  EXPECT_EQ(*ReadFile("gs://b/x/a"), "contents");
  EXPECT_EQ(*FileSize("gs://b/x/a"), 8);
  EXPECT_EQ(*FileModifiedTimeSeconds("gs://b/x/a"), 1.5);
  EXPECT_FALSE(*Exists("gs://b/none"));
  EXPECT_THAT(*ListDirectory("gs://b/x/"), ElementsAre("b/x"));
  EST_ASSERT_OK(RenameFile("gs://b/x/a", "gs://b/c"));
  EXPECT_EQ(*ReadFile("gs://b/c"), "contents");
  {
    const auto file = *WritableFile::Open("gs://b/c");
    EST_ASSERT_OK(file->Append("new"));
    EST_ASSERT_OK(file->Abandon());
  }
  EXPECT_EQ(*ReadFile("gs://b/c"), "contents");
  EXPECT_EQ(num_connections, 1);
  EXPECT_THAT(RenameFile("gs://b/c", "gs://other/c"), ErrorHas("different buckets"));
  EXPECT_EQ(num_connections, 2);
  EST_ASSERT_OK(RemoveDirectoryRecursively("gs://b/x"));
  EXPECT_EQ(num_errors, 0);
}

TEST_F(ArrowFileSystemTest, ErrorsHaveTheirKindAndThePath) {
  EXPECT_THAT(ReadFile("gs://b/none"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ReadFile("gs://b/none"), ErrorHas("cannot open gs://b/none: no such key"));
  EXPECT_THAT(Exists("gs://b/busy"), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_FALSE(*Exists("gs://b/none"));
  EXPECT_THAT(Exists("gs://closed/a"), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(Exists("gs://closed/a"), ErrorHas("check the credentials"));
  EXPECT_EQ(num_errors, 0);
}

// Without credentials, each request takes minutes to fail.
TEST_F(ArrowFileSystemTest, AStoreThatNeverAnsweredIsNotAskedAgainForAWhile) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Exists("gs://busy/a"), StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_EQ(num_connections, 1);
  EXPECT_FALSE(*Exists("gs://b/a"));  // another bucket
}

// The error is kept, and was that of the first path.
TEST_F(ArrowFileSystemTest, AKeptErrorNamesThePathThatIsAskedFor) {
  EXPECT_THAT(Exists("gs://busy/a"), ErrorHas("gs://busy/a"));
  EXPECT_THAT(Exists("gs://busy/other"), ErrorHas("gs://busy/other"));
}

TEST_F(ArrowFileSystemTest, ABucketThatDoesNotAnswerKeepsNoOtherWaiting) {
  EST_ASSERT_OK(WriteFileAtomically("gs://b/a", "contents"));
  slow_bucket_waits = true;
  std::thread slow([] { EST_EXPECT_OK(Exists("gs://slow/a").status()); });
  while (!slow_bucket_is_asked) std::this_thread::yield();
  EXPECT_EQ(*ReadFile("gs://b/a"), "contents");
  EXPECT_FALSE(*Exists("gs://c/a"));
  slow_bucket_waits = false;
  slow.join();
}

TEST_F(ArrowFileSystemTest, ABucketIsNotRemoved) {
  EST_ASSERT_OK(WriteFileAtomically("gs://b/a", "precious"));
  for (const char* const bucket : {"gs://b", "gs://b/"}) {
    EXPECT_THAT(RemoveDirectoryRecursively(bucket), ErrorHas("it is a bucket"));
  }
  EXPECT_EQ(*ReadFile("gs://b/a"), "precious");
}

}  // namespace
}  // namespace estimator
