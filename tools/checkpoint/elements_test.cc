#include "tools/checkpoint/elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace estimator {
namespace {

using std::string_literals::operator""s;

// TensorFlow's numbers of dtypes.
constexpr int kFloat = 1, kComplex64 = 8, kInt64 = 9, kBfloat16 = 14, kUint64 = 23,
              kFloat8E5M2 = 24, kFloat8E4M3Fn = 25, kInt4 = 29;

std::vector<Number> Decoded(int dtype, const std::string& bytes) {
  std::vector<Number> numbers;
  DecodeElements(dtype, bytes, &numbers);
  return numbers;
}

TEST(Elements, DecodesEveryKindOfNumber) {
  EXPECT_EQ(Decoded(kFloat, "\0\0\x80\x3f\0\0\0\xc0"s), (std::vector<Number>{1, -2}));
  EXPECT_EQ(Decoded(kBfloat16, "\x80\x3f"s), (std::vector<Number>{1}));
  EXPECT_EQ(Decoded(kUint64, std::string(8, '\xff')),
            (std::vector<Number>{18446744073709551615.0L}));
  EXPECT_EQ(Decoded(kInt64, "\x01\0\0\0\0\0\x20\0"s), (std::vector<Number>{9007199254740993.0L}));
  EXPECT_EQ(Decoded(kComplex64, "\0\0\x80\x3f\0\0\0\xc0"s), (std::vector<Number>{1, -2}));
  EXPECT_EQ(Decoded(kInt4, "\x07\x0f\xf8"s), (std::vector<Number>{7, -1, -8}));
  EXPECT_EQ(Decoded(kFloat8E5M2, "\x3c\xc0\x7b"s), (std::vector<Number>{1, -2, 57344}));
  EXPECT_EQ(Decoded(kFloat8E4M3Fn, "\x38\xc0\x7e\x01"s),
            (std::vector<Number>{1, -2, 448, std::ldexp(1.0L, -9)}));
  EXPECT_TRUE(std::isnan(Decoded(kFloat8E4M3Fn, "\x7f"s)[0]));
}

TEST(Elements, EncodesWhatCanBeAveraged) {
  for (const int dtype : {kFloat, kBfloat16, kComplex64}) {
    ASSERT_TRUE(CanEncode(dtype));
    std::string bytes;
    EncodeElements(dtype, {1, -2.5}, &bytes);
    EXPECT_EQ(Decoded(dtype, bytes), (std::vector<Number>{1, -2.5}));
  }
  EXPECT_FALSE(CanEncode(kInt64));
  EXPECT_FALSE(CanEncode(kFloat8E5M2));
}

TEST(Elements, TextIsExactForIntegers) {
  const Number numbers[] = {9007199254740993.0L, 1, -2};
  EXPECT_EQ(ElementText(kInt64, numbers), "9007199254740993");
  EXPECT_EQ(ElementText(kComplex64, numbers + 1), "(1-2j)");
  EXPECT_EQ(ElementText(kFloat, numbers + 2), "-2");
}

}  // namespace
}  // namespace estimator
