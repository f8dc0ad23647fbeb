#include "estimator/data/pipeline/iterator_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

TEST(IteratorState, ReadsWhatItWrites) {
  StateWriter writer;
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, ~uint64_t{0}}) {
    writer.Int(value);
  }
  writer.Bytes("abc");
  writer.Bool(true);
  writer.Int(int64_t{1} << 62);
  StateReader reader(writer.bytes());
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, ~uint64_t{0}}) {
    EXPECT_EQ(reader.Unsigned().value(), value);
  }
  EXPECT_EQ(reader.Bytes().value(), "abc");
  EXPECT_TRUE(reader.Bool().value());
  EXPECT_EQ(reader.Int().value(), int64_t{1} << 62);
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_FALSE(reader.Int().ok());
}

// A negative position was an index before the first element.
TEST(IteratorState, NumbersThatAreNoPositionAreRefused) {
  for (const int64_t value :
       {int64_t{-1}, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    StateWriter writer;
    writer.Int(value);
    EXPECT_THAT(StateReader(writer.bytes()).Int(), StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST(IteratorState, BytesLongerThanTheRestAreRefused) {
  EXPECT_FALSE(StateReader("\x05"
                           "abc")
                   .Bytes()
                   .ok());
}

std::string Described(absl::string_view name) {
  return absl::StrCat("Slices", DataName(name), " > Batch(2)");
}

// Fixed bug: a run on MNIST continued on digits that the program drew.
TEST(IteratorState, DataOfAnotherNameAreRefusedAndNotTakenForAnotherPipeline) {
  const std::string saved = SealState(Described("MNIST"), "xy");
  EXPECT_EQ(UnsealState(Described("MNIST"), saved).value(), "xy");
  EXPECT_THAT(
      UnsealState(Described("drawn digits"), saved),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("on MNIST, now on drawn digits")));
  EXPECT_THAT(UnsealState(absl::StrCat(Described("drawn digits"), " > Prefetch(2)"), saved),
              StatusIs(absl::StatusCode::kFailedPrecondition))
      << "in another pipeline too";
  EXPECT_THAT(UnsealState(Described(""), saved), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(IteratorState, AStateWithoutNamesIsOfAnyData) {
  EXPECT_EQ(UnsealState(Described("MNIST"), SealState(Described(""), "xy")).value(), "xy");
}

TEST(IteratorState, QuotesInANameDoNotEndIt) {
  EXPECT_EQ(Described("the \"best\") data"), "Slices(\"the 'best') data\") > Batch(2)");
  EXPECT_EQ(DataName(""), "");
}

TEST(IteratorState, ParenthesesInANameAreNotThoseOfSteps) {
  EXPECT_EQ(LastStep("Zip(Range, Slices(\"MNIST (train\") > Map) > Prefetch(2)"), "Prefetch(2)");
}

TEST(IteratorState, AnotherPipelineIsNamedByWhatDiffers) {
  const auto error = [](absl::string_view saved, absl::string_view now) {
    return UnsealState(now, SealState(saved, "xy")).status();
  };
  EXPECT_THAT(error("Range > Shuffle(10) > Batch(2)", "Range > Shuffle(20) > Batch(2)"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the saved input position is of another pipeline: \"Shuffle(10)\" is now "
                       "\"Shuffle(20)\" (saved \"Range > Shuffle(10) > Batch(2)\", now \"Range > "
                       "Shuffle(20) > Batch(2)\"); start without it, or build the same pipeline "
                       "again"));
  EXPECT_THAT(error("Range > Batch(2)", "Range > Cache > Map > Batch(2)"),
              ErrorHas(": \"Cache > Map\" was added (saved"));
  EXPECT_THAT(error("Range > Batch(2) > Batch(2)", "Range > Batch(2)"),
              ErrorHas(": \"Batch(2)\" was removed (saved"));
  EXPECT_THAT(error("Zip(Range > Map, Range) > Map", "Zip(Range, Range) > Map"),
              ErrorHas(": \"Zip(Range > Map, Range)\" is now \"Zip(Range, Range)\" (saved"));
}

TEST(IteratorState, BytesOnDiskStayAsTheyAre) {
  StateWriter writer;
  writer.Int(300);
  EXPECT_EQ(writer.bytes(), "\xac\x02");
  EXPECT_EQ(SealState("Range", "xy").substr(0, 13), std::string("EITR\x01\x05"
                                                                "Rangexy",
                                                                13));
}

}  // namespace
}  // namespace estimator
