#include "estimator/base/remote/read_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/memory_file_system.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

constexpr int64_t kWindow = static_cast<int64_t>(ReadAhead::kWindowBytes);
constexpr char kPath[] = "mem://b/a";

std::string CountingBytes(int64_t size) {
  std::string text(static_cast<size_t>(size), '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 131 + i / 256);
  return text;
}

class ReadAheadTest : public ::testing::Test {
 protected:
  void Open(int64_t size) {
    contents_ = CountingBytes(size);
    EST_ASSERT_OK(WriteFileAtomically(kPath, contents_));
    file_ = *RandomAccessFile::Open(kPath);
  }
  // Reads and compares n bytes; the file may end before that.
  void Check(int64_t offset, int64_t n) {
    std::string bytes(static_cast<size_t>(n), '\0');
    const auto count = file_->Read(offset, bytes.size(), bytes.data());
    EST_ASSERT_OK(count);
    bytes.resize(*count);
    const auto begin = static_cast<size_t>(std::min(offset, file_->size()));
    ASSERT_TRUE(bytes == contents_.substr(begin, static_cast<size_t>(n))) << offset << " " << n;
  }

  MemoryFileSystem store_;
  std::string contents_;
  std::unique_ptr<RandomAccessFile> file_;
};

TEST_F(ReadAheadTest, AFileFromFrontToBackIsReadInWindows) {
  Open(5 * kWindow + 12345);
  for (int64_t at = 0; at < file_->size(); at += 300000) Check(at, 300000);
  EXPECT_EQ(store_.num_requests("read"), 6);
  EXPECT_EQ(store_.bytes_read(), file_->size());
}

TEST_F(ReadAheadTest, ASmallFileIsOneRequestInAnyOrder) {
  Open(kWindow);
  for (const int64_t at : {kWindow - 48, int64_t{0}, kWindow / 2, kWindow - 1, kWindow}) {
    Check(at, 100);
  }
  EXPECT_EQ(store_.num_requests("read"), 1);
}

TEST_F(ReadAheadTest, ReadsHereAndThereGetTheirBytesOnly) {
  Open(10 * kWindow);
  int64_t wanted = 0;
  for (int64_t i = 1; i < 20; ++i) {
    Check(i * 7919 * 4096 % (9 * kWindow) + 2 * kWindow / 3, 1000);
    wanted += 1000;
  }
  EXPECT_LE(store_.bytes_read(), wanted + 2 * kWindow);
  EXPECT_GE(store_.num_requests("read"), 17);
}

TEST_F(ReadAheadTest, AScanOfHeadersReadsOnInWindows) {
  Open(4 * kWindow);
  for (int64_t at = 0; at < file_->size(); at += 100000) Check(at, 12);
  EXPECT_EQ(store_.num_requests("read"), 4);
}

TEST_F(ReadAheadTest, TheHeadOfAFileIsNotFollowedByMore) {
  Open(4 * kWindow);
  Check(0, 8);
  EXPECT_EQ(store_.bytes_read(), kWindow);
}

TEST_F(ReadAheadTest, LargeReadsAreOneRequest) {
  Open(4 * kWindow);
  Check(0, 4 * kWindow);
  EXPECT_EQ(store_.num_requests("read"), 1);
  Check(kWindow, 5 * kWindow);
}

TEST_F(ReadAheadTest, RandomReadsOfRandomSizesAreRight) {
  Open(3 * kWindow + 17);
  uint64_t state = 7;
  for (int i = 0; i < 200; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto at = static_cast<int64_t>(state >> 33) % (file_->size() + 100);
    Check(at, static_cast<int64_t>(state % 1000003) + 1);
    if (i % 3 == 0) Check(at + 1000, 5000);
  }
}

TEST_F(ReadAheadTest, ManyThreadsMayRead) {
  Open(3 * kWindow);
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int64_t at = t * 1000; at < file_->size(); at += 700001) Check(at, 4000);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// An error is one of the read that needs the bytes, and the next read may succeed.
TEST_F(ReadAheadTest, AFailedRequestIsAnErrorOnce) {
  Open(4 * kWindow);
  Check(0, kWindow / 4);
  store_.OnRequest([](absl::string_view request, absl::string_view path) {
    return request == "read" ? absl::UnavailableError(absl::StrCat(path, ": 503"))
                             : absl::OkStatus();
  });
  Check(kWindow / 4, kWindow / 2);  // the window has it; the next one fails behind it
  char byte = 0;
  EXPECT_THAT(file_->Read(kWindow * 3 / 4, 1, &byte).status(), IsOk());
  Check(kWindow * 3 / 4 + 1, kWindow / 4 - 1);
  EXPECT_THAT(file_->Read(kWindow, 1, &byte), StatusIs(absl::StatusCode::kUnavailable));
  store_.OnRequest(nullptr);
  Check(kWindow, 1000);
}

}  // namespace
}  // namespace estimator
