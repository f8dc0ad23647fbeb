#include "estimator/base/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace estimator {
namespace {

absl::StatusOr<std::unique_ptr<int>> Half(int n) {
  if (n % 2 != 0) return absl::InvalidArgumentError(absl::StrCat(n, " is odd"));
  return std::make_unique<int>(n / 2);
}

absl::Status CheckEven(int n) {
  EST_RETURN_IF_ERROR(Half(n).status());
  return absl::OkStatus();
}

absl::StatusOr<int> Quarter(int n) {
  EST_RETURN_IF_ERROR(CheckEven(n));
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<int> half, Half(n));
  std::unique_ptr<int> quarter;
  EST_ASSIGN_OR_RETURN(quarter, Half(*half));
  return *quarter;
}

absl::StatusOr<std::pair<int, int>> Both(int n) { return std::make_pair(n, n + 1); }

TEST(StatusTest, ReturnIfErrorLeavesTheFunctionOnlyOnAnError) {
  EXPECT_EQ(CheckEven(4), absl::OkStatus());
  EXPECT_EQ(CheckEven(5), absl::InvalidArgumentError("5 is odd"));
}

TEST(StatusTest, AssignOrReturnDeclaresAssignsAndMoves) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status(), absl::InvalidArgumentError("3 is odd"));
}

TEST(StatusTest, AssignOrReturnTakesExpressionsWithCommas) {
  const auto sum = [](int n) -> absl::StatusOr<int> {
    EST_ASSIGN_OR_RETURN(const auto both, absl::StatusOr<std::pair<int, int>>(Both(n)));
    return both.first + both.second;
  };
  EXPECT_EQ(*sum(3), 7);
}

TEST(StatusTest, AnnotatePrefixesTheMessageAndKeepsCodeAndPayload) {
  absl::Status status = absl::NotFoundError("no such file");
  status.SetPayload("key", absl::Cord("value"));
  const absl::Status annotated = Annotate(status, "restoring");
  EXPECT_EQ(annotated.ToString(absl::StatusToStringMode::kWithNoExtraData),
            "NOT_FOUND: restoring: no such file");
  EXPECT_EQ(annotated.GetPayload("key"), absl::Cord("value"));
}

TEST(StatusTest, AnnotateLeavesOkAlone) {
  EXPECT_EQ(Annotate(absl::OkStatus(), "restoring"), absl::OkStatus());
}

}  // namespace
}  // namespace estimator
