#include "estimator/base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace estimator {
namespace {

TEST(Crc32cTest, AgreesWithThePublishedVectors) {
  // RFC 3720 section B.4, and the check value of the CRC catalogue.
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending.push_back(static_cast<char>(i));
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eu);
}

TEST(Crc32cTest, NoBytesHaveCrcZero) { EXPECT_EQ(Crc32c(""), 0u); }

TEST(Crc32cTest, ExtendingEqualsTheCrcOfTheWhole) {
  const std::string whole = "hello world, this is a record of some length";
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    EXPECT_EQ(ExtendCrc32c(Crc32c(whole.substr(0, cut)), whole.substr(cut)), Crc32c(whole)) << cut;
  }
}

TEST(Crc32cTest, UnmaskUndoesMask) {
  const uint32_t crc = Crc32c("foo");
  EXPECT_NE(MaskCrc32c(crc), crc);
  EXPECT_NE(MaskCrc32c(MaskCrc32c(crc)), crc);
  EXPECT_EQ(UnmaskCrc32c(MaskCrc32c(crc)), crc);
  EXPECT_EQ(UnmaskCrc32c(UnmaskCrc32c(MaskCrc32c(MaskCrc32c(crc)))), crc);
}

TEST(Crc32cTest, MaskRotatesRightBy15AndAddsTheDelta) {
  EXPECT_EQ(MaskCrc32c(0), 0xa282ead8u);
  EXPECT_EQ(MaskCrc32c(0x8000u), 0xa282ead9u);
}

}  // namespace
}  // namespace estimator
