#include "tools/checkpoint/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>

#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle_writer.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DiffTest : public ::testing::Test {
 protected:
  std::unique_ptr<BundleReader> Save(const std::string& name,
                                     const std::map<std::string, Array>& values) {
    const auto writer = BundleWriter::Open(dir_.File(name)).value();
    for (const auto& [variable, value] : values) EST_EXPECT_OK(writer->Add(variable, value));
    EST_EXPECT_OK(writer->Finish());
    return BundleReader::Open(dir_.File(name)).value();
  }
  DiffReport DiffOf(const std::map<std::string, Array>& a, const std::map<std::string, Array>& b,
                    const DiffOptions& options = {}) {
    return Diff(*Save("a", a), *Save("b", b), options).value();
  }
  const TempDir dir_;
};

TEST_F(DiffTest, EqualCheckpointsAreEqualHoweverTheyArePartitioned) {
  const Array whole = Array::Of<float>({2, 2}, {1, NAN, 3, 4});
  const auto a = Save("a", {{"v", whole}, {"s", Array::String("x")}});
  const auto writer = BundleWriter::Open(dir_.File("b")).value();
  EST_ASSERT_OK(writer->AddSlice("v", {2, 2}, {{}, {0, 1}}, Array::Of<float>({2, 1}, {1, 3})));
  EST_ASSERT_OK(writer->AddSlice("v", {2, 2}, {{}, {1, 1}}, Array::Of<float>({2, 1}, {NAN, 4})));
  EST_ASSERT_OK(writer->Add("s", Array::String("x")));
  EST_ASSERT_OK(writer->Finish());
  const auto b = BundleReader::Open(dir_.File("b")).value();
  const DiffReport report = Diff(*a, *b, {}).value();
  EXPECT_TRUE(report.equal);
  EXPECT_THAT(report.text, HasSubstr("variables: 2 equal (A:"));
}

TEST_F(DiffTest, NamesTheWorstElementWithBothValues) {
  const DiffReport report = DiffOf({{"v", Array::Of<float>({2, 2}, {1, 2, 3, 4})}},
                                   {{"v", Array::Of<float>({2, 2}, {1, 2.5, 3, 8})}});
  EXPECT_FALSE(report.equal);
  EXPECT_THAT(report.text, AllOf(HasSubstr("2   4  [1,1]        4     8        4      0.5"),
                                 HasSubstr("1 differ")))
      << report.text;
}

TEST_F(DiffTest, TolerancesAreThoseOfAllclose) {
  const std::map<std::string, Array> a = {{"v", Array::Of<float>({2}, {100, 1})}};
  const std::map<std::string, Array> b = {{"v", Array::Of<float>({2}, {101, 1.001f})}};
  EXPECT_FALSE(DiffOf(a, b, {.rtol = 0.005}).equal);
  EXPECT_TRUE(DiffOf(a, b, {.rtol = 0.01}).equal);
  EXPECT_TRUE(DiffOf(a, b, {.atol = 1}).equal);
  EXPECT_FALSE(DiffOf({{"v", Array::Scalar<float>(INFINITY)}}, {{"v", Array::Scalar<float>(1)}},
                      {.rtol = 1, .atol = 1e30})
                   .equal);
  EXPECT_FALSE(Diff(*Save("a", a), *Save("b", b), {.rtol = -1}).ok());
}

TEST_F(DiffTest, TheWorstElementIsOneThatDiffers) {
  // 10 of 1000 is within 2%, 1 of 2 is not.
  const DiffReport report = DiffOf({{"v", Array::Of<float>({3}, {1010, 1, 3})}},
                                   {{"v", Array::Of<float>({3}, {1000, 2, 3})}}, {.rtol = 0.02});
  EXPECT_THAT(report.text, HasSubstr("1   3  [1]          1     2        1      0.5"))
      << report.text;
}

TEST_F(DiffTest, LargeIntegersThatDifferByOneDiffer) {
  const int64_t large = (int64_t{1} << 60) + 1;
  EXPECT_THAT(
      DiffOf({{"v", Array::Scalar<int64_t>(large)}}, {{"v", Array::Scalar<int64_t>(large + 1)}})
          .text,
      AllOf(HasSubstr("1152921504606846977"), HasSubstr("1152921504606846978")));
}

TEST_F(DiffTest, AnInt32StepEqualsAnInt64OneAndOtherDTypesOnlyWhenAsked) {
  const std::map<std::string, Array> a = {{"global_step", Array::Scalar<int32_t>(7)}};
  EXPECT_TRUE(DiffOf(a, {{"global_step", Array::Scalar<int64_t>(7)}}).equal);
  EXPECT_FALSE(DiffOf(a, {{"global_step", Array::Scalar<int64_t>(8)}}).equal);
  const std::map<std::string, Array> f = {{"v", Array::Scalar<float>(7)}};
  const std::map<std::string, Array> h = {{"v", Array::Scalar<Bfloat16>(7)}};
  EXPECT_THAT(DiffOf(f, h).text, HasSubstr("dtypes differ"));
  EXPECT_TRUE(DiffOf(f, h, {.ignore_dtype = true}).equal);
}

TEST_F(DiffTest, SaysWhatOnlyOneHasAndWhichStringDiffers) {
  const DiffReport report =
      DiffOf({{"a", Array::Scalar<float>(1)}, {"s", Array::Of<std::string>({2}, {"x", "y"})}},
             {{"b", Array::Scalar<float>(1)}, {"s", Array::Of<std::string>({2}, {"x", "z"})}});
  EXPECT_THAT(report.text, AllOf(HasSubstr("only in A"), HasSubstr("only in B"), HasSubstr("[1]"),
                                 HasSubstr("'y'"), HasSubstr("'z'")));
}

TEST_F(DiffTest, AllDamageIsReportedTogetherWithTheDifferencesOfTheRest) {
  const auto values = [](float last) {
    return std::map<std::string, Array>{
        {"both", Array::Scalar<float>(1)},
        {"good", Array::Scalar<float>(2)},
        {"in_b", Array::Scalar<float>(3)},
        {"last", Array::Scalar<float>(last)},
        {"shape", last == 4 ? Array::Scalar<float>(5) : Array::Of<float>({1}, {5})}};
  };
  const auto damage = [this](const std::string& name, const std::vector<size_t>& which) {
    const std::string path = DataPath(dir_.File(name), 0, 1);
    std::string bytes = ReadFile(path).value();
    for (const size_t variable : which) bytes[4 * variable] ^= 1;
    EST_ASSERT_OK(WriteFileAtomically(path, bytes));
  };
  Save("a", values(4));
  Save("b", values(40));
  damage("a", {0, 4});
  damage("b", {0, 2});
  const auto a = BundleReader::Open(dir_.File("a")).value();
  const auto b = BundleReader::Open(dir_.File("b")).value();
  const absl::StatusOr<DiffReport> report = Diff(*a, *b, {});
  EST_ASSERT_OK(report);
  EXPECT_FALSE(report->equal);
  EXPECT_THAT(report->damage,
              ElementsAre(HasSubstr(dir_.File("a")), HasSubstr(dir_.File("b")),
                          AllOf(HasSubstr(dir_.File("b")), HasSubstr("in_b"), HasSubstr("crc32c")),
                          AllOf(HasSubstr(dir_.File("a")), HasSubstr("shape"))));
  EXPECT_THAT(report->text,
              AllOf(HasSubstr("damaged in both"), HasSubstr("damaged in B"), HasSubstr("40"),
                    HasSubstr("variables: 1 equal, 2 different, 2 damaged")))
      << report->text;
}

}  // namespace
}  // namespace estimator
