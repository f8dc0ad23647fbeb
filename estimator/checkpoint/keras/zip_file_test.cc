#include "estimator/checkpoint/keras/zip_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

constexpr char kArchive[] = "testdata/keras/small.keras";

TEST(ReadZipFile, ReturnsTheContentsOfOneFile) {
  EXPECT_THAT(ReadZipFile(kArchive, "metadata.json").value(), HasSubstr("\"keras_version\""));
}

TEST(ReadZipFile, AMissingFileIsTold) {
  EXPECT_THAT(ReadZipFile(kArchive, "x").status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("small.keras has no x")));
}

TEST(ReadZipFile, AFileAboveTheLimitIsNotRead) {
  EXPECT_THAT(ReadZipFile(kArchive, "config.json", 100).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 100")));
}

// The sizes of an archive's list, which comes last, are those that a reader believes.
TEST(ReadZipFile, ASizeThatIsWrongIsFound) {
  const TempDir dir;
  const std::string whole = ReadFile(kArchive).value();
  // "PK\1\2", with the size compressed at 20 and the size at 24.
  const size_t entry = whole.find("PK\x01\x02");
  ASSERT_NE(entry, std::string::npos);
  for (const uint32_t size : {uint32_t{1}, uint32_t{1} << 30}) {
    std::string bytes = whole;
    for (size_t i = 0; i < 4; ++i) bytes[entry + 24 + i] = static_cast<char>(size >> (8 * i));
    const std::string path = dir.File("m.keras");
    EST_ASSERT_OK(WriteFileAtomically(path, bytes));
    EXPECT_THAT(ReadZipFile(path, "metadata.json").status(),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)))
        << size;
  }
}

}  // namespace
}  // namespace estimator
