#include "estimator/base/strings.h"

#include <gtest/gtest.h>

namespace estimator {
namespace {

TEST(StringsTest, EditDistanceCountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("flaw", "lawn"), 2);
}

TEST(StringsTest, NearestNameFindsATypingError) {
  const std::vector<std::string> names = {"model_dir", "train_steps", "use_tpu"};
  EXPECT_EQ(NearestName("model_dri", names), "model_dir");
  EXPECT_EQ(NearestName("MODEL_DIR", names), "model_dir");
  EXPECT_EQ(NearestName("train_step", names), "train_steps");
}

TEST(StringsTest, NearestNameSuggestsNothingThatIsFar) {
  EXPECT_EQ(NearestName("learning_rate", {"model_dir", "use_tpu"}), std::nullopt);
  EXPECT_EQ(NearestName("x", {"y"}), std::nullopt);
  EXPECT_EQ(NearestName("x", {}), std::nullopt);
}

TEST(StringsTest, NearestNameTakesTheEarliestOfEquals) {
  EXPECT_EQ(NearestName("convX", {"conv1", "conv2"}), "conv1");
}

TEST(StringsTest, TableAlignsTextLeftAndNumbersRight) {
  EXPECT_EQ(FormatTable({{"op", "calls", "note"}, {"Conv2D", "8", "a"}, {"Add", "1024", "b"}}),
            "op      calls  note\n"
            "Conv2D      8  a\n"
            "Add      1024  b\n");
}

TEST(StringsTest, TableTakesShortRowsAndNoRows) {
  EXPECT_EQ(FormatTable({{"a", "b"}, {"x"}}), "a  b\nx\n");
  EXPECT_EQ(FormatTable({}), "");
}

TEST(StringsTest, BytesComeInBinaryUnits) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1536), "1.5 KiB");
  EXPECT_EQ(HumanBytes((int64_t{1} << 20) - 1), "1.0 MiB");
  EXPECT_EQ(HumanBytes(int64_t{34} << 30), "34.0 GiB");
}

TEST(StringsTest, ALongListIsShortened) {
  EXPECT_EQ(JoinSome({}, 2), "");
  EXPECT_EQ(JoinSome({"a"}, 2), "a");
  EXPECT_EQ(JoinSome({"a", "b"}, 2), "a, b");
  EXPECT_EQ(JoinSome({"a", "b", "c"}, 2), "a, b and 1 more");
  EXPECT_EQ(JoinSome(std::vector<std::string>(9, "x"), 1), "x and 8 more");
}

TEST(StringsTest, ShortenedHasTheLengthOfALongText) {
  EXPECT_EQ(Shortened("short"), "short");
  EXPECT_EQ(Shortened(std::string(100, 'x')), std::string(100, 'x'));
  EXPECT_EQ(Shortened(std::string(1000, 'x')), std::string(100, 'x') + "... (1000 bytes)");
}

TEST(StringsTest, CountsComeInDecimalUnits) {
  EXPECT_EQ(HumanCount(950), "950");
  EXPECT_EQ(HumanCount(12.34), "12.3");
  EXPECT_EQ(HumanCount(12345), "12.3k");
  EXPECT_EQ(HumanCount(3274634), "3.3M");
}

TEST(StringsTest, Utf8IsRecognized) {
  for (const absl::string_view text :
       {"", "abc", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
  }
  for (const absl::string_view text : {"\xff", "a\xe4", "\xc3", "\xc0\x80", "\xe0\x80\x80",
                                       "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xe2\x82z"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
  }
}

TEST(StringsTest, DurationsComeInTheUnitsOfAClock) {
  EXPECT_EQ(HumanDuration(0.00085), "850 us");
  EXPECT_EQ(HumanDuration(0.0123), "12.3 ms");
  EXPECT_EQ(HumanDuration(4.2), "4.2 s");
  EXPECT_EQ(HumanDuration(59.99), "1m 00s");
  EXPECT_EQ(HumanDuration(245), "4m 05s");
  EXPECT_EQ(HumanDuration(7380), "2h 03m");
  EXPECT_EQ(HumanDuration(3 * 86400 + 4 * 3600), "3d 04h");
  EXPECT_EQ(HumanDuration(-4.2), "-4.2 s");
}

}  // namespace
}  // namespace estimator
