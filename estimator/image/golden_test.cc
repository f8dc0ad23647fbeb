// Every function that decodes or encodes files, against TensorFlow: the calls of
// testdata/images/goldens.txt, which testdata/images/generate.py writes.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "estimator/array/npy.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/file.h"
#include "estimator/image/testing/image_functions.h"
#include "gtest/gtest.h"

namespace estimator::image {
namespace {

const char kFolder[] = "testdata/images/";

// The result of a call as goldens.txt writes it.
std::string ResultOf(const std::vector<std::string>& words) {
  const absl::StatusOr<testing::Numbers> numbers =
      testing::ParseNumbers(absl::MakeSpan(words).subspan(2));
  if (!numbers.ok()) return numbers.status().ToString();
  const std::string path = absl::StrCat(kFolder, words[1]);
  if (absl::StartsWith(words[0], "encode_")) {
    const absl::StatusOr<Array> image = LoadNpy(path);
    if (!image.ok()) return image.status().ToString();
    const absl::StatusOr<std::string> bytes = testing::Encode(words[0], *image, *numbers);
    return bytes.ok() ? absl::StrCat(Crc32c(*bytes) & 0x7fffffff) : bytes.status().ToString();
  }
  const absl::StatusOr<std::string> contents = ReadFile(path);
  if (!contents.ok()) return contents.status().ToString();
  const absl::StatusOr<Array> image = testing::Decode(words[0], *contents, *numbers);
  if (absl::IsInvalidArgument(image.status())) return "error";
  if (!image.ok()) return image.status().ToString();
  return absl::StrCat(DTypeName(image->dtype()), " ", absl::StrJoin(image->shape().dims(), ","),
                      " ", testing::Checksum(*image));
}

TEST(ImageGolden, EveryCallGivesTensorFlowsBytesOrAnErrorWhereItDoes) {
  const absl::StatusOr<std::string> goldens = ReadFile(absl::StrCat(kFolder, "goldens.txt"));
  ASSERT_TRUE(goldens.ok()) << goldens.status();
  std::map<std::string, int> calls;
  for (const absl::string_view line : absl::StrSplit(*goldens, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> halves = absl::StrSplit(line, " -> ");
    ASSERT_EQ(halves.size(), 2u) << line;
    const std::vector<std::string> words = absl::StrSplit(halves[0], ' ');
    ASSERT_GE(words.size(), 2u) << line;
    EXPECT_EQ(ResultOf(words), halves[1]) << halves[0];
    ++calls[words[0]];
  }
  EXPECT_GT(calls["decode_jpeg"], 200);
  EXPECT_GT(calls["decode_and_crop_jpeg"], 200);
  EXPECT_GT(calls["extract_jpeg_shape"], 20);
  EXPECT_EQ(calls["every_prefix"], 9);
  EXPECT_GT(calls["decode_png"], 400);
  EXPECT_GT(calls["decode_image"], 50);
  EXPECT_GT(calls["encode_jpeg"], 20);
}

}  // namespace
}  // namespace estimator::image
