// Graphs that a SavedModel describes by a signature, not by collections.
#include "estimator/graphdef/import/meta_graph_signature.h"

#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graphdef/import_train_graph.h"
#include "estimator/graphdef/testing/small_training.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::estimator::testing::SmallTraining;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kT = SmallTraining::TypeAttr("T");  // NOLINT: a string of a test

// SmallTraining as the graph `eval`: a metric adds the loss to a local variable.
SmallTraining WithMetric() {
  SmallTraining training = SmallTraining::Small();
  training.Variable("total", {}, 0, false);
  auto& collections = *training.meta_graph().mutable_collection_def();
  auto& variables = *collections["variables"].mutable_bytes_list();
  collections["local_variables"].mutable_bytes_list()->add_value(
      variables.value(variables.value_size() - 1));
  variables.mutable_value()->RemoveLast();
  training.Node("add", "AssignAdd", {"total", "loss"}, kT);
  training.Node("value", "Identity", {"total/read"}, kT);
  proto::SignatureDef& signature = (*training.meta_graph().mutable_signature_def())["eval"];
  (*signature.mutable_inputs())["label"].set_name("IteratorGetNext:1");
  (*signature.mutable_inputs())["x"].set_name("IteratorGetNext:0");
  (*signature.mutable_outputs())["loss"].set_name("loss:0");
  (*signature.mutable_outputs())["metrics/sum/value"].set_name("value:0");
  (*signature.mutable_outputs())["metrics/sum/update_op"].set_name("add:0");
  return training;
}

TEST(MetaGraphSignatureTest, ImportsItsMetrics) {
  const absl::StatusOr<TrainGraph> source =
      TrainGraph::Parse(WithMetric().Bytes(), "test", {.role = TrainGraphRole::kEval});
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_THAT(source->info().metrics, ElementsAre("sum"));
  EXPECT_THAT(source->info().obstacles, IsEmpty());
  ASSERT_THAT(source->info().inputs, SizeIs(2));
  EXPECT_EQ(source->info().inputs[0].key, "x");
  EXPECT_EQ(source->info().inputs[1].ToString(), "label (IteratorGetNext:1): float32 [?,1]");
  Graph graph;
  const GraphScope scope(graph);
  const std::vector<Tensor> inputs(
      2, graph.AddOp("Placeholder", {}, {{"dtype", DType::kFloat32}, {"shape", Shape{4, 1}}}));
  const absl::StatusOr<ImportedTrainGraph> imported = source->Import(
      {.inputs = inputs, .training = false, .with_metrics = true, .fetches = {}}, graph);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const ImportedMetric& sum = imported->metrics.at("sum");
  EXPECT_EQ(sum.value.shape(), Shape{});
  const std::vector<Node*> assigns = CollectAssigns({sum.update});
  ASSERT_THAT(assigns, SizeIs(1));
  EXPECT_EQ(assigns[0]->input(0).node()->name(), "total");
  EXPECT_TRUE(graph.FindVariable("total")->local());
}

TEST(MetaGraphSignatureTest, SaysWhatItLacks) {
  const auto error = [](const SmallTraining& training, TrainGraphRole role) {
    const absl::StatusOr<TrainGraph> source =
        TrainGraph::Parse(training.Bytes(), "test", {.role = role});
    return std::string(source.status().message());
  };
  EXPECT_THAT(error(SmallTraining::Small(), TrainGraphRole::kEval),
              HasSubstr("no signature 'eval'; it has none"));
  SmallTraining half = WithMetric();
  auto& outputs = *(*half.meta_graph().mutable_signature_def())["eval"].mutable_outputs();
  outputs.erase("metrics/sum/update_op");
  EXPECT_THAT(error(half, TrainGraphRole::kEval), HasSubstr("a value but no update_op"));
  outputs["metrics/sum/update_op"].set_name("gone:0");
  EXPECT_THAT(error(half, TrainGraphRole::kEval), HasSubstr("'metrics/sum/update_op'"));
}

}  // namespace
}  // namespace estimator
