// The program as people call it: output, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/temp_dir.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Done {
  int code = -1;
  std::string text;  // both streams
};
Done Call(const std::string& arguments) {
  Done done;
  FILE* const pipe = popen(("tools/saved_model/saved_model " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return done;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) done.text.append(buffer, n);
  done.code = WEXITSTATUS(pclose(pipe));
  return done;
}
const char kMnist[] = "--dir=testdata/saved_models/mnist/model ";

TEST(SavedModelTool, HelpSaysCommandsExamplesAndHowToMakeInputs) {
  const Done help = Call("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.text, AllOf(HasSubstr("show"), HasSubstr("numpy.save("),
                               HasSubstr("tf.io.TFRecordWriter"), HasSubstr("Exit code")));
}

TEST(SavedModelTool, AWrongCommandLineIsExitCode2) {
  for (const std::string arguments :
       {"", "look", "show", "show more --dir=x", "run --dir=x --inputs=x.npy", "run --dir=x --all",
        "show --dir=x --outdir=y", "show --dir=x --list_ops", "show --dirs=x"}) {
    const Done done = Call(arguments);
    EXPECT_EQ(done.code, 2) << arguments << ": " << done.text;
    EXPECT_NE(done.text, "") << arguments;
  }
}

TEST(SavedModelTool, WhatIsNotThereIsExitCode1) {
  EXPECT_EQ(Call("show --dir=nowhere").code, 1);
  EXPECT_EQ(Call("run --dir=nowhere").code, 1);
  const Done input = Call(std::string("run ") + kMnist + "--inputs=image=none.npy");
  EXPECT_EQ(input.code, 1);
  EXPECT_THAT(input.text, HasSubstr("input 'image': "));
}

TEST(SavedModelTool, ASignatureIsShownAndRun) {
  const Done signature = Call(std::string("run ") + kMnist);
  EXPECT_EQ(signature.code, 0);
  EXPECT_THAT(signature.text, AllOf(HasSubstr("f32 [?,144]"), HasSubstr("probabilities")));
  const TempDir dir;
  ASSERT_TRUE(
      WriteFileAtomically(dir.File("in.npy"), NpyBytes(Array(DType::kFloat32, {2, 144}))).ok());
  const std::string run =
      std::string("run ") + kMnist + "--inputs='image=" + dir.File("in.npy") + "' ";
  const Done printed = Call(run + "--outputs=classes");
  EXPECT_EQ(printed.code, 0) << printed.text;
  EXPECT_THAT(printed.text, HasSubstr("classes: i64 [2]"));
  const Done written = Call(run + "--outdir=" + dir.File("out"));
  EXPECT_EQ(written.code, 0) << written.text;
  const auto probabilities = ParseNpy(*ReadFile(dir.File("out/probabilities.npy")));
  ASSERT_TRUE(probabilities.ok()) << probabilities.status();
  EXPECT_EQ(probabilities->TypeString(), "f32 [2,10]");
}

TEST(SavedModelTool, TheNewestExportOfAFolderIsTaken) {
  const TempDir dir;
  ASSERT_TRUE(CreateDirectories(dir.File("1700000000")).ok());
  ASSERT_TRUE(WriteFileAtomically(dir.File("1700000000/saved_model.pb"),
                                  *ReadFile("testdata/saved_models/mnist/model/saved_model.pb"))
                  .ok());
  const Done done = Call("show --dir=" + dir.path());
  EXPECT_EQ(done.code, 0) << done.text;
  EXPECT_THAT(done.text, AllOf(HasSubstr("the newest export: " + dir.File("1700000000")),
                               HasSubstr("'serve'")));
}

}  // namespace
}  // namespace estimator
