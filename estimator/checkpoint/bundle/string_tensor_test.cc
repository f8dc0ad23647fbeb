#include "estimator/checkpoint/bundle/string_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using std::string_literals::operator""s;

TEST(StringTensor, RoundTripsEmptyLongAndBinaryStrings) {
  const std::vector<std::string> values = {"", "hello", std::string(300, 'x'), "\x00\xff"s};
  const EncodedStrings encoded = EncodeStrings(values);
  EXPECT_EQ(encoded.bytes.size(), 1 + 1 + 2 + 1 + 4 + 0 + 5 + 300 + 2u);
  std::vector<std::string> read(4);
  EST_ASSERT_OK(DecodeStrings(encoded.bytes, encoded.crc32c, absl::MakeSpan(read)));
  EXPECT_EQ(read, values);
}

TEST(StringTensor, RoundTripsNoStrings) {
  const EncodedStrings encoded = EncodeStrings({});
  EXPECT_EQ(encoded.bytes.size(), 4u);
  EST_EXPECT_OK(DecodeStrings(encoded.bytes, encoded.crc32c, {}));
}

TEST(StringTensor, EveryFlippedBitAndEveryCutIsDataLoss) {
  const std::vector<std::string> values = {"ab", "", "cde"};
  const EncodedStrings encoded = EncodeStrings(values);
  std::vector<std::string> read(3);
  for (size_t bit = 0; bit < encoded.bytes.size() * 8; ++bit) {
    std::string bytes = encoded.bytes;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    const absl::Status status = DecodeStrings(bytes, encoded.crc32c, absl::MakeSpan(read));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss)) << bit;
  }
  for (size_t size = 0; size < encoded.bytes.size(); ++size) {
    const absl::Status status =
        DecodeStrings(encoded.bytes.substr(0, size), encoded.crc32c, absl::MakeSpan(read));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss)) << size;
  }
}

}  // namespace
}  // namespace estimator
