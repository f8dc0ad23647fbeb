// The initial values of the variables of a training graph.
#include <algorithm>
#include <string>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graphdef/import_train_graph.h"
#include "estimator/graphdef/testing/small_training.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::estimator::testing::SmallTraining;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InitialValuesTest : public ::testing::Test {
 protected:
  absl::StatusOr<ImportedTrainGraph> Import(const SmallTraining& training) {
    EST_ASSIGN_OR_RETURN(const TrainGraph source, TrainGraph::Parse(training.Bytes(), "test"));
    const GraphScope scope(graph_);
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < source.info().inputs.size(); ++i) {
      inputs.push_back(graph_.AddOp("Placeholder", {},
                                    {{"dtype", DType::kFloat32}, {"shape", Shape{4, 1}}}, "input"));
    }
    return source.Import({.inputs = inputs, .training = true, .fetches = {}}, graph_);
  }

  Graph graph_;
};

// Makes the initial value of a variable a product of the batch.
void InitializeFromBatch(const std::string& variable, SmallTraining& training) {
  auto& nodes = *training.meta_graph().mutable_graph_def()->mutable_node();
  const auto find = [&nodes](const std::string& name) {
    return std::find_if(nodes.begin(), nodes.end(),
                        [&name](const proto::NodeDef& node) { return node.name() == name; });
  };
  const std::string initial = variable + "/Initializer/Const";
  proto::NodeDef product = *find("gradients/MatMul");
  product.set_name(initial);
  *find(initial) = product;
  training.Rewire(initial, {"IteratorGetNext", "IteratorGetNext"});
}

constexpr char kNoInitialValue[] =
    "cannot be imported ('w/Initializer/Const' (MatMul): not a value of the start)";

TEST_F(InitialValuesTest, OneFromTheBatchIsLeftToACheckpoint) {
  SmallTraining training = SmallTraining::Small();
  InitializeFromBatch("w", training);
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr(kNoInitialValue)));
}

class LackingOperandsTest : public InitialValuesTest,
                            public ::testing::WithParamInterface<std::string> {};

// Fixed bug: the importer read the first operand of a node that had none.
TEST_P(LackingOperandsTest, AnInitialValueIsLeftToACheckpoint) {
  SmallTraining training = SmallTraining::Small();
  for (proto::NodeDef& node : *training.meta_graph().mutable_graph_def()->mutable_node()) {
    if (node.name() != "w/Initializer/Const") continue;
    node.set_op(GetParam());
    node.clear_input();
    node.clear_attr();
  }
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(imported->warnings,
              ElementsAre(HasSubstr(absl::StrCat("(", GetParam(), "): takes "))));
}
INSTANTIATE_TEST_SUITE_P(Ops, LackingOperandsTest, ::testing::Values("Switch", "Unique", "Where"));

// Fixed bug: a line for each of 129 variables hid all other lines.
TEST_F(InitialValuesTest, OneLineNamesAllThatAreLeftToACheckpoint) {
  SmallTraining training = SmallTraining::Small();
  for (const char* const name : {"v", "u"}) training.Variable(name, {1, 1}, 2, true);
  for (const char* const name : {"w", "v", "u"}) InitializeFromBatch(name, training);
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(imported->warnings,
              ElementsAre(AllOf(HasSubstr(kNoInitialValue), HasSubstr("so it is with 2 others"))));
}

}  // namespace
}  // namespace estimator
