#include "tools/commands/commands.h"

#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

DEFINE_bool(loudly, false, "of the command sing");

namespace estimator {
namespace {

using ::testing::HasSubstr;

std::vector<Command> Commands() {
  return {{"sing", "SONG", 1, 1, {"loudly"}, [](const Arguments&) { return 3; }},
          {"listen",
           "SONG ...",
           1,
           kManyArguments,
           {},
           [](const Arguments&) { return 0; },
           "`sing` has songs"}};
}

absl::Status Mistake(const Arguments& arguments) {
  return Dispatch("choir", Commands(), arguments).status();
}

TEST(Dispatch, RunsTheCommandThatIsNamed) {
  EXPECT_EQ(*Dispatch("choir", Commands(), {"sing", "a"}), 3);
  EXPECT_EQ(*Dispatch("choir", Commands(), {"listen", "a", "b"}), 0);
}

TEST(Dispatch, AMistakeNamesItsCure) {
  EXPECT_THAT(Mistake({}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("`help`")));
  EXPECT_THAT(Mistake({"sign", "a"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("did you mean sing?")));
  EXPECT_THAT(Mistake({"dance"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("commands are sing, listen")));
  EXPECT_THAT(Mistake({"sing", "a", "b"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expected `choir sing SONG`, got `choir sing a b`")));
  EXPECT_THAT(Mistake({"listen"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("; `sing` has songs")));
  EXPECT_THAT(Mistake({"sing", ""}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("shell variables")));
}

TEST(Dispatch, AFlagOfAnotherCommandIsAMistake) {
  const gflags::FlagSaver saver;
  gflags::SetCommandLineOption("loudly", "true");
  EXPECT_EQ(*Dispatch("choir", Commands(), {"sing", "a"}), 3);
  EXPECT_THAT(Mistake({"listen", "a"}), StatusIs(absl::StatusCode::kInvalidArgument,
                                                 HasSubstr("listen does not take --loudly")));
}

}  // namespace
}  // namespace estimator
