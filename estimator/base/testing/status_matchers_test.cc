#include "estimator/base/testing/status_matchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const absl::Status kNoFile = absl::NotFoundError("no file 'a'");
absl::StatusOr<std::unique_ptr<int>> Five() { return std::make_unique<int>(5); }
absl::StatusOr<std::unique_ptr<int>> None() { return kNoFile; }

// What a failed EXPECT_THAT(value, matcher) would say.
template <typename T, typename M>
std::string Failure(const T& value, const M& matcher) {
  const ::testing::AssertionResult result =
      ::testing::internal::MakePredicateFormatterFromMatcher(matcher)("value", value);
  return result ? "" : result.message();
}

TEST(StatusMatchersTest, OkPasses) {
  EST_ASSERT_OK(absl::OkStatus());
  EST_EXPECT_OK(Five());
  EXPECT_THAT(Five(), IsOk());
  EXPECT_THAT(None(), Not(IsOk()));
}

TEST(StatusMatchersTest, AFailureShowsTheExpressionTheStatusAndTheCallersText) {
  EXPECT_NONFATAL_FAILURE(
      EST_EXPECT_OK(None()) << "in step 3",
      "Value of: None()\nExpected: is OK\n  Actual: NOT_FOUND: no file 'a'\nin step 3");
  EXPECT_FATAL_FAILURE(EST_ASSERT_OK(kNoFile), "Actual: NOT_FOUND: no file 'a'");
}

TEST(StatusMatchersTest, AssignsTheValue) {
  EST_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<int> five, Five());
  EXPECT_EQ(*five, 5);
}

void AssignNone() {
  EST_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<int> none, None());
  FAIL() << "still here";
}

TEST(StatusMatchersTest, AssigningAnErrorEndsTheTest) {
  EXPECT_FATAL_FAILURE(AssignNone(), "Value of: None()\nExpected: is OK\n  Actual: NOT_FOUND");
}

TEST(StatusMatchersTest, StatusIsMatchesCodeAndMessage) {
  EXPECT_THAT(kNoFile, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(None(), StatusIs(absl::StatusCode::kNotFound, "no file 'a'"));
  EXPECT_THAT(None(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("file")));
  EXPECT_THAT(None(), Not(StatusIs(absl::StatusCode::kInternal)));
  EXPECT_THAT(None(), Not(StatusIs(absl::StatusCode::kNotFound, "no file")));
  EXPECT_THAT(Five(), Not(StatusIs(absl::StatusCode::kNotFound)));
}

TEST(StatusMatchersTest, ErrorIsMatchesTheWholeMessage) {
  EXPECT_THAT(kNoFile, ErrorIs("no file 'a'"));
  EXPECT_THAT(None(), ErrorIs(AllOf(StartsWith("no"), EndsWith("'a'"))));
  EXPECT_THAT(None(), Not(ErrorIs("no file")));
}

TEST(StatusMatchersTest, ErrorHasMatchesAPartOfTheMessage) {
  EXPECT_THAT(None(), ErrorHas("file"));
  EXPECT_THAT(None(), Not(ErrorHas("directory")));
}

TEST(StatusMatchersTest, AnOkStatusIsNoError) {
  EXPECT_THAT(absl::OkStatus(), Not(ErrorIs("")));
  EXPECT_THAT(Five(), Not(ErrorHas("")));
}

TEST(StatusMatchersTest, AFailedMatchShowsTheStatus) {
  EXPECT_THAT(Failure(None(), ErrorHas("directory")),
              AllOf(HasSubstr("Expected: is an error whose message has substring \"directory\""),
                    HasSubstr("Actual: NOT_FOUND: no file 'a'")));
  EXPECT_THAT(Failure(None(), StatusIs(absl::StatusCode::kInternal, "a")),
              AllOf(HasSubstr("Expected: is INTERNAL whose message is equal to \"a\""),
                    HasSubstr("Actual: NOT_FOUND: no file 'a'")));
  EXPECT_THAT(Failure(Five(), ErrorHas("file")), HasSubstr("Actual: OK, the value "));
}

}  // namespace
}  // namespace estimator
