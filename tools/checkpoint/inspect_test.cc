#include "tools/checkpoint/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/data/pipeline/iterator_state.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class InspectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto writer = BundleWriter::Open(prefix_).value();
    EST_ASSERT_OK(writer->Add("a", Array::Of<float>({4}, {1, 0, NAN, 5})));
    EST_ASSERT_OK(writer->Add("long", Array(DType::kInt32, {10, 10})));
    EST_ASSERT_OK(writer->AddSlice("p", {2}, {{0, 1}}, Array::Of<float>({1}, {1})));
    EST_ASSERT_OK(writer->AddSlice("p", {2}, {{1, 1}}, Array::Of<float>({1}, {2})));
    EST_ASSERT_OK(writer->Add("s", Array::String("hello")));
    EST_ASSERT_OK(writer->Finish());
    reader_ = BundleReader::Open(prefix_).value();
  }
  const TempDir dir_;
  const std::string prefix_ = dir_.File("m");
  std::unique_ptr<BundleReader> reader_;
};

TEST_F(InspectTest, ListsEveryVariableAndTheTotals) {
  EXPECT_THAT(*List(*reader_, {}), AllOf(HasSubstr("long      int32    [10,10]       100    400"),
                                         HasSubstr("4 variables, 107 elements")));
}

// A fixed bug: a zero byte in a name cut what a terminal shows.
TEST_F(InspectTest, NamesWithControlCharactersAreEscaped) {
  const TempDir dir;
  const auto writer = BundleWriter::Open(dir.File("z")).value();
  const std::string name("a\0b\n", 4);
  EST_ASSERT_OK(writer->Add(name, Array::Of<float>({1}, {1})));
  EST_ASSERT_OK(writer->Finish());
  const auto reader = BundleReader::Open(dir.File("z")).value();
  EXPECT_THAT(*List(*reader, {}), HasSubstr("\na\\000b\\n"));
  EXPECT_THAT(*Show(*reader, name), HasSubstr("a\\000b\\n\ntype"));
}

TEST_F(InspectTest, ShowsPlaceStatisticsAndValues) {
  EXPECT_THAT(*Show(*reader_, "a"),
              AllOf(HasSubstr("16 bytes at offset 0"), HasSubstr("min 0  max 5  mean 2"),
                    HasSubstr("NaN 1"), HasSubstr("values      1 0 nan 5")));
  EXPECT_THAT(*Show(*reader_, "long"), HasSubstr("0 0 0 0 0 0 ... 0 0 0 0 0 0\n"));
  EXPECT_THAT(*Show(*reader_, "p"), AllOf(HasSubstr("slice [1]"), HasSubstr("values      1 2")));
  EXPECT_THAT(*Show(*reader_, "s"), HasSubstr("'hello'"));
  EXPECT_THAT(Show(*reader_, "b"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(InspectTest, VerifyFindsAllDamageNotJustTheFirst) {
  const std::string path = DataPath(prefix_, 0, 1);
  EXPECT_THAT(Verify(prefix_)->damage, IsEmpty());
  std::string bytes = ReadFile(path).value();
  bytes[0] = 'x';
  bytes[420] = 'x';  // the second slice of p
  EST_ASSERT_OK(WriteFileAtomically(path, bytes));
  EXPECT_THAT(Verify(prefix_)->damage,
              ElementsAre(HasSubstr(path + ": a (16 bytes at offset 0): crc32c"),
                          HasSubstr(path + ": p (4 bytes at offset 420): crc32c")));
  EST_ASSERT_OK(RemoveFile(path));
  EXPECT_THAT(Verify(prefix_)->damage, ElementsAre(HasSubstr("is missing; it holds ")));
  EXPECT_THAT(Verify(dir_.File("none")), StatusIs(absl::StatusCode::kNotFound));
}

// A fixed bug: lines of a log that another descriptor wrote into the data file were not noticed.
TEST_F(InspectTest, VerifyFindsBytesAfterTheLastValue) {
  const std::string path = DataPath(prefix_, 0, 1);
  const std::string whole = ReadFile(path).value();
  EST_ASSERT_OK(WriteFileAtomically(path, whole + "I1122 loss = 2"));
  const VerifyReport report = Verify(prefix_).value();
  EXPECT_THAT(report.damage, ElementsAre(HasSubstr(path + ": 14 bytes after the last value")));
  EXPECT_THAT(report.summary, HasSubstr("1 data file with bytes after the last value: "));
  EST_ASSERT_OK(WriteFileAtomically(path, whole));
  EXPECT_THAT(Verify(prefix_)->damage, IsEmpty());
}

TEST_F(InspectTest, VerifyHoldsTheFilesBesideACheckpointToTheirForm) {
  const std::string input = InputStatePath(prefix_), graph = MetaGraphPath(prefix_);
  EST_ASSERT_OK(WriteFileAtomically(input, SealState("Range", "xy")));
  EXPECT_THAT(Verify(prefix_)->summary,
              AllOf(HasSubstr("whole: "), HasSubstr("data files verified; beside it m.input\n")));
  EST_ASSERT_OK(WriteFileAtomically(graph, "rubbish"));
  EST_ASSERT_OK(WriteFileAtomically(input, SealState("Range", "xy") + "z"));
  const VerifyReport report = Verify(prefix_).value();
  EXPECT_THAT(report.damage,
              ElementsAre(HasSubstr(input + ": the saved input position is damaged"),
                          HasSubstr(graph + ": its 7 bytes are not a MetaGraphDef")));
  EXPECT_THAT(report.summary, HasSubstr("2 damaged files beside it: "));
}

}  // namespace
}  // namespace estimator
