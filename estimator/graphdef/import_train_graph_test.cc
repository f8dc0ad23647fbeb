#include "estimator/graphdef/import_train_graph.h"

#include <string>

#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graphdef/testing/import_train_fixture.h"
#include "estimator/graphdef/testing/small_training.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::estimator::testing::ImportTrainFixture;
using ::estimator::testing::SmallTraining;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kT = SmallTraining::TypeAttr("T");  // NOLINT: a string of a test

class ImportTrainGraphTest : public ImportTrainFixture {};

TEST_F(ImportTrainGraphTest, DescribesTheGraph) {
  const absl::StatusOr<TrainGraph> source =
      TrainGraph::Parse(SmallTraining::Small().Bytes(), "test");
  ASSERT_TRUE(source.ok()) << source.status();
  const TrainGraphInfo& info = source->info();
  EXPECT_EQ(info.train_op, "train");
  EXPECT_EQ(info.loss, "loss:0");
  EXPECT_THAT(info.variables, ElementsAre("global_step", "w"));
  EXPECT_THAT(info.trainable_variables, ElementsAre("w"));
  EXPECT_THAT(info.obstacles, IsEmpty());
  ASSERT_THAT(info.inputs, SizeIs(2));
  EXPECT_EQ(info.inputs[1].name, "IteratorGetNext:1");
  EXPECT_EQ(info.inputs[1].dtype, DType::kFloat32);
  EXPECT_EQ(info.inputs[1].shape, (Shape{Shape::kUnknownDim, 1}));
  EXPECT_TRUE(info.inputs[1].used);
}

// Before TensorFlow 0.12 such a placeholder may have had any shape.
TEST_F(ImportTrainGraphTest, AScalarOfAnOldGraphHasAnUnknownShape) {
  const auto rank_known = [](int producer, const std::string& attrs) {
    SmallTraining training = SmallTraining::Small();
    training.Node("p", "Placeholder", {},
                  SmallTraining::TypeAttr("dtype") + SmallTraining::ShapeAttr("shape", {}) + attrs);
    training.Rewire("apply", {"w", "p", "gradients/MatMul"});
    training.meta_graph().mutable_graph_def()->mutable_versions()->set_producer(producer);
    return TrainGraph::Parse(training.Bytes(), "test").value().info().inputs.back().rank_known;
  };
  EXPECT_FALSE(rank_known(23, ""));
  EXPECT_TRUE(rank_known(24, ""));
  EXPECT_TRUE(rank_known(23, " attr { key: '_output_shapes' value { list { shape { } } } }"));
}

TEST_F(ImportTrainGraphTest, AVariableOfNoCollectionIsInitializedByItsFirstAssign) {
  SmallTraining training = SmallTraining::Small();
  const std::string scalar = SmallTraining::ShapeAttr("shape", {});
  training.Node("own", "VariableV2", {}, SmallTraining::TypeAttr("dtype") + scalar);
  training.Node("own/Assign", "Assign", {"own", "rate"}, kT);
  training.Node("own/read", "Identity", {"own"}, kT);
  training.Rewire("apply", {"w", "own/read", "gradients/MatMul"});
  ASSERT_TRUE(Import(training).ok());
  EXPECT_TRUE(graph_.FindVariable("own").has_value());
}

TEST_F(ImportTrainGraphTest, AssignsWhatTheOptimizerReturns) {
  const absl::StatusOr<ImportedTrainGraph> imported = Import(SmallTraining::Small());
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(imported->warnings, IsEmpty());
  EXPECT_THAT(CollectAssigns({imported->train_op}), SizeIs(2));
  const Node* const value = ValueOf(*imported, "w");
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->op(), "ApplyGradientDescent");
  EXPECT_EQ(value->input(0).node()->name(), "w/read");
  EXPECT_EQ(imported->loss.shape(), Shape{});
}

// No collection says which variables are those of the optimizer.
TEST_F(ImportTrainGraphTest, SlotsAndCountersAreNoVariablesOfTheModel) {
  SmallTraining training = SmallTraining::Small();
  for (const char* name : {"w/Momentum", "training/Adam/w/m", "beta1_power", "bn/moving_mean"})
    training.Variable(name, {1, 1}, 3, false);
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  std::vector<std::string> names;
  for (const Variable& variable : graph_.ModelVariables()) names.push_back(variable.name());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("w", "bn/moving_mean"));
}

TEST_F(ImportTrainGraphTest, AReadAfterAWriteByControlDependencyGetsTheNewValue) {
  SmallTraining training = SmallTraining::Small();
  training.Variable("average", {1, 1}, 2, false);
  training.Node("copy", "Assign", {"average", "w/read", "^apply"}, kT);
  training.Rewire("train", {"^step", "^copy"});
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(imported->warnings, IsEmpty());
  EXPECT_EQ(ValueOf(*imported, "average")->op(), "ApplyGradientDescent");
}

TEST_F(ImportTrainGraphTest, AReadBeforeAWriteByControlDependencyGetsTheOldValue) {
  SmallTraining training = SmallTraining::Small();
  training.Variable("average", {1, 1}, 2, false);
  training.Node("copy", "Assign", {"average", "w/read"}, kT);
  training.Rewire("apply", {"w", "rate", "gradients/MatMul", "^copy"});
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(imported->warnings, IsEmpty());
  EXPECT_EQ(ValueOf(*imported, "average")->name(), "w/read");
}

TEST_F(ImportTrainGraphTest, AReadInNoOrderGetsTheOldValueAndAWarning) {
  SmallTraining training = SmallTraining::Small();
  training.Variable("average", {1, 1}, 2, false);
  training.Node("copy", "Assign", {"average", "w/read"}, kT);
  training.Rewire("train", {"^step", "^copy"});
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(imported->warnings,
              ElementsAre(HasSubstr("'copy' reads 'w' before or after 'apply'")));
  EXPECT_EQ(ValueOf(*imported, "average")->name(), "w/read");
}

TEST_F(ImportTrainGraphTest, TwoWritesInNoOrderAreAWarning) {
  SmallTraining training = SmallTraining::Small();
  training.Variable("v", {1, 1}, 3, false);
  training.Node("raise", "AssignAdd", {"v", "w/Initializer/Const"}, kT);
  training.Node("replace", "Assign", {"v", "w/Initializer/Const"}, kT);
  training.Rewire("train", {"^step", "^raise", "^replace"});
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(imported->warnings,
              ElementsAre(HasSubstr("writes 'v' first; it is imported in this order")));
  training.Rewire("replace", {"v", "w/Initializer/Const", "^raise"});
  Graph ordered;
  const GraphScope scope(ordered);
  const std::vector<Tensor> inputs(
      2, ordered.AddOp("Placeholder", {}, {{"dtype", DType::kFloat32}, {"shape", Shape{4, 1}}}));
  const auto source = TrainGraph::Parse(training.Bytes(), "test");
  ASSERT_TRUE(source.ok()) << source.status();
  const auto again = source->Import({.inputs = inputs, .fetches = {}}, ordered);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(again->warnings, IsEmpty());
  EXPECT_EQ(ValueOf(*again, "v")->op(), "Const");
}

// The order of the writes is that of the paths, not that of the nodes in the file: v is doubled and
// copied, then raised and copied again.
TEST_F(ImportTrainGraphTest, SeveralWritesOfAVariableTakeEffectInTheOrderOfTheirPaths) {
  SmallTraining training = SmallTraining::Small();
  training.Variable("v", {1, 1}, 3, false);
  training.Variable("between", {1, 1}, 0, false);
  training.Variable("after", {1, 1}, 0, false);
  training.Variable("before", {1, 1}, 0, false);
  training.Node("copy_after", "Assign", {"after", "v/read", "^raise"}, kT);
  training.Node("raise", "AssignAdd", {"v", "w/Initializer/Const", "^copy_between"}, kT);
  training.Node("copy_between", "Assign", {"between", "v/read", "^double"}, kT);
  training.Node("double", "AssignAdd", {"v", "v/read", "^copy_before"}, kT);
  training.Node("copy_before", "Assign", {"before", "v/read"}, kT);
  training.Rewire("train", {"^step", "^copy_after", "^raise"});
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  // raise(double(v)): both are additions.
  const Node* const raised = ValueOf(*imported, "v");
  ASSERT_EQ(raised->op(), "AddV2");
  EXPECT_EQ(raised->input(1).node()->op(), "Const");
  const Node* const doubled = raised->input(0).node();
  ASSERT_EQ(doubled->op(), "AddV2");
  EXPECT_EQ(doubled->input(0).node()->name(), "v/read");
  EXPECT_EQ(doubled->input(1).node()->name(), "v/read");
  EXPECT_EQ(ValueOf(*imported, "after"), raised);
  EXPECT_EQ(ValueOf(*imported, "between"), doubled);
  EXPECT_EQ(ValueOf(*imported, "before")->name(), "v/read");
}

TEST_F(ImportTrainGraphTest, ListsAllObstaclesInOneTable) {
  SmallTraining training = SmallTraining::Small();
  training.Node("py", "PyFunc", {"gradients/MatMul"});
  training.Node("py_1", "PyFunc", {"py"});
  training.Node("infeed", "InfeedEnqueueTuple", {"square"});
  training.Rewire("apply", {"w", "rate", "py_1"});
  training.Rewire("train", {"^step", "^infeed"});
  const absl::StatusOr<TrainGraph> source = TrainGraph::Parse(training.Bytes(), "test");
  ASSERT_TRUE(source.ok()) << source.status();
  ASSERT_THAT(source->info().obstacles, SizeIs(2));
  EXPECT_EQ(source->info().obstacles[1].op, "PyFunc");
  EXPECT_EQ(source->info().obstacles[1].count, 2);
  const absl::Status status = Import(training).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("real TPUs"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("calls Python"));
  EXPECT_THAT(graph_.variables(), IsEmpty());
}

// Fixed bug: an import ended at the first node that sizes of the batch prevent.
TEST_F(ImportTrainGraphTest, ATryNamesAllNodesThatCannotBeBuilt) {
  SmallTraining training = SmallTraining::Small();
  training.Variable("a", {4, 4}, 2, false);
  training.Variable("b", {1, 1}, 2, false);
  training.Node("bad", "MatMul", {"sub", "sub"}, kT);
  training.Node("reads_bad", "Square", {"bad"}, kT);
  training.Node("assign_a", "Assign", {"a", "reads_bad"}, kT);
  training.Node("worse", "MatMul", {"w/read", "square"}, kT);
  training.Node("assign_b", "Assign", {"b", "worse"}, kT);
  training.Rewire("train", {"^step", "^assign_a", "^assign_b"});
  const auto parsed = TrainGraph::Parse(training.Bytes(), "file");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT(parsed->info().obstacles, IsEmpty());
  const TensorSpec rows = {DType::kFloat32, Shape{4, 1}};
  const auto obstacles = parsed->TryImport({}, {rows, rows});
  ASSERT_TRUE(obstacles.ok()) << obstacles.status();
  ASSERT_THAT(*obstacles, SizeIs(2));
  EXPECT_EQ((*obstacles)[0].name, "worse");
  EXPECT_EQ((*obstacles)[1].name, "bad");
  const TrainGraph small = *TrainGraph::Parse(SmallTraining::Small().Bytes(), "file");
  EXPECT_THAT(small.TryImport({}, {rows, rows}).value(), IsEmpty());
}

TEST_F(ImportTrainGraphTest, RefusesALoop) {
  SmallTraining training = SmallTraining::Small();
  training.Node("enter", "Enter", {"gradients/MatMul"}, kT);
  training.Node("merge", "Merge", {"enter", "next"}, kT);
  training.Node("next", "NextIteration", {"merge"}, kT);
  training.Node("exit", "Exit", {"merge"}, kT);
  training.Rewire("apply", {"w", "rate", "exit"});
  const absl::Status status = Import(training).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("tf.while_loop"));
}

TEST_F(ImportTrainGraphTest, ACondOfCheapBranchesBecomesASelect) {
  SmallTraining training = SmallTraining::WithCondition();
  training.Node("switch", "Switch", {"gradients/MatMul", "pred"}, kT);
  training.Node("halved", "Mul", {"switch:1", "rate"}, kT);
  training.Node("merge", "Merge", {"switch", "halved"}, kT);
  training.Rewire("apply", {"w", "rate", "merge"});
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Node* const select = ValueOf(*imported, "w")->input(2).node();
  ASSERT_EQ(select->op(), "SelectV2");
  EXPECT_EQ(select->input(0).node()->name(), "pred");
  EXPECT_EQ(select->input(1).node()->name(), "halved");
  EXPECT_EQ(select->input(2).node()->name(), "gradients/MatMul");
}

TEST_F(ImportTrainGraphTest, AnUpdateInsideACondSelectsTheOldOrTheNewValue) {
  SmallTraining training = SmallTraining::WithCondition();
  training.Node("switch", "Switch", {"gradients/MatMul", "pred"}, kT);
  for (const bool side : {true, false}) {
    training.Rewire("apply", {"w", "rate", side ? "switch:1" : "switch"});
    Graph graph;
    const absl::StatusOr<TrainGraph> source = TrainGraph::Parse(training.Bytes(), "test");
    ASSERT_TRUE(source.ok()) << source.status();
    const GraphScope scope(graph);
    const std::vector<Tensor> inputs(
        2, graph.AddOp("Placeholder", {}, {{"dtype", DType::kFloat32}, {"shape", Shape{4, 1}}}));
    const auto imported = source->Import({.inputs = inputs, .fetches = {}}, graph);
    ASSERT_TRUE(imported.ok()) << imported.status();
    const Node* const select = ValueOf(*imported, "w");
    ASSERT_EQ(select->op(), "SelectV2");
    EXPECT_EQ(select->input(0).node()->name(), "pred");
    EXPECT_EQ(select->input(side ? 1 : 2).node()->op(), "ApplyGradientDescent");
    EXPECT_EQ(select->input(side ? 2 : 1).node()->name(), "w/read");
  }
}

TEST_F(ImportTrainGraphTest, ATryNamesTheNodeOfABranchThatCannotBeBuilt) {
  SmallTraining training = SmallTraining::WithCondition();
  training.Node("switch", "Switch", {"sub", "pred"}, kT);
  training.Node("bad", "MatMul", {"switch:1", "switch:1"}, kT);
  training.Node("merge", "Merge", {"switch", "bad"}, kT);
  training.Variable("b", {4, 1}, 2, false);
  training.Node("assign_b", "Assign", {"b", "merge"}, kT);
  training.Rewire("train", {"^step", "^assign_b"});
  const TensorSpec rows = {DType::kFloat32, Shape{4, 1}};
  const auto obstacles = TrainGraph::Parse(training.Bytes(), "file")->TryImport({}, {rows, rows});
  ASSERT_TRUE(obstacles.ok()) << obstacles.status();
  ASSERT_THAT(*obstacles, SizeIs(1));
  EXPECT_EQ((*obstacles)[0].name, "bad");
  EXPECT_THAT((*obstacles)[0].reason, ::testing::StartsWith("inner sizes differ"));
}

TEST_F(ImportTrainGraphTest, ATryNamesTheMergeOfTheBranchesThatDiffer) {
  SmallTraining training = SmallTraining::WithCondition();
  training.Node("switch", "Switch", {"sub", "pred"}, kT);
  training.Node("softmax", "Softmax", {"switch:1"}, kT);
  training.Node("norm", "MatMul", {"switch:1", "switch:1"},
                kT + " attr { key: 'transpose_a' value { b: true } }");
  for (const std::string name : {"softmax", "norm"}) {
    training.Node("of_" + name, "Merge", {"switch", name}, kT);
    training.Variable("v_" + name, {4, 1}, 2, false);
    training.Node("assign_" + name, "Assign", {"v_" + name, "of_" + name}, kT);
  }
  training.Rewire("train", {"^step", "^assign_softmax", "^assign_norm"});
  const TensorSpec rows = {DType::kFloat32, Shape{4, 1}};
  const auto obstacles = TrainGraph::Parse(training.Bytes(), "file")->TryImport({}, {rows, rows});
  ASSERT_TRUE(obstacles.ok()) << obstacles.status();
  ASSERT_THAT(*obstacles, SizeIs(1));
  EXPECT_EQ((*obstacles)[0].name, "of_norm");
}

// TensorFlow's op counts only the steps in which it runs, so that its numbers are the same in each
// step only if the condition is.
TEST_F(ImportTrainGraphTest, RandomNumbersInACondAreWarnedOfUnlessItsConditionIsFixed) {
  SmallTraining training = SmallTraining::Small();
  training.Node(
      "on", "Placeholder", {},
      SmallTraining::TypeAttr("dtype", "DT_BOOL") + SmallTraining::ShapeAttr("shape", {}));
  training.Node("pred", "Identity", {"on"}, SmallTraining::TypeAttr("T", "DT_BOOL"));
  training.Node("switch", "Switch", {"sub", "pred"}, kT);
  training.Node("shape", "Shape", {"switch:1"},
                kT + SmallTraining::TypeAttr("out_type", "DT_INT32"));
  training.Node("noise", "RandomUniform", {"shape"},
                SmallTraining::TypeAttr("T", "DT_INT32") + SmallTraining::TypeAttr("dtype"));
  training.Node("noisy", "Mul", {"switch:1", "noise"}, kT);
  training.Node("merge", "Merge", {"switch", "noisy"}, kT);
  training.Rewire("square", {"merge"});
  const auto import = [](const TrainGraph& source, Graph& graph) {
    const GraphScope scope(graph);
    std::vector<Tensor> inputs;
    for (const TrainGraphInput& input : source.info().inputs) {
      const Shape shape = input.dtype == DType::kBool ? Shape{} : Shape{4, 1};
      inputs.push_back(graph.AddOp("Placeholder", {}, {{"dtype", input.dtype}, {"shape", shape}}));
    }
    return source.Import({.inputs = inputs, .fetches = {}}, graph);
  };
  const auto open = TrainGraph::Parse(training.Bytes(), "file");
  ASSERT_TRUE(open.ok()) << open.status();
  Graph changing;
  const auto selected = import(*open, changing);
  ASSERT_TRUE(selected.ok()) << selected.status();
  EXPECT_THAT(selected->warnings,
              ElementsAre(HasSubstr("'noise' (RandomUniform) draws random numbers inside")));
  EXPECT_EQ(changing.FindNode("square")->input(0).node()->op(), "If");
  for (const bool on : {true, false}) {
    const auto fed =
        TrainGraph::Parse(training.Bytes(), "file", {.feeds = {{"on:0", Array::Scalar(on)}}});
    ASSERT_TRUE(fed.ok()) << fed.status();
    Graph graph;
    const auto imported = import(*fed, graph);
    ASSERT_TRUE(imported.ok()) << imported.status();
    EXPECT_THAT(imported->warnings, IsEmpty());
    EXPECT_EQ(graph.FindNode("square")->input(0).node()->name(), on ? "noisy" : "sub");
  }
}

TEST_F(ImportTrainGraphTest, DifferencesOfConstantListsAreConstants) {
  SmallTraining training = SmallTraining::Small();
  const auto list = [&](const std::string& name, const std::vector<int>& values) {
    std::string text = SmallTraining::TypeAttr("dtype", "DT_INT32") +
                       " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { "
                       "size: " +
                       std::to_string(values.size()) + " } }";
    for (const int value : values) text += " int_val: " + std::to_string(value);
    training.Node(name, "Const", {}, text + " } } }");
  };
  list("all", {0, 1, 2});
  list("without", {2});
  training.Node("axes_left", "ListDiff", {"all", "without"},
                SmallTraining::TypeAttr("T", "DT_INT32"));
  training.Rewire("loss", {"square", "axes_left"});
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->loss.shape(), Shape{});
}

TEST_F(ImportTrainGraphTest, AnEvaluationRefusesDropout) {
  SmallTraining training = SmallTraining::Small();
  training.Node("shape", "Shape", {"sub"}, kT + SmallTraining::TypeAttr("out_type", "DT_INT32"));
  training.Node("noise", "RandomUniform", {"shape"},
                SmallTraining::TypeAttr("T", "DT_INT32") + SmallTraining::TypeAttr("dtype"));
  training.Node("noisy", "Mul", {"sub", "noise"}, kT);
  training.Rewire("square", {"noisy"});
  EXPECT_THAT(Import(training, 1, false).status().ToString(), HasSubstr("dropout"));
}

TEST_F(ImportTrainGraphTest, AnEvaluationComputesTheLossOnly) {
  const absl::StatusOr<ImportedTrainGraph> imported = Import(SmallTraining::Small(), 1, false);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_TRUE(imported->loss.valid());
  EXPECT_FALSE(imported->train_op.valid());
  EXPECT_THAT(graph_.variables(), SizeIs(2));
}

TEST_F(ImportTrainGraphTest, FindsTheOpThatWrapsTheOptimizers) {
  SmallTraining training = SmallTraining::Small();
  training.Node("second", "NoOp", {});
  training.Node("both", "NoOp", {"^train", "^second"});
  training.Node("unrelated", "NoOp", {"^second"});
  training.meta_graph()
      .mutable_collection_def()
      ->at("train_op")
      .mutable_node_list()
      ->add_value("second");
  const auto parsed = TrainGraph::Parse(training.Bytes(), "file");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->info().train_op, "both");
}

TEST_F(ImportTrainGraphTest, RefusesWhatIsNotATrainingGraph) {
  EXPECT_THAT(TrainGraph::Parse("no proto", "file").status().ToString(),
              HasSubstr("file: cannot parse"));
  SmallTraining training = SmallTraining::Small();
  training.meta_graph().mutable_collection_def()->erase("train_op");
  training.Node("other", "Identity", {"gradients/MatMul"}, kT);
  auto& nodes = *training.meta_graph().mutable_graph_def()->mutable_node();
  for (proto::NodeDef& node : nodes)
    if (node.name() == "apply") node.set_op("Identity");
  training.Rewire("apply", {"gradients/MatMul"});
  EXPECT_THAT(TrainGraph::Parse(training.Bytes(), "file").status().ToString(),
              HasSubstr("TrainGraphOptions::train_op"));
}

// Fixed bug: every canned estimator of TensorFlow 2 was refused without a hint.
TEST_F(ImportTrainGraphTest, FindsTheTrainOpAndTheLossWithoutCollections) {
  SmallTraining training = SmallTraining::Small();
  training.meta_graph().mutable_collection_def()->erase("train_op");
  training.meta_graph().mutable_collection_def()->erase("losses");
  training.Float("gradients/Fill", 1);
  training.Node("gradients/loss_grad/Mul", "Mul", {"gradients/Fill", "gradients/scale"}, kT);
  training.Rewire("gradients/sub", {"sub", "gradients/loss_grad/Mul"});
  const auto parsed = TrainGraph::Parse(training.Bytes(), "file");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->info().train_op, "train");
  EXPECT_EQ(parsed->info().loss, "loss:0");
  EXPECT_THAT(parsed->info().choices,
              ElementsAre(HasSubstr("runs all 1 updates"), HasSubstr("gradients/ begins with")));
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(imported->warnings, SizeIs(2)) << "a choice is not silent";
}

// An optimizer in Python, as BERT's, assigns.
TEST_F(ImportTrainGraphTest, AnAssignmentThatDependsOnGradientsTrains) {
  SmallTraining training = SmallTraining::Small();
  training.meta_graph().mutable_collection_def()->erase("train_op");
  for (proto::NodeDef& node : *training.meta_graph().mutable_graph_def()->mutable_node())
    if (node.name() == "apply") node.set_op("Assign");
  training.Node("next", "Sub", {"w/read", "gradients/MatMul"}, kT);
  training.Rewire("apply", {"w", "next"});
  const auto parsed = TrainGraph::Parse(training.Bytes(), "file");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->info().train_op, "train");
}

// Fixed bug: the last of the two was trained alone, without a word.
TEST_F(ImportTrainGraphTest, ListsTheTrainOpsOfAGanAndRunsSeveral) {
  SmallTraining training = SmallTraining::Small();
  training.Variable("v", {1, 1}, 2, true);
  training.Node("apply_v", "ApplyGradientDescent", {"v", "rate", "gradients/MatMul"}, kT);
  training.Node("train_v", "NoOp", {"^apply_v"});
  training.AddTo("train_op", "train_v");
  const std::string listed = TrainGraph::Parse(training.Bytes(), "file").status().ToString();
  EXPECT_THAT(listed, HasSubstr("the graph has 2 ops that train"));
  EXPECT_THAT(listed, HasSubstr("--train_op=train,train_v, --train_op=train, --train_op=train_v"));
  training.meta_graph().mutable_collection_def()->erase("train_op");
  EXPECT_EQ(TrainGraph::Parse(training.Bytes(), "file").status().ToString(), listed);
  const auto both = TrainGraph::Parse(training.Bytes(), "file", {.train_op = "train,train_v"});
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(both->info().train_op, "train,train_v");
  const GraphScope scope(graph_);
  const std::vector<Tensor> inputs(
      2, graph_.AddOp("Placeholder", {}, {{"dtype", DType::kFloat32}, {"shape", Shape{4, 1}}}));
  const absl::StatusOr<ImportedTrainGraph> imported =
      both->Import({.inputs = inputs, .fetches = {}}, graph_);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_NE(ValueOf(*imported, "w"), nullptr);
  EXPECT_NE(ValueOf(*imported, "v"), nullptr);
  EXPECT_THAT(
      TrainGraph::Parse(training.Bytes(), "file", {.train_op = "train,gone"}).status().ToString(),
      HasSubstr("no op 'gone'"));
}

// Fixed bug: what only an Assert reads, such as a placeholder of its own, was asked for.
TEST_F(ImportTrainGraphTest, LeavesOutWhatOnlyAnAssertReads) {
  SmallTraining training = SmallTraining::Small();
  training.Node("unfed", "Placeholder", {}, SmallTraining::TypeAttr("dtype"));
  training.Node("set", "DenseToDenseSetOperation", {"unfed", "loss"});
  training.Node("assert", "Assert", {"set", "unfed"});
  training.Rewire("train", {"^step", "^assert"});
  const auto parsed = TrainGraph::Parse(training.Bytes(), "file");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT(parsed->info().inputs, SizeIs(2));
  EXPECT_THAT(parsed->info().obstacles, IsEmpty());
  EXPECT_TRUE(Import(training).ok());
  // What may have an effect is still named.
  training.Node("py", "PyFunc", {"loss"});
  training.Rewire("assert", {"py", "unfed"});
  EXPECT_THAT(Import(training).status().ToString(), HasSubstr("calls Python"));
}

// Fixed bug: the row's number, which the queue of numpy_input_fn adds, had to be given.
TEST_F(ImportTrainGraphTest, AQueueGivesOnlyWhatIsRead) {
  SmallTraining training = SmallTraining::Small();
  const std::string types =
      " attr { key: 'component_types' value { list { type: DT_INT64 type: DT_FLOAT "
      "type: DT_FLOAT } } }";
  training.Node("dequeue", "QueueDequeueUpToV2", {"queue", "n"}, types);
  training.Node("queue", "FIFOQueueV2", {}, types);
  training.Float("n", 8);
  training.Rewire("MatMul", {"dequeue:1", "w/read"});
  training.Rewire("sub", {"MatMul", "dequeue:2"});
  training.Rewire("gradients/MatMul", {"dequeue:1", "gradients/sub"});
  const auto parsed = TrainGraph::Parse(training.Bytes(), "file");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_THAT(parsed->info().inputs, SizeIs(2));
  EXPECT_EQ(parsed->info().inputs[0].name, "dequeue:1");
  EXPECT_EQ(parsed->info().inputs[1].name, "dequeue:2");
}

}  // namespace
}  // namespace estimator
