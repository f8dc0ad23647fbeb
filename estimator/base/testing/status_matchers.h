// Assertions and matchers for absl::Status and absl::StatusOr.
//
//   EST_ASSERT_OK(estimator.Train(input, Steps(5)));
//   EST_ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile(path));
//   EXPECT_THAT(ReadFile(path), StatusIs(absl::StatusCode::kNotFound));
//   EXPECT_THAT(ReadFile(path), StatusIs(absl::StatusCode::kNotFound, HasSubstr(path)));
//   EXPECT_THAT(graph.status(), ErrorIs("Add: the inputs differ"));  // the whole message
//   EXPECT_THAT(graph.status(), ErrorHas("the inputs differ"));      // a part of it
#ifndef ESTIMATOR_BASE_TESTING_STATUS_MATCHERS_H_
#define ESTIMATOR_BASE_TESTING_STATUS_MATCHERS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <utility>

// Passes if a Status or StatusOr is OK; a failure shows the status. More text can follow with <<.
#define EST_ASSERT_OK(expr) ASSERT_PRED_FORMAT1(::estimator::status_matchers::CheckOk, expr)
#define EST_EXPECT_OK(expr) EXPECT_PRED_FORMAT1(::estimator::status_matchers::CheckOk, expr)

// Assigns the value of a StatusOr expression to lhs, which may declare a variable, or ends the test
// with its status. Expands to several statements: not for an if without braces.
#define EST_ASSERT_OK_AND_ASSIGN(lhs, ...)                                                \
  EST_ASSERT_OK_AND_ASSIGN_AS_(EST_MATCHER_CONCAT_(est_or_, __LINE__), lhs, #__VA_ARGS__, \
                               __VA_ARGS__)

#define EST_ASSERT_OK_AND_ASSIGN_AS_(name, lhs, text, ...)        \
  auto name = (__VA_ARGS__);                                      \
  ASSERT_TRUE(::estimator::status_matchers::CheckOk(text, name)); \
  lhs = *std::move(name)
#define EST_MATCHER_CONCAT_(a, b) EST_MATCHER_CONCAT_AGAIN_(a, b)
#define EST_MATCHER_CONCAT_AGAIN_(a, b) a##b

namespace absl {

// Prints the status or the value. Without this function GoogleTest prints the bytes of a StatusOr.
template <typename T>
void PrintTo(const StatusOr<T>& result, std::ostream* os) {
  if (!result.ok()) {
    *os << result.status();
  } else {
    *os << "OK, the value " << ::testing::PrintToString(*result);
  }
}

}  // namespace absl

namespace estimator {
namespace status_matchers {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

template <typename T>
::testing::AssertionResult CheckOk(const char* expr, const T& result) {
  const absl::Status& status = StatusOf(result);
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "Value of: " << expr << "\nExpected: is OK\n  Actual: " << status;
}

// Matches a Status or StatusOr by its code and its message. Without a code: by any error.
class StatusMatcher {
 public:
  using is_gtest_matcher = void;

  StatusMatcher(std::optional<absl::StatusCode> code, ::testing::Matcher<std::string> message)
      : code_(code), message_(std::move(message)) {}

  template <typename T>
  bool MatchAndExplain(const T& result, std::ostream*) const {
    const absl::Status& status = StatusOf(result);
    if (code_.has_value() ? status.code() != *code_ : status.ok()) return false;
    return message_.Matches(std::string(status.message()));
  }
  void DescribeTo(std::ostream* os) const {
    *os << "is " << Code() << " whose message ";
    message_.DescribeTo(os);
  }
  void DescribeNegationTo(std::ostream* os) const {
    *os << "is not " << Code() << " whose message ";
    message_.DescribeTo(os);
  }

 private:
  std::string Code() const {
    return code_.has_value() ? absl::StatusCodeToString(*code_) : "an error";
  }

  std::optional<absl::StatusCode> code_;
  ::testing::Matcher<std::string> message_;
};

}  // namespace status_matchers

// Matches an OK Status or StatusOr.
MATCHER(IsOk, negation ? "is an error" : "is OK") { return arg.ok(); }

// Matches the code, and the message if `message` is given: a string is the whole message.
inline status_matchers::StatusMatcher StatusIs(
    absl::StatusCode code, ::testing::Matcher<std::string> message = ::testing::_) {
  return {code, std::move(message)};
}

// Matches an error of any code by its message: a string is the whole message.
inline status_matchers::StatusMatcher ErrorIs(::testing::Matcher<std::string> message) {
  return {std::nullopt, std::move(message)};
}

// Matches an error of any code whose message contains `part`.
inline status_matchers::StatusMatcher ErrorHas(absl::string_view part) {
  return ErrorIs(::testing::HasSubstr(std::string(part)));
}

}  // namespace estimator

#endif  // ESTIMATOR_BASE_TESTING_STATUS_MATCHERS_H_
