// train::InitFromCheckpoint: TensorFlow's assignment maps, and values in place of initializers.
#include "estimator/training/warm_start/init_from_checkpoint.h"

#include <map>

#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/checkpoint/testing/v1_files.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/graphdef/graph_def.h"
#include "estimator/nn/initializers.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/training/warm_start/checkpoint_initializer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Variable Make(const std::string& name, const Shape& shape, DType dtype = DType::kFloat32) {
  return GetVariable(name, shape, {.dtype = dtype, .initializer = initializers::Constant(-1)});
}

class InitFromCheckpointTest : public GraphTest {
 protected:
  InitFromCheckpointTest() : prefix_(dir_.File("old.ckpt")) {
    const auto writer = BundleWriter::Open(prefix_).value();
    const auto add = [&](const char* name, const Array& value) {
      EST_EXPECT_OK(writer->Add(name, value));
    };
    add("old/w", Array::Of<float>({2}, {1, 2}));
    add("old/b", Array::Scalar(3.0f));
    add("top", Array::Scalar(4.0f));
    EST_EXPECT_OK(writer->AddSlice("old/part", {3, 2},
                                   {{.start = 0, .length = 2}, {.start = 0, .length = 2}},
                                   Array::Of<float>({2, 2}, {1, 2, 3, 4})));
    EST_EXPECT_OK(writer->AddSlice("old/part", {3, 2},
                                   {{.start = 2, .length = 1}, {.start = 0, .length = 2}},
                                   Array::Of<float>({1, 2}, {5, 6})));
    EST_EXPECT_OK(writer->Finish());
  }

  // First values after the loads, by name.
  std::map<std::string, double> Sums() {
    VariableStore store;
    const auto loaded = LoadCheckpointInitializers(graph_, {}, store);
    EST_EXPECT_OK(loaded);
    const absl::Status initialized = InitializeVariables(graph_, store);
    EST_EXPECT_OK(initialized);
    std::map<std::string, double> sums;
    for (const std::string& name : store.Names()) {
      for (int64_t i = 0; i < store.Peek(name)->num_elements(); ++i)
        sums[name] += store.Peek(name)->AsDouble(i);
    }
    return sums;
  }
  absl::Status Error() const { return graph_.status(); }

  TempDir dir_;
  const std::string prefix_;
};

TEST_F(InitFromCheckpointTest, NamesVariablesAndScopesAreMapped) {
  Make("new/w", {2});
  Make("new/b", {});
  const Variable part = Make("part", {3, 2});
  Make("else", {});
  Make("root/top", {});
  train::InitFromCheckpoint(
      prefix_, {{"old/w", "new/w"}, {"old/b", "new/b"}, {"old/part", part}, {"/", "root/"}});
  EST_ASSERT_OK(graph_.status());
  const std::map<std::string, double> expected = {
      {"new/w", 3}, {"new/b", 3}, {"part", 21}, {"else", -1}, {"root/top", 4}};
  EXPECT_EQ(Sums(), expected);
}

TEST_F(InitFromCheckpointTest, AScopeTakesAllOfItsVariables) {
  Make("new/w", {2});
  Make("new/b", {});
  Make("newer", {});
  train::InitFromCheckpoint(prefix_, {{"old/", "new/"}});
  EST_ASSERT_OK(graph_.status());
  const std::map<std::string, double> expected = {{"new/w", 3}, {"new/b", 3}, {"newer", -1}};
  EXPECT_EQ(Sums(), expected);
}

// A model_fn may build its metrics before it reads the checkpoint.
TEST_F(InitFromCheckpointTest, AScopeLeavesItsLocalVariablesAlone) {
  Make("new/w", {2});
  GetVariable("new/total", {}, {.trainable = false, .local = true});
  train::InitFromCheckpoint(prefix_, {{"old/", "new/"}});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(Sums().at("new/w"), 3);
}

TEST_F(InitFromCheckpointTest, TheRootMapsOntoTheRoot) {
  Make("old/w", {2});
  Make("top", {});
  train::InitFromCheckpoint(prefix_, {{"/", "/"}});
  EST_ASSERT_OK(graph_.status());
  const std::map<std::string, double> expected = {{"old/w", 3}, {"top", 4}};
  EXPECT_EQ(Sums(), expected);
}

// Fixed bug: the run began at the step of the old one, and ended at once.
TEST_F(InitFromCheckpointTest, TheStepOfTheOldRunIsNotTaken) {
  const auto writer = BundleWriter::Open(dir_.File("stepped")).value();
  EST_ASSERT_OK(writer->Add("w", Array::Of<float>({2}, {7, 8})));
  EST_ASSERT_OK(writer->Add("global_step", Array::Scalar<int64_t>(60)));
  EST_ASSERT_OK(writer->Finish());
  GetOrCreateGlobalStep();
  Make("w", {2});
  train::InitFromCheckpoint(dir_.File("stepped"), {{"/", "/"}});
  EST_ASSERT_OK(graph_.status());
  const std::map<std::string, double> expected = {{"global_step", 0}, {"w", 15}};
  EXPECT_EQ(Sums(), expected);
  train::InitFromCheckpoint(dir_.File("stepped"), train::GetAssignmentMapFromCheckpoint(
                                                      graph_.variables(), dir_.File("stepped"))
                                                      .assignment_map);
  EXPECT_THAT(Error(), ErrorIs(AllOf(HasSubstr("{'global_step', 'global_step'}"),
                                     HasSubstr("graph.ModelVariables()"))));
}

TEST_F(InitFromCheckpointTest, AVariableOfAnotherGraphIsRefused) {
  Graph other;
  const auto make = [&other] {
    const GraphScope scope(other);
    return Make("w", {2});
  };
  train::InitFromCheckpoint(prefix_, {{"old/w", make()}});
  EXPECT_THAT(Error(), ErrorHas("{'old/w', 'w'}: the variable belongs to another graph"));
}

class BatchNormTest : public InitFromCheckpointTest {
 protected:
  // A graph with two batch norms, and a checkpoint that lacks two of their averages.
  BatchNormTest() {
    const auto writer = BundleWriter::Open(dir_.File("norms")).value();
    for (const char* name :
         {"a/gamma", "a/beta", "a/moving_mean", "a/moving_variance", "b/gamma", "b/beta"})
      EST_EXPECT_OK(writer->Add(name, Array::Scalar(5.0f)));
    EST_EXPECT_OK(writer->Finish());
    for (const std::string scope : {"a/", "b/"}) {
      for (const char* name : {"gamma", "beta"}) Make(scope + name, {});
      for (const char* name : {"moving_mean", "moving_variance"}) {
        GetVariable(scope + name, {},
                    {.initializer = initializers::Constant(-1), .trainable = false});
      }
    }
  }
  std::vector<std::string> Warnings(const std::vector<Variable>& variables) {
    train::InitFromCheckpoint(
        dir_.File("norms"),
        train::GetAssignmentMapFromCheckpoint(variables, dir_.File("norms")).assignment_map);
    const testing::CapturedLog log;
    (void)Sums();
    return log.warnings;
  }
};

TEST_F(BatchNormTest, MovingAveragesThatAreLeftOutAreNamed) {
  EXPECT_THAT(
      Warnings(graph_.TrainableVariables()),
      ElementsAre(AllOf(HasSubstr("2 moving averages"),
                        HasSubstr("/norms: a/moving_mean, a/moving_variance. The checkpoint has"),
                        HasSubstr("Graph::ModelVariables()")),
                  HasSubstr("/norms: b/moving_mean, b/moving_variance. The checkpoint does not")));
}

TEST_F(BatchNormTest, ThoseThatTheCheckpointLacksAreNamed) {
  EXPECT_THAT(Warnings(graph_.ModelVariables()),
              ElementsAre(HasSubstr("/norms: b/moving_mean, b/")));
  EXPECT_EQ(Sums().at("a/moving_mean"), 5);
}

TEST_F(InitFromCheckpointTest, AMapOfNothingIsNoticed) {
  const testing::CapturedLog log;
  train::InitFromCheckpoint(
      prefix_, train::GetAssignmentMapFromCheckpoint({Make("x", {})}, prefix_).assignment_map);
  EST_ASSERT_OK(graph_.status());
  EXPECT_THAT(log.warnings, ElementsAre(HasSubstr("assignment_map is empty")));
}

TEST_F(InitFromCheckpointTest, ASavedModelsDirectoryServesAsWell) {
  EST_ASSERT_OK(CreateDirectories(dir_.File("saved/variables")));
  const auto writer = BundleWriter::Open(dir_.File("saved/variables/variables")).value();
  EST_ASSERT_OK(writer->Add("old/w", Array::Of<float>({2}, {7, 8})));
  EST_ASSERT_OK(writer->Finish());
  const Variable w = Make("new/w", {2});
  EXPECT_TRUE(train::CheckpointExists(dir_.File("saved")));
  const auto [map, names] =
      train::GetAssignmentMapFromCheckpoint({Make("old/w", {2})}, dir_.File("saved"));
  EXPECT_EQ(map.size(), 1u);
  train::InitFromCheckpoint(dir_.File("saved"), {{"old/w", w}});
  EST_ASSERT_OK(graph_.status());
  const std::map<std::string, double> expected = {{"new/w", 15}, {"old/w", -2}};
  EXPECT_EQ(Sums(), expected);
}

// testdata/saved_models/generate.py: its variables are stored under the paths of their objects.
TEST_F(InitFromCheckpointTest, ASavedModelOfKerasServesByTheNamesOfItsVariables) {
  const std::string keras = "testdata/saved_models/keras/model";
  const std::vector<Variable> variables = {Make("batch_normalization/gamma", {4}),
                                           Make("dense/bias", {3})};
  const auto [map, names] = train::GetAssignmentMapFromCheckpoint(variables, keras);
  EXPECT_THAT(names, ElementsAre("batch_normalization/gamma", "batch_normalization/gamma:0"));
  train::InitFromCheckpoint(keras, map);
  train::InitFromCheckpoint(keras, {{"probabilities/", "dense/"}});
  EST_ASSERT_OK(graph_.status());
  const std::map<std::string, double> expected = {{"batch_normalization/gamma", 4.5},
                                                  {"dense/bias", 0}};
  EXPECT_EQ(Sums(), expected);
}

// As the slim checkpoints of image networks are.
TEST_F(InitFromCheckpointTest, ACheckpointInTheV1FormatServesAsWell) {
  const std::string v1 = dir_.File("resnet_v1_50.ckpt");
  EST_ASSERT_OK(WriteV1File(v1, {{.name = "resnet/w", .value = Array::Of<float>({2}, {7, 8})},
                                 {.name = "resnet/part",
                                  .value = Array::Of<float>({1, 2}, {1, 2}),
                                  .whole = {2, 2},
                                  .extents = {{0, 1}, {}}},
                                 {.name = "resnet/part",
                                  .value = Array::Of<float>({1, 2}, {3, 4}),
                                  .whole = {2, 2},
                                  .extents = {{1, 1}, {}}},
                                 {.name = "mean_rgb", .value = Array::Scalar(5.0f)}}));
  Make("mine/w", {2});
  Make("mine/part", {2, 2});
  train::InitFromCheckpoint(v1, {{"resnet/", "mine/"}});
  EST_ASSERT_OK(graph_.status());
  const std::map<std::string, double> expected = {{"mine/w", 15}, {"mine/part", 10}};
  EXPECT_EQ(Sums(), expected);
}

TEST_F(InitFromCheckpointTest, OneValueServesSeveralVariablesAndTheLastCallCounts) {
  Make("a", {});
  Make("b", {});
  train::InitFromCheckpoint(prefix_, {{"old/b", "a"}, {"old/b", "b"}});
  train::InitFromCheckpoint(prefix_, {{"top", "b"}});
  EST_ASSERT_OK(graph_.status());
  const std::map<std::string, double> expected = {{"a", 3}, {"b", 4}};
  EXPECT_EQ(Sums(), expected);
}

TEST_F(InitFromCheckpointTest, WhatBeginsAtAnotherVariablesValueBeginsAtTheLoadedOne) {
  const Variable w = Make("w", {2});
  GetVariable("average", {2},
              {.initializer = [&w](const Shape&, DType) { return InitializedValue(w); }});
  train::InitFromCheckpoint(prefix_, {{"old/w", w}});
  const std::map<std::string, double> expected = {{"average", 3}, {"w", 3}};
  EXPECT_EQ(Sums(), expected);
}

TEST_F(InitFromCheckpointTest, EveryMismatchIsInOneTableWithItsCure) {
  Make("old/w", {3});
  Make("old/b", {}, DType::kFloat64);
  Make("old/parts", {3, 2});
  Make("old/unlike_all", {});
  train::InitFromCheckpoint(prefix_, {{"old/", "old/"}});
  EXPECT_THAT(graph_.status(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Error(), ErrorIs(AllOf(HasSubstr("4 of 4 variables differ"), HasSubstr("f32 [3]"),
                                     HasSubstr("f32 [2]"), HasSubstr("another dtype"),
                                     HasSubstr("map it in assignment_map"),
                                     HasSubstr("leave it out of assignment_map"))));
}

// A fixed bug: each variable had a row with the cure to leave it out.
TEST_F(InitFromCheckpointTest, APrefixThatIsTheWholeDifferenceIsNamedWithItsMap) {
  EST_ASSERT_OK(SaveVariables(dir_.File("scoped"), {{"a/conv/kernel", Array(DType::kFloat32, {2})},
                                                    {"a/conv/bias", Array(DType::kFloat32, {1})},
                                                    {"plain/kernel", Array(DType::kFloat32, {4})},
                                                    {"plain/bias", Array(DType::kFloat32, {3})}}));
  const auto error = [this](const std::string& scope, int64_t size,
                            const train::AssignmentMap& map) {
    Graph graph;
    const GraphScope in_graph(graph);
    GetVariable(scope + "kernel", {size});
    GetVariable(scope + "bias", {size - 1});
    train::InitFromCheckpoint(dir_.File("scoped"), map);
    return graph.status();
  };
  const std::string there = "a/conv/kernel, asked for as conv/kernel";
  EXPECT_THAT(error("conv/", 2, {{"/", "/"}}),
              ErrorIs(AllOf(HasSubstr("only a prefix differs"), HasSubstr("with the scope \"a/\""),
                            HasSubstr(there), HasSubstr("{{\"a/\", \"/\"}}"),
                            Not(HasSubstr("leave it out")))));
  EXPECT_THAT(error("a/conv/", 2, {{"/", "a/"}}), ErrorHas("{{\"a/\", \"a/\"}}"));
  EXPECT_THAT(
      error("b/plain/", 4, {{"/", "/"}}),
      ErrorIs(AllOf(HasSubstr("without the scope \"b/\""), HasSubstr("{{\"/\", \"b/\"}}"))));
  // Other sizes are a difference too.
  EXPECT_THAT(error("conv/", 3, {{"/", "/"}}), ErrorHas("2 of 2 variables differ"));
}

// A fixed bug: the cure was Scaffold::partial_restore, which has no say here.
TEST_F(InitFromCheckpointTest, ASlotThatTheOldRunDidNotKeepIsToBeLeftOut) {
  Make("old/w", {2});
  Make("old/w/Adam", {2});
  train::InitFromCheckpoint(prefix_, {{"old/", "old/"}});
  EXPECT_THAT(Error(), ErrorIs(AllOf(HasSubstr("old/w/Adam"), HasSubstr("assignment_map"),
                                     Not(HasSubstr("partial_restore")))));
}

TEST_F(InitFromCheckpointTest, EveryEntryThatNamesNothingIsListed) {
  Make("new/kernel", {2});
  train::InitFromCheckpoint(
      prefix_,
      {{"old/w", "new/kernels"}, {"old/w", "new/"}, {"old/", "new/kernel"}, {"old/", "newer/"}});
  EXPECT_THAT(Error(),
              ErrorIs(AllOf(HasSubstr("did you mean 'new/kernel'?"),
                            HasSubstr("Should be 'scope/': 'other_scope/'"),
                            HasSubstr("a scope of the checkpoint cannot map to a variable"),
                            HasSubstr("no variable is in that scope; there are new/kernel"))));
}

TEST_F(InitFromCheckpointTest, AMissingCheckpointIsAnErrorOfTheGraph) {
  Make("w", {2});
  EXPECT_FALSE(train::CheckpointExists(dir_.File("none")));
  EXPECT_TRUE(train::CheckpointExists(prefix_));
  train::InitFromCheckpoint(dir_.File("none"), {{"old/w", "w"}});
  EXPECT_THAT(graph_.status(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Error(), ErrorIs(AllOf(HasSubstr("InitFromCheckpoint"), HasSubstr("none"))));
}

TEST_F(InitFromCheckpointTest, BertsAssignmentMapHoldsTheVariablesThatAreThere) {
  const std::vector<Variable> variables = {Make("old/w", {2}), Make("output/bias", {})};
  const auto [map, names] = train::GetAssignmentMapFromCheckpoint(variables, prefix_);
  ASSERT_EQ(map.size(), 1u);
  EXPECT_EQ(map[0].first, "old/w");
  EXPECT_THAT(names, ElementsAre("old/w", "old/w:0"));
  train::InitFromCheckpoint(prefix_, map);
  const std::map<std::string, double> expected = {{"old/w", 3}, {"output/bias", -1}};
  EXPECT_EQ(Sums(), expected);
  train::GetAssignmentMapFromCheckpoint(variables, dir_.File("none"));
  EXPECT_THAT(Error(), ErrorHas("GetAssignmentMapFromCheckpoint"));
}

TEST_F(InitFromCheckpointTest, TheGraphShowsItAsTensorFlowsDoes) {
  Make("w", {2});
  train::InitFromCheckpoint(prefix_, {{"old/w", "w"}});
  EXPECT_THAT(GraphToText(graph_),
              AllOf(HasSubstr("checkpoint_initializer/Restore"), HasSubstr("old/w"),
                    Not(HasSubstr("key: \"T\"\n      value {\n        type: DT_STRING"))));
}

}  // namespace
}  // namespace estimator
