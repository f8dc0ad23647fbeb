// The .meta files beside the checkpoints of a run. testdata/interop/check_meta_graph.py holds them
// against TensorFlow.
#include "estimator/training/loop/train_meta_graph.h"

#include <map>

#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/layers/normalization.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/cross_replica.h"
#include "estimator/proto/meta_graph.pb.h"
#include "estimator/proto/variable.pb.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::estimator::testing::CapturedLog;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

Dataset Endless(const TinyParams&) { return TinyDataset(4).Repeat(); }

class TrainMetaGraphTest : public ::testing::Test {
 protected:
  Estimator<TinyParams>::Options Options() {
    auto options = TinyOptions(dir_.path());
    options.config.checkpoint_save_graph_def = true;
    options.config.keep_checkpoint_max = 2;
    return options;
  }
  std::vector<std::string> MetaFiles() {
    std::vector<std::string> names;
    const std::vector<std::string> paths = Glob(dir_.File("*.meta")).value();
    for (const std::string& path : paths) names.emplace_back(Basename(path));
    return names;
  }
  proto::MetaGraphDef Read(const std::string& name) {
    proto::MetaGraphDef meta_graph;
    EXPECT_TRUE(meta_graph.ParseFromString(ReadFile(dir_.File(name)).value()));
    return meta_graph;
  }
  const TempDir dir_;
};

std::vector<std::string> Names(const proto::CollectionDef& collection) {
  std::vector<std::string> names(collection.node_list().value().begin(),
                                 collection.node_list().value().end());
  for (const std::string& bytes : collection.bytes_list().value()) {
    proto::VariableDef def;
    EXPECT_TRUE(def.ParseFromString(bytes));
    names.push_back(def.variable_name());
  }
  return names;
}

TEST_F(TrainMetaGraphTest, StandsBesideEachCheckpointAndGoesWithIt) {
  Estimator<TinyParams> estimator(Options());
  EST_ASSERT_OK(estimator.Train(Endless, Steps(10)));
  EXPECT_THAT(MetaFiles(), ElementsAre("model.ckpt-10.meta", "model.ckpt-5.meta"));
  EXPECT_EQ(*ReadFile(dir_.File("model.ckpt-5.meta")), *ReadFile(dir_.File("model.ckpt-10.meta")));
  EST_ASSERT_OK(estimator.Train(Endless, Steps(5)));
  EXPECT_THAT(MetaFiles(), ElementsAre("model.ckpt-10.meta", "model.ckpt-15.meta"));
}

TEST_F(TrainMetaGraphTest, KeepsALimitOfMoreThan32Bits) {
  auto options = Options();
  options.config.keep_checkpoint_max = (int64_t{1} << 32) + 1;
  EST_ASSERT_OK(Estimator<TinyParams>(options).Train(Endless, Steps(15)));
  EXPECT_THAT(MetaFiles(), SizeIs(4));  // also that of step 0
  // TensorFlow's field has 32 bits.
  EXPECT_EQ(Read("model.ckpt-15.meta").saver_def().max_to_keep(), 2147483647);
}

TEST_F(TrainMetaGraphTest, IsTheSameInAnotherRunAndNotWrittenWhereTheConfigSaysSo) {
  EST_ASSERT_OK(Estimator<TinyParams>(Options()).Train(Endless, Steps(5)));
  EST_ASSERT_OK(Estimator<TinyParams>(Options()).Train(Endless, Steps(5)));
  EXPECT_EQ(*ReadFile(dir_.File("model.ckpt-5.meta")), *ReadFile(dir_.File("model.ckpt-10.meta")));
  auto without = Options();
  without.config.checkpoint_save_graph_def = false;
  EST_ASSERT_OK(Estimator<TinyParams>(without).Train(Endless, Steps(10)));
  EXPECT_THAT(MetaFiles(), ElementsAre());
}

TEST_F(TrainMetaGraphTest, HasTheGraphTheSaverAndTheCollections) {
  EST_ASSERT_OK(Estimator<TinyParams>(Options()).Train(Endless, Steps(5)));
  const proto::MetaGraphDef meta_graph = Read("model.ckpt-5.meta");
  EXPECT_EQ(meta_graph.saver_def().filename_tensor_name(), "save/Const:0");
  EXPECT_EQ(meta_graph.saver_def().save_tensor_name(), "save/control_dependency:0");
  EXPECT_EQ(meta_graph.saver_def().restore_op_name(), "save/restore_all");
  EXPECT_EQ(meta_graph.saver_def().max_to_keep(), 2);
  std::vector<std::string> restored;
  for (const proto::NodeDef& node : meta_graph.graph_def().node()) {
    if (node.name() != "save/RestoreV2/tensor_names") continue;
    const auto& value = node.attr().at("value").tensor();
    restored.assign(value.string_val().begin(), value.string_val().end());
  }
  EXPECT_THAT(restored,
              UnorderedElementsAre("global_step", "dense/kernel", "dense/bias", "dense_1/kernel",
                                   "dense_1/bias", "dense/kernel/Momentum", "dense/bias/Momentum",
                                   "dense_1/kernel/Momentum", "dense_1/bias/Momentum"));
  const auto& collections = meta_graph.collection_def();
  EXPECT_THAT(Names(collections.at("global_step")), ElementsAre("global_step:0"));
  EXPECT_EQ(Names(collections.at("variables")).size(), 9u);
  EXPECT_THAT(
      Names(collections.at("trainable_variables")),
      UnorderedElementsAre("dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0"));
  EXPECT_EQ(collections.at("train_op").node_list().value_size(), 1);
  EXPECT_EQ(collections.at("savers").bytes_list().value(0),
            meta_graph.saver_def().SerializeAsString());
}

EstimatorSpec NormalizedModel(const Features& features, const Labels& labels, Mode mode,
                              const TinyParams& params) {
  const Tensor y = layers::Dense(
      layers::BatchNormalization(features["x"], {.training = mode == Mode::kTrain}), {.units = 1});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", y}});
  const Tensor loss = TinyLoss(labels, y);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, train::GradientDescent(params.learning_rate).Minimize(loss));
}

// Models need no dependency on UPDATE_OPS here, and whoever runs the collection's train_op in
// TensorFlow has to get the same step.
TEST_F(TrainMetaGraphTest, TheTrainOpMovesTheAveragesOfBatchNormalizationToo) {
  auto options = Options();
  options.model_fn = NormalizedModel;
  EST_ASSERT_OK(Estimator<TinyParams>(options).Train(Endless, Steps(5)));
  const proto::MetaGraphDef meta_graph = Read("model.ckpt-5.meta");
  const auto& collections = meta_graph.collection_def();
  std::map<std::string, proto::NodeDef> nodes;
  for (const proto::NodeDef& node : meta_graph.graph_def().node()) nodes[node.name()] = node;
  const std::vector<std::string> updates = Names(collections.at("update_ops"));
  ASSERT_THAT(updates, SizeIs(2));
  ASSERT_THAT(Names(collections.at("train_op")), ElementsAre("group_deps"));
  const proto::NodeDef& train_op = nodes.at("group_deps");
  EXPECT_EQ(train_op.op(), "NoOp");
  ASSERT_THAT(train_op.input(), ElementsAre(HasSubstr("^"), "^" + updates[0], "^" + updates[1]));
  EXPECT_EQ(nodes.count(train_op.input(0).substr(1)), 1u);  // the model's own
}

TEST(TrainMetaGraphTooLarge, IsLeftOutWithOneWarningThatNamesTheConstantAndTheCure) {
  BuiltModel model;
  model.graph = std::make_unique<Graph>();
  const GraphScope scope(*model.graph);
  Constant(Array(DType::kFloat32, {1024}), "table");
  const RunConfig config;
  TrainMetaGraph fits(4096), too_small(4095);
  const CapturedLog log;
  const MetaGraphSource source = fits.Of(model, config);
  ASSERT_TRUE(source.make);
  EXPECT_EQ(source.make(), MakeTrainMetaGraph(model, config));
  EXPECT_TRUE(log.warnings.empty());
  EXPECT_FALSE(too_small.Of(model, config).make);
  EXPECT_FALSE(too_small.Of(model, config).make);
  Constant(1.0f);  // as a hook may
  EXPECT_FALSE(too_small.Of(model, config).make);
  ASSERT_THAT(log.warnings, SizeIs(1));
  EXPECT_THAT(log.warnings[0],
              AllOf(HasSubstr("4.0 KiB"), HasSubstr("model.ckpt-N.meta"), HasSubstr("'table'"),
                    HasSubstr("init_fn"), HasSubstr("checkpoint_save_graph_def = false")));
}

TEST(TrainMetaGraphVersion, ChangesWithTheModelAndWithWhatHooksAdd) {
  BuiltModel model;
  model.graph = std::make_unique<Graph>();
  const GraphScope scope(*model.graph);
  Constant(1.0f);
  const RunConfig config;
  TrainMetaGraph meta_graph;
  const int64_t first = meta_graph.Of(model, config).version;
  EXPECT_EQ(meta_graph.Of(model, config).version, first);
  meta_graph.Reset();
  const int64_t second = meta_graph.Of(model, config).version;
  EXPECT_NE(second, first);
  Constant(2.0f);
  EXPECT_NE(meta_graph.Of(model, config).version, second);
}

// TensorFlow has no kernel for the sum on a CPU, and does not run a graph of which it lacks one.
TEST(TrainMetaGraphOfReplicas, OneReplicaStandsForAll) {
  BuiltModel model;
  model.graph = std::make_unique<Graph>();
  model.num_replicas = 8;
  {
    const GraphScope scope(*model.graph);
    CrossReplicaSum(Constant(1.0f), {}, "all");
    CrossReplicaSum(Constant(int32_t{1}), {{0, 1, 2, 3}, {4, 5, 6, 7}}, "halves");
    ReplicaId("id");
  }
  proto::MetaGraphDef meta_graph;
  ASSERT_TRUE(meta_graph.ParseFromString(MakeTrainMetaGraph(model, RunConfig())));
  std::map<std::string, proto::NodeDef> nodes;
  for (const proto::NodeDef& node : meta_graph.graph_def().node()) nodes[node.name()] = node;
  EXPECT_EQ(nodes["all"].op(), "Mul");
  EXPECT_THAT(nodes["all"].input(), ElementsAre("Const", "all/replicas"));
  EXPECT_EQ(nodes["all/replicas"].attr().at("dtype").type(), proto::DT_FLOAT);
  EXPECT_EQ(nodes["halves"].op(), "Mul");
  EXPECT_EQ(nodes["halves/replicas"].attr().at("dtype").type(), proto::DT_INT32);
  EXPECT_NE(nodes["halves/replicas"].attr().at("value").SerializeAsString(),
            nodes["all/replicas"].attr().at("value").SerializeAsString());
  EXPECT_EQ(nodes["id"].op(), "Const");
}

}  // namespace
}  // namespace estimator
