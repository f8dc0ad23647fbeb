// Runs the program as a user does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/base/version.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/checkpoint_state.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CheckpointTest : public ::testing::Test {
 protected:
  std::string Save(const std::string& name, float value) {
    const auto writer = BundleWriter::Open(dir_.File(name)).value();
    EST_EXPECT_OK(writer->Add("v", Array::Scalar(value)));
    EST_EXPECT_OK(writer->Add("w", Array::Scalar(value)));
    EST_EXPECT_OK(writer->Finish());
    return dir_.File(name);
  }
  static ProgramRun Run(const std::string& arguments) {
    return RunProgram("tools/checkpoint/checkpoint " + arguments);
  }
  const TempDir dir_;
};

TEST_F(CheckpointTest, HelpIsAWordToo) {
  const ProgramRun help = Run("help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, StartsWith("checkpoint COMMAND CHECKPOINT"));
  EXPECT_EQ(help.output, Run("--help").output);
}

TEST_F(CheckpointTest, FilesOfKerasAreReadAndWritten) {
  const std::string keras = "testdata/keras/small.keras", copy = dir_.File("copy");
  EXPECT_EQ(Run(absl::StrCat("convert ", keras, " ", copy)).exit_code, 0);
  EXPECT_EQ(Run(absl::StrCat("diff ", keras, " ", copy)).exit_code, 0);
  EXPECT_EQ(Run(absl::StrCat("diff ", copy, " testdata/keras/small.h5")).exit_code, 0);
  for (const std::string& file : {keras, std::string("testdata/keras/small_objects")}) {
    const ProgramRun verified = Run(absl::StrCat("verify ", file));
    EXPECT_EQ(verified.exit_code, 0) << verified.output;
    EXPECT_THAT(verified.output, StartsWith("whole: "));
  }
  const std::string path = "layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE";
  EXPECT_EQ(Run("show testdata/keras/small_objects " + path).exit_code, 0);
  const ProgramRun extracted =
      Run(absl::StrCat("extract testdata/keras/small_objects ", dir_.File("one"), " ", path));
  EXPECT_EQ(extracted.exit_code, 0) << extracted.output;
  const std::string weights = dir_.File("w.h5");
  const ProgramRun converted = Run(absl::StrCat("convert ", copy, " ", weights));
  EXPECT_EQ(converted.exit_code, 0);
  EXPECT_THAT(converted.output,
              AllOf(HasSubstr("17 variables"), HasSubstr("left out"), HasSubstr("by_name=True")));
  EXPECT_EQ(Run(absl::StrCat("diff ", weights, " testdata/keras/small_weights.h5")).exit_code, 0);
  EXPECT_THAT(Run(absl::StrCat("convert ", copy, " ", weights)).output,
              HasSubstr("there is already a checkpoint"));
  EXPECT_THAT(Run(absl::StrCat("convert ", copy, " ", dir_.File("w.keras"))).output,
              HasSubstr("Keras loads weights by name only from .h5"));
}

TEST_F(CheckpointTest, HasTheVersionOfTheProject) {
  const ProgramRun version = Run("--version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.output, HasSubstr(absl::StrCat("version ", kVersion, " (Estimator)")));
}

TEST_F(CheckpointTest, WrongArgumentsAreAnsweredWithTheFormAndTheCure) {
  const ProgramRun list = Run("list");
  EXPECT_EQ(list.exit_code, 2);
  EXPECT_THAT(list.output, HasSubstr("expected `checkpoint list CHECKPOINT`, got `checkpoint "
                                     "list`; --include=EXPRESSION selects variables"));
  const ProgramRun show = Run("show m");
  EXPECT_EQ(show.exit_code, 2);
  EXPECT_THAT(show.output, HasSubstr("expected `checkpoint show CHECKPOINT NAME ...`, got "
                                     "`checkpoint show m`; `list CHECKPOINT` shows the names"));
  EXPECT_THAT(Run("list ''").output, HasSubstr("an argument of `checkpoint list` is empty"));
  EXPECT_THAT(Run("").output, HasSubstr("`help` shows them"));
  EXPECT_THAT(Run("shwo m").output, HasSubstr("did you mean show?"));
  const ProgramRun regex = Run(absl::StrCat("list ", Save("m", 1), " '--include=('"));
  EXPECT_EQ(regex.exit_code, 2);
  EXPECT_THAT(regex.output, HasSubstr("--include: '(' is not a regular expression"));
}

TEST_F(CheckpointTest, DiffExitsWithOneForADifferenceAndWithTwoForDamageWhichItReportsWithTheRest) {
  const std::string a = Save("a", 1), b = Save("b", 2);
  EXPECT_EQ(Run(absl::StrCat("diff ", a, " ", a)).exit_code, 0);
  EXPECT_EQ(Run(absl::StrCat("diff ", a, " ", b)).exit_code, 1);
  std::string bytes = ReadFile(DataPath(b, 0, 1)).value();
  bytes[0] ^= 1;
  EST_ASSERT_OK(WriteFileAtomically(DataPath(b, 0, 1), bytes));
  const ProgramRun damaged = Run(absl::StrCat("diff ", a, " ", b));
  EXPECT_EQ(damaged.exit_code, 2);
  EXPECT_THAT(damaged.output,
              AllOf(HasSubstr("v (4 bytes at offset 0): crc32c"), HasSubstr("damaged in B"),
                    HasSubstr("1 different, 1 damaged")));
}

// Fixed bugs: the steps that exist were not named, and any file was a damaged V1 checkpoint.
TEST_F(CheckpointTest, WhatIsNotACheckpointIsToldSoWithTheCheckpointsBesideIt) {
  Save("model.ckpt-20", 1);
  Save("model.ckpt-3", 2);
  const ProgramRun missing = Run("list " + dir_.File("model.ckpt-2"));
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.output, HasSubstr("; " + dir_.path() + " has model.ckpt-3, model.ckpt-20\n"));
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("notes.txt"), "a text, and no checkpoint at all\n"));
  for (const char* command : {"list ", "verify "}) {
    const ProgramRun text = Run(command + dir_.File("notes.txt"));
    EXPECT_EQ(text.exit_code, 2);
    EXPECT_THAT(text.output, HasSubstr("notes.txt is not a checkpoint: "));
  }
}

// An older checkpoint would be compared in silence, and its difference be a finding.
TEST_F(CheckpointTest, DiffAndVerifyOfAModelDirectoryTakeItsNewestCheckpointOrNone) {
  Save("model.ckpt-1", 1);
  const std::string newest = Save("model.ckpt-2", 2), other = Save("other", 2);
  EST_ASSERT_OK(WriteCheckpointState(
      dir_.path(), {.model_checkpoint_path = newest,
                    .all_model_checkpoint_paths = {dir_.File("model.ckpt-1"), newest}}));
  EXPECT_EQ(Run(absl::StrCat("diff ", dir_.path(), " ", other)).exit_code, 0);
  EST_ASSERT_OK(WriteFileAtomically(IndexPath(newest), "rubbish"));
  for (const std::string& sides :
       {absl::StrCat(dir_.path(), " ", other), absl::StrCat(other, " ", dir_.path())}) {
    const ProgramRun damaged = Run("diff " + sides);
    EXPECT_EQ(damaged.exit_code, 2) << damaged.output;
    EXPECT_THAT(damaged.output,
                AllOf(HasSubstr("model.ckpt-2, cannot be compared: "),
                      HasSubstr(IndexPath(newest) + ": "), HasSubstr("pass its prefix")));
  }
  EXPECT_EQ(Run(absl::StrCat("verify ", dir_.path())).exit_code, 1);
  EST_ASSERT_OK(WriteFileAtomically(CheckpointStatePath(dir_.path()), "rubbish"));
  for (const std::string& command :
       {absl::StrCat("diff ", dir_.path(), " ", other), absl::StrCat("verify ", dir_.path())}) {
    const ProgramRun unknown = Run(command);
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.output, HasSubstr("not a checkpoint state"));
  }
}

}  // namespace
}  // namespace estimator
