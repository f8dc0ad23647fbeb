#include "estimator/base/main.h"

#include <absl/strings/str_cat.h>
#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "estimator/base/cpu/cpu_isa.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/file.h"
#include "estimator/base/flag_spelling.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/base/usage_error.h"
#include "estimator/base/version.h"

DEFINE_int32(train_steps, 10, "how many steps");
DEFINE_bool(use_tpu, false, "run on a TPU");
DEFINE_double(learning_rate, 0.1, "how fast");
DEFINE_double(examples, 60000001, "of an epoch");
DEFINE_string(model_dir, "", "where checkpoints go");

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Outcome {
  int exit_code;
  bool body_ran;
  std::string standard_output;
  std::string standard_error;
};

Outcome RunMain(std::vector<std::string> arguments, const absl::Status& status = absl::OkStatus()) {
  const gflags::FlagSaver saver;
  arguments.insert(arguments.begin(), "program");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  bool body_ran = false;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int exit_code = Main(static_cast<int>(arguments.size()), argv.data(), [&] {
    body_ran = true;
    if (FLAGS_train_steps == 78) throw std::out_of_range("map::at");
    if (FLAGS_train_steps == 80) throw std::bad_alloc();
    if (FLAGS_train_steps == 79) throw std::runtime_error("the disk is full");
    if (FLAGS_train_steps == 77) return absl::InternalError(FLAGS_use_tpu ? "77 tpu" : "77 cpu");
    return status;
  });
  return {.exit_code = exit_code,
          .body_ran = body_ran,
          .standard_output = testing::internal::GetCapturedStdout(),
          .standard_error = testing::internal::GetCapturedStderr()};
}

// Fixed bug: a directory "~" was created, because a shell does not expand --model_dir=~/run.
TEST(MainTest, ExitsWithZeroIfTheProgramFinishedEarly) {
  const Outcome outcome = RunMain({}, FinishedEarly("the report is printed"));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.standard_error, "");
}

TEST(MainTest, AHomeDirectoryInAFlagAnArgumentOrAFlagFileIsExpanded) {
  const gflags::FlagSaver saver;
  const TempDir dir;
  setenv("HOME", "/home/ada", 1);
  EST_ASSERT_OK(WriteFileAtomically(dir.File("flags"), "--model_dir=~/from_file\n"));
  const auto model_dir = [](std::vector<std::string> texts, std::vector<std::string>* arguments) {
    texts.insert(texts.begin(), "program");
    std::vector<char*> argv;
    for (std::string& text : texts) argv.push_back(text.data());
    argv.push_back(nullptr);
    const auto body = [&](const std::vector<std::string>& given) {
      *arguments = given;
      return 0;
    };
    EXPECT_EQ(MainWithArguments(static_cast<int>(texts.size()), argv.data(), body), 0);
    return FLAGS_model_dir;
  };
  std::vector<std::string> arguments;
  EXPECT_EQ(model_dir({"--model_dir=~/run"}, &arguments), "/home/ada/run");
  EXPECT_EQ(model_dir({"--model_dir", "~", "~/a", "b"}, &arguments), "/home/ada");
  EXPECT_EQ(arguments, (std::vector<std::string>{"/home/ada/a", "b"}));
  EXPECT_EQ(model_dir({"--flagfile=" + dir.File("flags")}, &arguments), "/home/ada/from_file");
  EXPECT_EQ(model_dir({"--model_dir=/tmp/~/run"}, &arguments), "/tmp/~/run");
}

// Fixed bug: the process was aborted, without a word of what to look for.
TEST(MainTest, AnExceptionOfTheProgramIsAnErrorWithCodeOne) {
  const Outcome outcome = RunMain({"--train_steps=78"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, HasSubstr("did not catch an exception: map::at; "));
}

// Fixed bug: every exception was explained as a name that a map has not.
TEST(MainTest, OnlyARangeErrorIsExplainedAsAMissingName) {
  EXPECT_EQ(RunMain({"--train_steps=79"}).standard_error,
            "error: INTERNAL: the program did not catch an exception: the disk is "
            "full\n");
}

// Fixed bug: it was told as an exception that the program did not catch.
TEST(MainTest, TooLittleMemoryIsAnErrorWithItsCure) {
  const Outcome outcome = RunMain({"--train_steps=80"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.standard_error, AllOf(HasSubstr("error: RESOURCE_EXHAUSTED: out of memory: "),
                                            HasSubstr("take a smaller batch")));
}

// Fixed bug: gflags aborted the program.
TEST(MainTest, AFlagfileThatCannotBeReadIsAMistakeOfTheCommandLine) {
  const TempDir dir;
  const std::string outer = dir.File("outer"), own = dir.File("own");
  EST_ASSERT_OK(WriteFileAtomically(outer, "--train_steps=5\n--flagfile=" + dir.File("none")));
  EST_ASSERT_OK(WriteFileAtomically(own, "--flagfile=" + own + "\n"));
  for (const auto& [path, problem] : std::map<std::string, std::string>{
           {dir.File("none"), "cannot open " + dir.File("none") + ": No such"},
           {dir.path(), "cannot read " + dir.path()},
           {outer, "cannot open " + dir.File("none")},
           {own, own + " includes itself"}}) {
    const Outcome outcome = RunMain({"--flagfile=" + path});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.standard_error, HasSubstr("flag --flagfile: " + problem));
  }
}

// Fixed bug: gflags ignores a name that it does not know in a file, so the default was used.
TEST(MainTest, NamesEveryMistakeInAFlagfile) {
  const TempDir dir;
  const std::string path = dir.File("flags"), others = dir.File("others");
  const FlagSpelling spelling("use_tpu=auto", "train_steps=77");
  EST_ASSERT_OK(WriteFileAtomically(path,
                                    "# steps\n--train_stpes=3\n\n-train_steps=many\n"
                                    "--nouse_tpu\n--nouse_tup\n--use_tpu=auto\n--model_dir\n"));
  const Outcome outcome = RunMain({"--flagfile=" + path});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.standard_error,
            absl::StrCat(
                "flag --flagfile: ", path, ": unknown flag --train_stpes; did you mean ",
                "--train_steps?\nflag --train_steps must be a whole number of 32 bits, given ",
                "\"many\"\nflag --flagfile: ", path, ": unknown flag --nouse_tup; --help lists ",
                "the flags\nflag --flagfile: ", path,
                ": in a file, write --train_steps=77 for --use_tpu=auto\nflag --flagfile: ", path,
                ": flag --model_dir needs a value\n"));
  // What follows the name of a program is for that program.
  EST_ASSERT_OK(WriteFileAtomically(others, "--train_steps=77\nother_program\n--rate=3\n"));
  EXPECT_THAT(RunMain({"--flagfile=" + others}).standard_error, HasSubstr("77 cpu"));
}

// Fixed bug: the process was aborted.
TEST(MainTest, AnExceptionOfAProgramWithArgumentsIsAnErrorToo) {
  std::string program = "program";
  char* argv[] = {program.data(), nullptr};
  testing::internal::CaptureStderr();
  const int exit_code =
      MainWithArguments(1, argv, [](const std::vector<std::string>& arguments) -> int {
        return static_cast<int>(arguments.at(0).size());
      });
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("error: INTERNAL: the program"));
  EXPECT_EQ(exit_code, 1);
}

TEST(MainTest, ReturnsZeroForAnOkBody) {
  const Outcome outcome = RunMain({});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.body_ran);
  EXPECT_EQ(outcome.standard_error, "");
}

TEST(MainTest, PrintsAnErrorAsOneLineAndReturnsOne) {
  const Outcome outcome = RunMain({}, absl::NotFoundError("no checkpoint in /tmp/m"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.standard_error, "error: NOT_FOUND: no checkpoint in /tmp/m\n");
}

TEST(MainTest, ParsesFlagsInEverySpelling) {
  EXPECT_THAT(RunMain({"--train_steps=77", "--use_tpu"}).standard_error, HasSubstr("77 tpu"));
  EXPECT_THAT(RunMain({"-train_steps", "77", "--nouse_tpu"}).standard_error, HasSubstr("77 cpu"));
  EXPECT_THAT(RunMain({"--train-steps=77"}).standard_error, HasSubstr("77 cpu"));
}

TEST(MainTest, ABoolFlagMayHaveAThirdValueThatIsAnotherFlag) {
  EXPECT_EQ(RunMain({"--use_tpu=auto"}).exit_code, 2);
  EXPECT_EQ(RunMain({"--use_tpu=maybe"}).standard_error,
            "flag --use_tpu must be true or false, given \"maybe\"\n");
  const FlagSpelling spelling("use_tpu=auto", "train_steps=77");
  EXPECT_EQ(RunMain({"--use_tpu=maybe"}).standard_error,
            "flag --use_tpu must be true, false or auto, given \"maybe\"\n");
  EXPECT_THAT(RunMain({"--use_tpu=auto"}).standard_error, HasSubstr("77 cpu"));
  EXPECT_THAT(RunMain({"--use_tpu=auto", "--use_tpu=true"}).standard_error, HasSubstr("77 tpu"));
}

TEST(MainTest, NamesEveryUnknownFlagWithItsNearestAndReturnsTwo) {
  const Outcome outcome = RunMain({"--model_dri=/tmp/x", "--train_step", "--zzzz"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_FALSE(outcome.body_ran);
  EXPECT_EQ(outcome.standard_error,
            "unknown flag --model_dri; did you mean --model_dir?\n"
            "unknown flag --train_step; did you mean --train_steps?\n"
            "unknown flag --zzzz; --help lists the flags\n");
}

TEST(MainTest, RefusesArgumentsThatAreNoFlags) {
  const Outcome outcome = RunMain({"model_dir=/tmp/x"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.standard_error,
            "unexpected argument \"model_dir=/tmp/x\"; write --model_dir=/tmp/x\n");
  EXPECT_EQ(RunMain({"zzzz=3"}).standard_error,
            "unexpected argument \"zzzz=3\"; flags begin with --\n");
}

// Fixed bug: it was told only that flags begin with --.
TEST(MainTest, AValueBehindABoolFlagIsToldHowToBeWritten) {
  const Outcome outcome = RunMain({"--use_tpu", "false"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.standard_error, "unexpected argument \"false\"; write --use_tpu=false\n");
}

TEST(MainTest, SaysWhichFlagMissesItsValue) {
  const Outcome outcome = RunMain({"--model_dir"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.standard_error, "flag --model_dir needs a value\n");
}

// A fixed bug: gflags exits with 1 at the first of these.
TEST(MainTest, NamesEveryValueThatAFlagCannotHaveAndReturnsTwo) {
  const Outcome outcome =
      RunMain({"--train_steps=1e3", "--use_tpu=maybe", "--learning_rate", "fast", "--train_steps",
               "3000000000", "--model_dri=/tmp/x", "--model_dir=17"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_FALSE(outcome.body_ran);
  EXPECT_EQ(outcome.standard_error,
            "flag --train_steps must be a whole number of 32 bits, given \"1e3\"\n"
            "flag --use_tpu must be true or false, given \"maybe\"\n"
            "flag --learning_rate must be a number, given \"fast\"\n"
            "flag --train_steps must be a whole number of 32 bits, given \"3000000000\"\n"
            "unknown flag --model_dri; did you mean --model_dir?\n");
  EXPECT_EQ(FLAGS_train_steps, 10) << "a refused command line sets nothing";
}

TEST(MainTest, AUsageErrorOfTheProgramReturnsTwoWithoutTraceOfItsMark) {
  const Outcome outcome = RunMain({}, UsageError("--train_steps must be positive, given 0"));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.standard_error,
            "error: INVALID_ARGUMENT: --train_steps must be positive, given 0\n");
  EXPECT_EQ(RunMain({}, absl::InvalidArgumentError("a bad file")).exit_code, 1);
}

TEST(MainDeathTest, WhatGflagsFindsInAFlagfileExitsWithTwo) {
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("flags"), "--fromenv=train_steps\n"));
  std::string flag = "--flagfile=" + dir.File("flags"), name = "program";
  char* argv[] = {name.data(), flag.data(), nullptr};
  EXPECT_EXIT(Main(2, argv, absl::OkStatus), ::testing::ExitedWithCode(2), "train_steps");
}

TEST(MainDeathTest, VersionIsThatOfTheProject) {
  const auto run = [](const char* own) {
    gflags::SetVersionString(own);
    // gflags prints it to stdout, and EXPECT_EXIT looks at stderr.
    dup2(STDERR_FILENO, STDOUT_FILENO);
    std::string flag = "--version", name = "program";
    char* argv[] = {name.data(), flag.data(), nullptr};
    return Main(2, argv, [] { return absl::InternalError("the program ran"); });
  };
  const std::string version = kVersion;
  EXPECT_EXIT(run(""), ::testing::ExitedWithCode(0), " version " + version + " \\(Estimator\\)");
  EXPECT_EXIT(run("7.1"), ::testing::ExitedWithCode(0),
              " version 7.1 \\(Estimator " + version + "\\)");
}

TEST(MainTest, VersionHasThreeNumbers) {
  EXPECT_THAT(kVersion, ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(MainTest, CpuIsaLimitsTheInstructionSets) {
  SetNewestCpuIsaForTest(CpuIsa::kAmx);
  EXPECT_EQ(RunMain({"--cpu_isa=avx2"}).exit_code, 0);
  EXPECT_FALSE(MayUse(CpuIsa::kAvx512));
  SetNewestCpuIsaForTest(CpuIsa::kAvx2);
  const Outcome lacks = RunMain({"--cpu_isa=avx512"});
  EXPECT_EQ(lacks.exit_code, 2);
  EXPECT_FALSE(lacks.body_ran);
  EXPECT_EQ(lacks.standard_error,
            "flag --cpu_isa=avx512: this CPU has avx2 at most; set cpu_isa to that or less, or "
            "leave it out\n");
  EXPECT_EQ(RunMain({"--cpu_isa=sse4"}).standard_error,
            "flag --cpu_isa must be avx2, avx512, avx512_bf16 or amx, given \"sse4\"\n");
  SetNewestCpuIsaForTest(std::nullopt);
}

TEST(MainDeathTest, HelpOfGflagsItselfExitsWithZero) {
  std::string flag = "--helpfull", name = "program";
  char* argv[] = {name.data(), flag.data(), nullptr};
  EXPECT_EXIT(Main(2, argv, absl::OkStatus), ::testing::ExitedWithCode(0), "");
}

TEST(MainTest, HelpListsTheProgramsOwnFlagsOnly) {
  const Outcome outcome = RunMain({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_FALSE(outcome.body_ran);
  EXPECT_THAT(outcome.standard_output,
              HasSubstr("--train_steps    int32 10         how many steps\n"));
  EXPECT_THAT(outcome.standard_output, HasSubstr("double 60000001  of an epoch\n"));
  EXPECT_THAT(outcome.standard_output, HasSubstr("--learning_rate  double 0.1       how fast\n"))
      << "not with all digits of the nearest double";
  EXPECT_THAT(outcome.standard_output, Not(HasSubstr("--logtostderr")));
  EXPECT_THAT(outcome.standard_output, Not(HasSubstr("--flagfile")));
}

TEST(MainDeathTest, WhatCannotBePrintedIsAnError) {
  const auto print = [] {
    ASSERT_NE(std::freopen("/dev/full", "w", stdout), nullptr);
    std::string name = "program";
    char* argv[] = {name.data(), nullptr};
    std::exit(Main(1, argv, [] {
      std::cout << "a result" << std::endl;
      return absl::OkStatus();
    }));
  };
  EXPECT_EXIT(print(), ::testing::ExitedWithCode(1), "cannot write to standard output");
}

TEST(MainDeathTest, LostOutputIsNoFindingOfAProgramThatHasFindings) {
  const auto print = [](int code) {
    ASSERT_NE(std::freopen("/dev/full", "w", stdout), nullptr);
    std::string name = "program";
    char* argv[] = {name.data(), nullptr};
    const auto body = [code](const std::vector<std::string>&) {
      std::cout << "they differ" << std::endl;
      return code;
    };
    std::exit(MainWithArguments(1, argv, body, /*error_exit_code=*/2));
  };
  EXPECT_EXIT(print(0), ::testing::ExitedWithCode(2), "cannot write to standard output");
  EXPECT_EXIT(print(1), ::testing::ExitedWithCode(2), "cannot write to standard output");
}

// A fixed bug: the folder in which `bazel run` starts a program is none of the user's.
TEST(MainTest, RelativePathsCountFromWhereBazelRunWasTyped) {
  const TempDir dir;
  char before[4096];
  ASSERT_NE(getcwd(before, sizeof(before)), nullptr);
  setenv("BUILD_WORKING_DIRECTORY", dir.path().c_str(), 1);
  RunMain({});
  unsetenv("BUILD_WORKING_DIRECTORY");
  char during[4096];
  ASSERT_NE(getcwd(during, sizeof(during)), nullptr);
  ASSERT_EQ(chdir(before), 0);
  EXPECT_EQ(std::string(during), dir.path());
}

TEST(MainTest, CancelledAfterAnInterruptReturns130) {
  RequestInterruptForTest();
  EXPECT_EQ(RunMain({}, absl::CancelledError("saved step 5")).exit_code, 130);
  EXPECT_EQ(RunMain({}, absl::InternalError("broken")).exit_code, 1);
  ClearInterrupt();
  EXPECT_EQ(RunMain({}, absl::CancelledError("by itself")).exit_code, 1);
}

TEST(MainTest, AnErrorWithAnExitCodeEndsWithIt) {
  const absl::Status lost = absl::UnavailableError("rank 1 died");
  const Outcome outcome = RunMain({}, WithExitCode(lost, kLostPeerExitCode));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.standard_error, HasSubstr("error: UNAVAILABLE: rank 1 died\n"));
  const Outcome stopped = RunMain({}, WithExitCode(absl::CancelledError("step 5"), 130));
  EXPECT_EQ(stopped.exit_code, kInterruptedExitCode);
  EXPECT_THAT(stopped.standard_error, HasSubstr("stopped: step 5\n"));
}

}  // namespace
}  // namespace estimator
