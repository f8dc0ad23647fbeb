#include "estimator/checkpoint/table/snappy.h"

#include <gtest/gtest.h>

#include <string>

namespace estimator {
namespace {

using std::string_literals::operator""s;

TEST(Snappy, UncompressesLiteralsAndCopiesOfEveryKind) {
  EXPECT_EQ(SnappyUncompress("\x05\x10hello"s), "hello");
  EXPECT_EQ(SnappyUncompress("\x05\xf0\x04hello"s), "hello") << "length in a byte of its own";
  EXPECT_EQ(SnappyUncompress("\x09\x04"
                             "ab"
                             "\x0d\x02"s),
            "ababababa")
      << "a copy that overlaps";
  EXPECT_EQ(SnappyUncompress("\x05\x04"
                             "ab"
                             "\x0a\x02\x00"s),
            "ababa");
  EXPECT_EQ(SnappyUncompress("\x05\x04"
                             "ab"
                             "\x0b\x02\x00\x00\x00"s),
            "ababa");
  EXPECT_EQ(SnappyUncompress("\x00"s), "");
}

TEST(Snappy, RefusesEveryCutAndWhatPointsOutOfIt) {
  const std::string whole =
      "\x09\x04"
      "ab"
      "\x0d\x02"s;
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(SnappyUncompress(whole.substr(0, size)), std::nullopt) << size;
  }
  EXPECT_EQ(SnappyUncompress("\x09\x04"
                             "ab"
                             "\x0d\x03"s),
            std::nullopt)
      << "before the beginning";
  EXPECT_EQ(SnappyUncompress("\x09\x04"
                             "ab"
                             "\x0d\x00"s),
            std::nullopt)
      << "offset 0";
  EXPECT_EQ(SnappyUncompress("\x08\x04"
                             "ab"
                             "\x0d\x02"s),
            std::nullopt)
      << "longer than it says";
  EXPECT_EQ(SnappyUncompress("\xff\xff\xff\xff\x0f\x00x"s), std::nullopt) << "4 GiB of 7 bytes";
}

}  // namespace
}  // namespace estimator
