// Runs the program as a user does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/temp_dir.h"
#include "estimator/checkpoint/bundle_format.h"
#include "estimator/checkpoint/bundle_writer.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Result {
  int code = -1;
  std::string output;  // stdout and stderr
};

class CheckpointTest : public ::testing::Test {
 protected:
  std::string Save(const std::string& name, float value) {
    const auto writer = BundleWriter::Open(dir_.File(name)).value();
    EXPECT_TRUE(writer->Add("v", Array::Scalar(value)).ok());
    EXPECT_TRUE(writer->Add("w", Array::Scalar(value)).ok());
    EXPECT_TRUE(writer->Finish().ok());
    return dir_.File(name);
  }
  Result RunProgram(const std::string& arguments) {
    const std::string command =
        absl::StrCat("tools/checkpoint/checkpoint ", arguments, " >", dir_.File("out"), " 2>&1");
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), ReadFile(dir_.File("out")).value()};
  }
  const TempDir dir_;
};

TEST_F(CheckpointTest, HelpIsAWordToo) {
  const Result help = RunProgram("help");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.output, StartsWith("checkpoint COMMAND CHECKPOINT"));
  EXPECT_EQ(help.output, RunProgram("--help").output);
}

TEST_F(CheckpointTest, WrongArgumentsAreAnsweredWithTheFormAndTheCure) {
  const Result list = RunProgram("list");
  EXPECT_EQ(list.code, 2);
  EXPECT_THAT(list.output, HasSubstr("the form is `checkpoint list CHECKPOINT`, given `checkpoint "
                                     "list`; --include=EXPRESSION picks variables"));
  const Result show = RunProgram("show m");
  EXPECT_EQ(show.code, 2);
  EXPECT_THAT(show.output, HasSubstr("the form is `checkpoint show CHECKPOINT NAME ...`, given "
                                     "`checkpoint show m`; `list CHECKPOINT` has the names"));
  EXPECT_THAT(RunProgram("").output, HasSubstr("`help` shows them"));
  EXPECT_THAT(RunProgram("shwo m").output, HasSubstr("did you mean show?"));
  const Result regex = RunProgram(absl::StrCat("list ", Save("m", 1), " '--include=('"));
  EXPECT_EQ(regex.code, 2);
  EXPECT_THAT(regex.output, HasSubstr("--include: '(' is not a regular expression"));
}

TEST_F(CheckpointTest, DiffExitsWithOneForADifferenceAndWithTwoForDamageWhichItReportsWithTheRest) {
  const std::string a = Save("a", 1), b = Save("b", 2);
  EXPECT_EQ(RunProgram(absl::StrCat("diff ", a, " ", a)).code, 0);
  EXPECT_EQ(RunProgram(absl::StrCat("diff ", a, " ", b)).code, 1);
  std::string bytes = ReadFile(DataPath(b, 0, 1)).value();
  bytes[0] ^= 1;
  ASSERT_TRUE(WriteFileAtomically(DataPath(b, 0, 1), bytes).ok());
  const Result damaged = RunProgram(absl::StrCat("diff ", a, " ", b));
  EXPECT_EQ(damaged.code, 2);
  EXPECT_THAT(damaged.output,
              AllOf(HasSubstr("v (4 bytes at offset 0): crc32c"), HasSubstr("damaged in B"),
                    HasSubstr("1 differ, 1 are damaged")));
}

}  // namespace
}  // namespace estimator
