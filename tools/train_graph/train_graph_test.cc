// Runs the programs as a user does, on the folder testdata/train_graph/tiny.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/array/array.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/file_system.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/graphdef/testing/small_training.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMeta[] = "testdata/train_graph/tiny/model.ckpt-5.meta";
constexpr char kInput[] =
    "--input=npy:testdata/train_graph/tiny/x.npy,testdata/train_graph/tiny/y.npy --batch_size=8 "
    "--shuffle=0";

constexpr char kSaved[] = "--saved_model=testdata/train_graph/saved ";
constexpr char kSavedInput[] =
    "--input=npy:testdata/train_graph/saved/x.npy,testdata/train_graph/saved/y.npy --batch_size=8 "
    "--shuffle=0";

class TrainGraph : public ::testing::Test {
 protected:
  static ProgramRun Program(const std::string& flags) {
    return RunProgram(absl::StrCat("tools/train_graph/train_graph ", flags));
  }
  std::string Folder() const { return dir_.File("model"); }
  // The flags of a run in a folder of its own.
  std::string Flags() const {
    return absl::StrCat("--meta=", kMeta, " --model_dir=", Folder(), " ");
  }
  TempDir dir_;
};

TEST_F(TrainGraph, ShowsWhatTheGraphTakes) {
  const ProgramRun run = Program(absl::StrCat("--show_input --meta=", kMeta));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("IteratorGetNext:0"), HasSubstr("uint8"), HasSubstr("[?,8,8]"),
                    HasSubstr("IteratorGetNext:1"), HasSubstr("int32"), HasSubstr("2.15.1")));
}

TEST_F(TrainGraph, LeavesTheOldFolderAsItIsAndContinuesTheNewOne) {
  const std::string before = ReadFile("testdata/train_graph/tiny/checkpoint").value();
  const ProgramRun first = Program(absl::StrCat(Flags(), kInput, " --steps=3"));
  ASSERT_EQ(first.exit_code, 0) << first.output;
  EXPECT_EQ(LoadGlobalStep(Folder()).value(), 8);
  // The folder has its graph now, although the new checkpoint has a .meta file of its own.
  const ProgramRun second =
      Program(absl::StrCat("--model_dir=", Folder(), " ", kInput, " --steps=2"));
  ASSERT_EQ(second.exit_code, 0) << second.output;
  EXPECT_EQ(LoadGlobalStep(Folder()).value(), 10);
  EXPECT_EQ(ReadFile("testdata/train_graph/tiny/checkpoint").value(), before);
}

TEST_F(TrainGraph, TrainsOnReplicas) {
  const ProgramRun run =
      Program(absl::StrCat(Flags(), kInput, " --steps=4 --use_tpu --num_shards=2 --iterations=2"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(LoadGlobalStep(Folder()).value(), 9);
}

TEST_F(TrainGraph, TwoProcessesHaveTheBytesOfOne) {
  const std::string two = dir_.File("two");
  for (const std::string& flags :
       {absl::StrCat("--meta=", kMeta, " ", kInput),
        absl::StrCat("--meta=", kMeta, " --batch_size=8 ", "--input=fixed:0..255,0..9"),
        absl::StrCat(kSaved, kSavedInput)}) {
    const auto train = [&flags](const std::string& folder, const std::string& more) {
      return RunProgram(absl::StrCat(
          "env OMP_NUM_THREADS=1 tools/train_graph/train_graph --steps=3 ",
          "--use_tpu --num_shards=2 --iterations=2 --model_dir=", folder, " ", flags, more));
    };
    const ProgramRun in_one = train(Folder(), ""), in_two = train(two, " --num_processes=2");
    ASSERT_EQ(in_one.exit_code, 0) << in_one.output;
    ASSERT_EQ(in_two.exit_code, 0) << in_two.output;
    // Only the chief makes the folder.
    const std::vector<std::string> parts = absl::StrSplit(in_two.output, "copied the checkpoint");
    EXPECT_LE(parts.size(), 2u) << in_two.output;
    const std::string last =
        absl::StrCat("/model.ckpt-", LoadGlobalStep(Folder()).value(), ".data-00000-of-00001");
    EXPECT_TRUE(ReadFile(two + last).value() == ReadFile(Folder() + last).value()) << flags;
    for (const std::string& folder : {Folder(), two})
      EST_ASSERT_OK(RemoveDirectoryRecursively(folder));
  }
}

TEST_F(TrainGraph, TheTpuCheckWritesNothing) {
  // A violation is a result of the check too: the program then exits with 1.
  for (const char* const mode : {" --steps=1", " --mode=eval"}) {
    const ProgramRun run =
        Program(absl::StrCat(Flags(), kInput, mode, " --tpu_check=rules --num_shards=8"));
    EXPECT_THAT(run.output, HasSubstr("TPU check: ")) << mode;
    EXPECT_FALSE(FileExists(Folder())) << mode;
    const ProgramRun saved = Program(absl::StrCat(kSaved, "--model_dir=", Folder(), " ",
                                                  kSavedInput, mode, " --tpu_check=rules"));
    EXPECT_THAT(saved.output, HasSubstr("TPU check: ")) << mode;
    EXPECT_FALSE(FileExists(Folder())) << mode;
  }
  const ProgramRun exported =
      Program(absl::StrCat(Flags(), "--mode=export --predictions=logits=dense/BiasAdd:0 ",
                           "--tpu_check=rules --export_dir=", dir_.File("export")));
  EXPECT_EQ(exported.exit_code, 2) << exported.output;
  EXPECT_THAT(exported.output, HasSubstr("--tpu_check: checks training or evaluation"));
  EXPECT_FALSE(FileExists(dir_.File("export")));
}

TEST_F(TrainGraph, RefusesWrongInputBeforeItWrites) {
  EST_ASSERT_OK(SaveNpy(dir_.File("float.npy"), Array(DType::kFloat32, {8, 8, 8})));
  const auto expect = [&](const std::string& flags, const std::string& message) {
    const ProgramRun run = Program(absl::StrCat(Flags(), flags));
    EXPECT_NE(run.exit_code, 0) << flags;
    EXPECT_THAT(run.output, HasSubstr(message)) << flags;
    EXPECT_FALSE(FileExists(Folder())) << flags;
  };
  // What is wrong with the flags, --input included, exits with 2; a damaged file with 1.
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("all.npz"), "PK\x03\x04 and the rest of a zip"));
  const ProgramRun archive =
      Program(absl::StrCat(Flags(), "--steps=1 --batch_size=8 --input=npy:", dir_.File("all.npz"),
                           ",testdata/train_graph/tiny/y.npy"));
  EXPECT_EQ(archive.exit_code, 1) << archive.output;
  EXPECT_THAT(archive.output, HasSubstr(".npz"));
  for (const char* const input : {"npy:x.npy", "fly:x.npy", "npy:x.npy,y.npy"}) {
    const ProgramRun run =
        Program(absl::StrCat(Flags(), "--steps=1 --batch_size=8 --input=", input));
    EXPECT_EQ(run.exit_code, 2) << run.output;
  }
  expect(kInput, "--steps must be positive");
  expect("--steps=1 --batch_size=8", "--show_input prints what the graph takes");
  expect("--steps=1 --input=npy:x.npy --batch_size=8", "gives 1 file, but the graph takes 2");
  expect("--steps=1 --input=npy:x.npy,y.npy --batch_size=8", "x.npy");
  expect("--steps=1 --input=npy:x.npy,y.npy", "--batch_size must be positive");
  expect(absl::StrCat("--steps=1 --batch_size=8 --input=npy:", dir_.File("float.npy"),
                      ",testdata/train_graph/tiny/y.npy"),
         "astype(\"uint8\")");
  expect(absl::StrCat(kInput, " --steps=1 --mode=fly"), "--mode must be train, eval or export");
  expect("--mode=export --export_dir=/tmp", "--predictions");
}

// Fixed bug: sizes of the batch were found to prevent the training when the folder was filled.
TEST_F(TrainGraph, NamesWhatSizesPreventBeforeItWrites) {
  testing::SmallTraining training = testing::SmallTraining::Small();
  const std::string t = testing::SmallTraining::TypeAttr("T");
  training.Variable("pairs", {8, 8}, 0, false);
  training.Node("transposed", "MatMul", {"sub", "sub"},
                t + " attr { key: 'transpose_b' value { b: true } }");
  training.Node("total", "Add", {"pairs/read", "transposed"}, t);
  training.Node("keep", "Assign", {"pairs", "total"}, t);
  training.Rewire("train", {"^step", "^keep"});
  const std::string meta = dir_.File("graph.meta");
  EST_ASSERT_OK(WriteFileAtomically(meta, training.Bytes()));
  EST_ASSERT_OK(SaveNpy(dir_.File("x.npy"), Array(DType::kFloat32, {16, 1})));
  const std::string flags = absl::StrCat("--meta=", meta, " --model_dir=", Folder());
  EXPECT_THAT(Program(flags + " --show_input").output, Not(HasSubstr("cannot be imported")));
  const ProgramRun shown = Program(flags + " --show_input --batch_size=4");
  EXPECT_THAT(shown.output, AllOf(HasSubstr("With batches of 4"), HasSubstr("total")));
  const ProgramRun run =
      Program(absl::StrCat(flags, " --steps=1 --batch_size=4 --input=npy:", dir_.File("x.npy"), ",",
                           dir_.File("x.npy")));
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("because of these nodes"), HasSubstr("total")));
  EXPECT_FALSE(FileExists(Folder()));
}

TEST_F(TrainGraph, TrainsEvaluatesAndExportsASavedModel) {
  const std::string folder = absl::StrCat("--model_dir=", Folder(), " ");
  const ProgramRun shown = Program(absl::StrCat("--show_input ", kSaved));
  EXPECT_EQ(shown.exit_code, 0) << shown.output;
  EXPECT_THAT(shown.output,
              AllOf(HasSubstr("label (labels"), HasSubstr("accuracy, auc, recall, top")));
  const ProgramRun trained = Program(absl::StrCat(kSaved, folder, kSavedInput, " --steps=10"));
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  EXPECT_EQ(LoadGlobalStep(Folder()).value(), 15);
  // The folder keeps the graphs.
  const ProgramRun evaluated = Program(absl::StrCat(folder, kSavedInput, " --mode=eval"));
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
  EXPECT_THAT(evaluated.output, AllOf(HasSubstr("accuracy = 0.725"), HasSubstr("auc = 0.7891")));
  // The metrics need one replica, and evaluation then runs on one.
  EXPECT_EQ(
      Program(absl::StrCat(folder, kSavedInput, " --mode=eval --use_tpu --num_shards=2")).exit_code,
      0);
  const ProgramRun exported =
      Program(absl::StrCat(folder, "--mode=export --export_dir=", dir_.File("export")));
  EXPECT_EQ(exported.exit_code, 0) << exported.output;
}

TEST_F(TrainGraph, RefusesASavedModelThatHoldsNoTraining) {
  const ProgramRun serve = Program(absl::StrCat(
      "--saved_model=testdata/train_graph/saved_serve_only --steps=1 --model_dir=", Folder(), " ",
      kSavedInput));
  EXPECT_EQ(serve.exit_code, 1);
  EXPECT_THAT(serve.output, AllOf(HasSubstr("{serve}"), HasSubstr("experimental_mode")));
  EXPECT_FALSE(FileExists(Folder()));
  const ProgramRun both = Program(absl::StrCat(kSaved, "--meta=", kMeta, " --show_input"));
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.output, HasSubstr("there can be one graph only"));
  const ProgramRun nowhere = Program(absl::StrCat(kSaved, kSavedInput, " --steps=1"));
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.output, HasSubstr("must be given with --saved_model"));
}

TEST_F(TrainGraph, SaysWhatIsMissing) {
  const ProgramRun run = Program("--show_input");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.output, HasSubstr("--model_dir=DIR must be given"));
  EXPECT_THAT(Program(absl::StrCat("--show_input --model_dir=", dir_.path())).output,
              HasSubstr("has no model.ckpt-N.meta"));
}

TEST_F(TrainGraph, MeasuresTheSpeed) {
  const ProgramRun run = RunProgram(
      absl::StrCat("tools/train_graph/train_graph_benchmark --meta=", kMeta,
                   " --batch_size=8 --input=fixed:0..255,0..9 --steps=2 --warmup_steps=1"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("\"program\":\"train_graph_benchmark\""),
                    HasSubstr("\"images_per_second\":"), HasSubstr("\"measured_steps\":2")));
}

}  // namespace
}  // namespace estimator
