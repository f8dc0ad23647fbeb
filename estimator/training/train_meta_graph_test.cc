// The .meta files beside the checkpoints of a run. testdata/interop/check_meta_graph.py holds them
// against TensorFlow.
#include "estimator/training/train_meta_graph.h"

#include <map>

#include "estimator/base/file.h"
#include "estimator/base/temp_dir.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/cross_replica.h"
#include "estimator/proto/meta_graph.pb.h"
#include "estimator/proto/variable.pb.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
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
  ASSERT_TRUE(estimator.Train(Endless, Steps(10)).ok());
  EXPECT_THAT(MetaFiles(), ElementsAre("model.ckpt-10.meta", "model.ckpt-5.meta"));
  EXPECT_EQ(*ReadFile(dir_.File("model.ckpt-5.meta")), *ReadFile(dir_.File("model.ckpt-10.meta")));
  ASSERT_TRUE(estimator.Train(Endless, Steps(5)).ok());
  EXPECT_THAT(MetaFiles(), ElementsAre("model.ckpt-10.meta", "model.ckpt-15.meta"));
}

TEST_F(TrainMetaGraphTest, IsTheSameInAnotherRunAndNotWrittenWhereTheConfigSaysSo) {
  ASSERT_TRUE(Estimator<TinyParams>(Options()).Train(Endless, Steps(5)).ok());
  ASSERT_TRUE(Estimator<TinyParams>(Options()).Train(Endless, Steps(5)).ok());
  EXPECT_EQ(*ReadFile(dir_.File("model.ckpt-5.meta")), *ReadFile(dir_.File("model.ckpt-10.meta")));
  auto without = Options();
  without.config.checkpoint_save_graph_def = false;
  ASSERT_TRUE(Estimator<TinyParams>(without).Train(Endless, Steps(10)).ok());
  EXPECT_THAT(MetaFiles(), ElementsAre());
}

TEST_F(TrainMetaGraphTest, HasTheGraphTheSaverAndTheCollections) {
  ASSERT_TRUE(Estimator<TinyParams>(Options()).Train(Endless, Steps(5)).ok());
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

// TensorFlow has no kernel for the sum on a CPU, and does not run a graph of which it lacks one.
TEST(TrainMetaGraphOfReplicas, OneReplicaStandsForAll) {
  BuiltModel model;
  model.graph = std::make_unique<Graph>();
  model.graph->sharding().num_shards = 8;
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
