// The program as people call it: output, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/proto/saved_model.pb.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

ProgramRun Call(const std::string& arguments) {
  return RunProgram("tools/saved_model/saved_model " + arguments);
}
const char kMnist[] = "--dir=testdata/saved_models/mnist/model ";

TEST(SavedModelTool, HelpSaysCommandsExamplesAndHowToMakeInputs) {
  const ProgramRun help = Call("--help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, AllOf(HasSubstr("show"), HasSubstr("numpy.save("),
                                 HasSubstr("tf.io.TFRecordWriter"), HasSubstr("Exit code")));
}

TEST(SavedModelTool, AWrongCommandLineIsExitCode2) {
  for (const std::string arguments :
       {"", "look", "show", "show more --dir=x", "run --dir=x --inputs=x.npy", "run --dir=x --all",
        "show --dir=x --outdir=y", "show --dir=x --list_ops", "show --dirs=x"}) {
    const ProgramRun done = Call(arguments);
    EXPECT_EQ(done.exit_code, 2) << arguments << ": " << done.output;
    EXPECT_NE(done.output, "") << arguments;
  }
}

TEST(SavedModelTool, WhatIsNotThereIsExitCode1) {
  EXPECT_EQ(Call("show --dir=nowhere").exit_code, 1);
  EXPECT_EQ(Call("run --dir=nowhere").exit_code, 1);
  const ProgramRun input = Call(std::string("run ") + kMnist + "--inputs=image=none.npy");
  EXPECT_EQ(input.exit_code, 1);
  EXPECT_THAT(input.output, HasSubstr("input 'image': "));
}

// Fixed bug: the program only showed its outputs.
TEST(SavedModelTool, ASignatureWithoutInputsIsComputed) {
  proto::SavedModel model;
  model.set_saved_model_schema_version(1);
  proto::MetaGraphDef& graph = *model.add_meta_graphs();
  graph.mutable_meta_info_def()->add_tags("serve");
  proto::NodeDef& node = *graph.mutable_graph_def()->add_node();
  node.set_name("version");
  node.set_op("Const");
  (*node.mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
  proto::TensorProto& value = *(*node.mutable_attr())["value"].mutable_tensor();
  value.set_dtype(proto::DT_FLOAT);
  value.mutable_tensor_shape();
  value.add_float_val(2.5);
  proto::SignatureDef& signature = (*graph.mutable_signature_def())["serving_default"];
  proto::TensorInfo& output = (*signature.mutable_outputs())["y"];
  output.set_name("version:0");
  output.set_dtype(proto::DT_FLOAT);
  output.mutable_tensor_shape();
  const TempDir dir;
  EST_ASSERT_OK(WriteFileAtomically(dir.File("saved_model.pb"), model.SerializeAsString()));
  for (const std::string& flags : {std::string(), std::string(" --outputs=version:0")}) {
    const ProgramRun run = Call("run --dir=" + dir.path() + flags);
    EXPECT_EQ(run.exit_code, 0) << run.output;
    EXPECT_THAT(run.output, HasSubstr(": f32 []\n2.5\n"));
  }
}

// A graph that tf.train.Saver left beside its checkpoint.
TEST(SavedModelTool, TensorsOfAMetaFileAreRunByName) {
  const TempDir dir;
  EST_ASSERT_OK(SaveNpy(dir.File("x.npy"), Array(DType::kFloat32, {2, 4})));
  const std::string run =
      "run --dir=testdata/saved_models/meta_graph/model.ckpt.meta --inputs=x:0=" +
      dir.File("x.npy") + " --outputs=";
  const ProgramRun done = Call(run + "logits:0");
  EXPECT_EQ(done.exit_code, 0) << done.output;
  EXPECT_THAT(done.output, HasSubstr("logits:0: f32 [2,3]"));
  const ProgramRun none = Call(run + "nothing:0");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.output, AllOf(HasSubstr("these tensors: "), HasSubstr("nothing")));
  // Fixed bugs: these said that nothing is there, or nothing of what could be fed and how.
  const std::string meta = "--dir=testdata/saved_models/meta_graph/model.ckpt.meta";
  const auto how = AllOf(HasSubstr("its placeholders are x:0 (f32 ["),
                         HasSubstr("here: run --inputs='x:0=x.npy' --outputs=y:0"));
  const ProgramRun shown = Call("show " + meta);
  EXPECT_EQ(shown.exit_code, 0) << shown.output;
  EXPECT_THAT(shown.output, how);
  EXPECT_THAT(Call("show --list_ops " + meta).output, HasSubstr("'MatMul'"));
  for (const std::string& flags : {std::string(), "--inputs=x=" + dir.File("x.npy")}) {
    const ProgramRun nameless = Call("run " + meta + " " + flags);
    EXPECT_EQ(nameless.exit_code, 1);
    EXPECT_THAT(nameless.output, how);
  }
  const ProgramRun other =
      Call("run " + meta + " --inputs=input:0=" + dir.File("x.npy") + " --outputs=logits:0");
  EXPECT_THAT(other.output, HasSubstr("no node 'input'"));
  EXPECT_THAT(other.output, HasSubstr("the graph's placeholders are 'x', 'labels'"));
  const ProgramRun both = Call(run + "logits:0 --signature_def=serving_default");
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.output, HasSubstr("leave out --signature_def"));
}

TEST(SavedModelTool, ASignatureIsShownAndRun) {
  const ProgramRun signature = Call(std::string("run ") + kMnist);
  EXPECT_EQ(signature.exit_code, 0);
  EXPECT_THAT(signature.output, AllOf(HasSubstr("f32 [?,144]"), HasSubstr("probabilities")));
  const TempDir dir;
  EST_ASSERT_OK(SaveNpy(dir.File("in.npy"), Array(DType::kFloat32, {2, 144})));
  const std::string run =
      std::string("run ") + kMnist + "--inputs='image=" + dir.File("in.npy") + "' ";
  const ProgramRun printed = Call(run + "--outputs=classes");
  EXPECT_EQ(printed.exit_code, 0) << printed.output;
  EXPECT_THAT(printed.output, HasSubstr("classes: i64 [2]"));
  const ProgramRun written = Call(run + "--outdir=" + dir.File("out"));
  EXPECT_EQ(written.exit_code, 0) << written.output;
  const auto probabilities = LoadNpy(dir.File("out/probabilities.npy"));
  EST_ASSERT_OK(probabilities);
  EXPECT_EQ(probabilities->TypeString(), "f32 [2,10]");
}

TEST(SavedModelTool, TheNewestExportOfAFolderIsTaken) {
  const TempDir dir;
  EST_ASSERT_OK(CreateDirectories(dir.File("1700000000")));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("1700000000/saved_model.pb"),
                                    *ReadFile("testdata/saved_models/mnist/model/saved_model.pb")));
  const ProgramRun done = Call("show --dir=" + dir.path());
  EXPECT_EQ(done.exit_code, 0) << done.output;
  EXPECT_THAT(done.output, AllOf(HasSubstr("the newest export: " + dir.File("1700000000")),
                                 HasSubstr("'serve'")));
}

}  // namespace
}  // namespace estimator
