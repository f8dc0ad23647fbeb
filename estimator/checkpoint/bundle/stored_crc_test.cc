#include "estimator/checkpoint/bundle/stored_crc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/base/crc32c.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/checkpoint/bundle/string_tensor.h"

namespace estimator {
namespace {

using std::string_literals::operator""s;

constexpr int kFloat = 1, kString = 7, kVariant = 21;

absl::Status Check(int dtype, int64_t num_elements, const std::string& bytes, uint32_t expected,
                   size_t piece) {
  StoredCrc crc(dtype, num_elements);
  for (size_t i = 0; i < bytes.size(); i += piece) {
    const absl::Status status = crc.Append(absl::string_view(bytes).substr(i, piece));
    if (!status.ok()) return status;
  }
  return crc.Finish(expected);
}

// Every flip and every cut of `bytes` is an error, in pieces of any size.
void ExpectNoDamageGoesUnnoticed(int dtype, int64_t num_elements, const std::string& bytes,
                                 uint32_t expected) {
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{1000}}) {
    EST_EXPECT_OK(Check(dtype, num_elements, bytes, expected, piece)) << piece;
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_FALSE(Check(dtype, num_elements, damaged, expected, piece).ok()) << bit;
    }
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(Check(dtype, num_elements, bytes.substr(0, size), expected, piece).ok()) << size;
    }
    EXPECT_FALSE(Check(dtype, num_elements, bytes + "x", expected, piece).ok());
  }
}

TEST(StoredCrc, OfNumbersIsThatOfTheBytes) {
  const std::string bytes = "\x00\x00\x80\x3f\x00\x00\x00\x40"s;
  ExpectNoDamageGoesUnnoticed(kFloat, 2, bytes, Crc32c(bytes));
  EST_EXPECT_OK(Check(kFloat, 0, "", 0, 1));
}

TEST(StoredCrc, OfStringsIsWhatTheEncoderSays) {
  for (const std::vector<std::string>& values : std::vector<std::vector<std::string>>{
           {"ab", "", "cde"}, {}, {"", ""}, {std::string(300, 'x')}}) {
    const EncodedStrings encoded = EncodeStrings(values);
    ExpectNoDamageGoesUnnoticed(kString, static_cast<int64_t>(values.size()), encoded.bytes,
                                encoded.crc32c);
  }
}

// Two variants as TensorFlow 2.15 stored them: lists of a tensor f32 [2,2], and the crc32c in the
// index.
TEST(StoredCrc, OfVariantsIsTensorFlows) {
  const std::string variant =
      "R\n\x16tensorflow::"
      "TensorList\x12\x10\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x12\x02"
      "\x08\x02\x1a\x12\x08\x01\x12\x04\x12\x02\x08\x02*\x08\x00\x00\x80?\x00\x00\x00@\x1a\x12\x08"
      "\x01\x12\x04\x12\x02\x08\x02*\x08\x00\x00@@\x00\x00\x80@"s;
  const std::string bytes = variant + "i\x15" + "E\x8e" + variant + "]\x16N?";
  ExpectNoDamageGoesUnnoticed(kVariant, 2, bytes, UnmaskCrc32c(0x9b05b527u));
}

TEST(StoredCrc, ALengthOfMoreThan64BitsIsNone) {
  EXPECT_THAT(Check(kString, 1, std::string(9, '\xff') + "\x02", 0, 1), ErrorHas("not a length"));
}

}  // namespace
}  // namespace estimator
