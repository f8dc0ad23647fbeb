#include "estimator/base/status_or_range.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using Names = std::vector<std::string>;

StatusOrRange<Names> TwoNames() { return Names{"a name of more than 15 characters", "b"}; }
StatusOrRange<Names> NoNames() { return absl::NotFoundError("no checkpoint"); }

// GCC's address sanitizer finds the freed strings too, but only where it is on; the type decides.
TEST(StatusOrRange, ALoopOverTheValueOfATemporaryDoesNotDangle) {
  static_assert(std::is_same_v<decltype(*TwoNames()), Names>,
                "a value, whose life the loop extends");
  static_assert(std::is_same_v<decltype(TwoNames().value()), Names>);
  Names seen;
  for (const std::string& name : *TwoNames()) seen.push_back(name);
  for (const std::string& name : TwoNames().value()) seen.push_back(name);
  EXPECT_EQ(seen, (Names{"a name of more than 15 characters", "b",
                         "a name of more than 15 characters", "b"}));
}

TEST(StatusOrRange, IsUsedAsAStatusOr) {
  const StatusOrRange<Names> names = TwoNames();
  EST_ASSERT_OK(names);
  EXPECT_EQ(&*names, &names.value()) << "no copy of the value of a variable";
  EXPECT_EQ(names->size(), 2u);
  const absl::StatusOr<Names> plain = TwoNames();
  EXPECT_EQ(*plain, *names);
  const StatusOrRange<Names> back = plain;
  EXPECT_EQ(*back, *names);
  EXPECT_EQ(NoNames().status().message(), "no checkpoint");
  const auto copy = []() -> absl::StatusOr<Names> {
    EST_ASSIGN_OR_RETURN(Names names, TwoNames());
    EST_ASSIGN_OR_RETURN(names, NoNames());
    return names;
  };
  EXPECT_EQ(copy().status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace estimator
