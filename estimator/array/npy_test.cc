#include "estimator/array/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A version 1.0 file with this header, padded as NumPy pads it, and these elements.
std::string File(std::string header, const std::string& data) {
  while ((10 + header.size() + 1) % 64 != 0) header.push_back(' ');
  header.push_back('\n');
  std::string file("\x93NUMPY\x01\x00", 8);
  file.push_back(static_cast<char>(header.size()));
  file.push_back(0);
  return file + header + data;
}
std::string Header(const std::string& descr, const std::string& shape,
                   const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}
absl::Status Error(const std::string& bytes) { return ParseNpy(bytes).status(); }

TEST(Npy, NumbersAreRead) {
  const auto array =
      ParseNpy(File(Header("<i4", "(2, 1)"), std::string("\1\0\0\0\xff\xff\xff\xff", 8)));
  EST_ASSERT_OK(array);
  EXPECT_EQ(array->shape(), (Shape{2, 1}));
  EXPECT_THAT(array->values<int32_t>(), ElementsAre(1, -1));
  EXPECT_EQ(ParseNpy(File(Header("<f4", "()"), std::string("\0\0\x80\x3f", 4)))->scalar<float>(),
            1);
  EXPECT_THAT(ParseNpy(File(Header("|b1", "(3,)"), std::string("\0\1\2", 3)))->values<bool>(),
              ElementsAre(false, true, true));
  EXPECT_EQ(ParseNpy(File(Header("<f4", "(0, 4)"), ""))->shape(), (Shape{0, 4}));
}

// What numpy.save writes of np.arange(3, dtype=np.float32), byte by byte.
TEST(Npy, WritesWhatNumPyWrites) {
  const std::string data("\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 12);
  const std::string file = File(Header("<f4", "(3,)"), data);
  EXPECT_EQ(file.size(), 128u + 12);
  EXPECT_EQ(NpyBytes(Array::Of<float>({3}, {0, 1, 2})), file);
}

TEST(Npy, StringsOfBytesAndOfCharactersAreRead) {
  EXPECT_THAT(
      ParseNpy(File(Header("|S3", "(2,)"), std::string("ab\0abc", 6)))->values<std::string>(),
      ElementsAre("ab", "abc"));
  // "é" and "€"
  const std::string wide("\xe9\0\0\0\0\0\0\0\xac\x20\0\0\x61\0\0\0", 16);
  EXPECT_THAT(ParseNpy(File(Header("<U2", "(2,)"), wide))->values<std::string>(),
              ElementsAre("\xc3\xa9",
                          "\xe2\x82\xac"
                          "a"));
}

TEST(Npy, EveryDtypeIsReadBack) {
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kInt8, DType::kInt16,
        DType::kInt32, DType::kInt64, DType::kUint8, DType::kBool}) {
    const Array array = Array::Of<int32_t>({2, 3}, {0, 1, 1, 0, 1, 0}).Cast(dtype);
    const auto read = ParseNpy(NpyBytes(array));
    EST_ASSERT_OK(read);
    EXPECT_EQ(read->TypeString(), array.TypeString());
    EXPECT_EQ(read->ToString(), array.ToString());
  }
  const auto half = ParseNpy(NpyBytes(Array::Of<float>({1}, {1.5f}).Cast(DType::kBfloat16)));
  EXPECT_THAT(half->values<float>(), ElementsAre(1.5f));
  EXPECT_THAT(ParseNpy(NpyBytes(Array::Of<std::string>({2}, {"", "dog"})))->values<std::string>(),
              ElementsAre("", "dog"));
  EXPECT_EQ(ParseNpy(NpyBytes(Array::Scalar<int64_t>(7)))->shape(), Shape{});
}

TEST(Npy, WhatIsNoSuchFileIsRefused) {
  EXPECT_THAT(Error("hello, world"), ErrorHas("does not begin with"));
  EXPECT_THAT(Error(""), ErrorHas("it is empty"));
  EXPECT_THAT(Error("PK\x03\x04 and the rest of a zip archive"), ErrorHas("numpy.load(FILE)"));
  EXPECT_THAT(Error(File(Header("<f4", "(-1,)"), "")), ErrorHas("a size is '-1'"));
  EXPECT_THAT(Error(File(Header("<f4", "(99999999, 99999999, 99999999)"), "")),
              ErrorHas("too large"));
  EXPECT_THAT(Error(File(Header("|S0", "(1000000000000,)"), "")), ErrorHas("dtype is 'S0'"));
  EXPECT_THAT(Error(File("{'shape': (3,)}", "")), ErrorHas("no descr"));
  const std::string whole = File(Header("<f4", "(1,)"), "1234");
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(ParseNpy(whole.substr(0, size)).ok());
}

// Fixed bug: it was called no .npy file.
TEST(Npy, WhatIsCutShortOrTooLongIsSaidWithBothSizes) {
  EXPECT_THAT(Error(File(Header("<f4", "(3,)"), "1234")),
              ErrorHas("the .npy file is cut short: its header says f32 [3], 12 bytes, and 4 "
                       "follow"));
  EXPECT_THAT(Error(File(Header("<f4", "(1,)"), "12345")),
              ErrorHas("bytes after its end: its header says f32 [1], 4 bytes, and 5 follow"));
  EXPECT_THAT(Error(File(Header("|S3", "(3,)"), "1234")),
              ErrorHas("its header says 'S3' [3], and 4 bytes follow"));
  const std::string whole = File(Header("<f4", "(1,)"), "1234");
  EXPECT_THAT(Error(whole.substr(0, whole.size() - 8)), ErrorHas("is cut short: it ends in its"));
}

// A fixed bug: such files were refused, though numpy.save writes them without being asked.
TEST(Npy, BigEndianNumbersAndFortranOrderAreConverted) {
  using namespace std::string_literals;
  EST_ASSERT_OK_AND_ASSIGN(const Array big, ParseNpy(File(Header(">i2", "(2,)"), "\1\2\0\3"s)));
  EXPECT_THAT(big.values<int16_t>(), ElementsAre(0x102, 3));
  EST_ASSERT_OK_AND_ASSIGN(const Array text, ParseNpy(File(Header(">U1", "(1,)"), "\0\0\0a"s)));
  EXPECT_THAT(text.values<std::string>(), ElementsAre("a"));
  // numpy.asfortranarray([[1, 2, 3], [4, 5, 6]]) has its columns one after another.
  EST_ASSERT_OK_AND_ASSIGN(const Array columns,
                           ParseNpy(File(Header("|u1", "(2, 3)", "True"), "\1\4\2\5\3\6"s)));
  EXPECT_THAT(columns.values<uint8_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EST_ASSERT_OK_AND_ASSIGN(const Array both,
                           ParseNpy(File(Header(">i2", "(2, 1, 2)", "True"), "\0\1\0\3\0\2\0\4"s)));
  EXPECT_THAT(both.values<int16_t>(), ElementsAre(1, 2, 3, 4));
  EST_ASSERT_OK_AND_ASSIGN(const Array strings,
                           ParseNpy(File(Header("|S1", "(2, 2)", "True"), "acbd")));
  EXPECT_THAT(strings.values<std::string>(), ElementsAre("a", "b", "c", "d"));
}

TEST(Npy, WhatHasNoCounterpartSaysWhatToSave) {
  EXPECT_THAT(Error(File(Header("|O", "(3,)"), "")), ErrorHas("numpy.array(x, dtype='S')"));
  EXPECT_THAT(Error(File(Header("<c8", "(1,)"), "12345678")), ErrorHas("dtype 'c8'"));
  EXPECT_THAT(Error(File("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "")),
              ErrorHas("structures"));
}

TEST(Npy, AFileIsSavedAndLoaded) {
  const TempDir dir;
  EST_ASSERT_OK(SaveNpy(dir.File("x.npy"), Array::Strings({"a", "bcd"})));
  EST_ASSERT_OK_AND_ASSIGN(const Array array, LoadNpy(dir.File("x.npy")));
  EXPECT_EQ(array.TypeString(), "str [2]");
  EXPECT_THAT(array.values<std::string>(), ElementsAre("a", "bcd"));
}

TEST(Npy, AFileThatCannotBeLoadedOrSavedIsNamed) {
  const TempDir dir;
  const std::string path = dir.File("x.npy");
  EXPECT_THAT(LoadNpy(path), StatusIs(absl::StatusCode::kNotFound, HasSubstr(path)));
  EXPECT_THAT(SaveNpy(path, Array()), StatusIs(absl::StatusCode::kInvalidArgument,
                                               HasSubstr(path + ": the array has no dtype")));
  EST_ASSERT_OK(SaveNpy(path, Array::Scalar(1.f)));
  EST_ASSERT_OK_AND_ASSIGN(const std::string whole, ReadFile(path));
  EST_ASSERT_OK(WriteFileAtomically(path, whole.substr(0, whole.size() - 1)));
  EXPECT_THAT(LoadNpy(path), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr(path + ": the .npy file is cut short")));
}

}  // namespace
}  // namespace estimator
