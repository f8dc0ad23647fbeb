#include "estimator/training/loop/train_meta_graph.h"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/array.h"
#include "estimator/export/saved_model/variable_nodes.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/graph_def.h"
#include "estimator/graphdef/graph_def_builder.h"
#include "estimator/graphdef/graph_size.h"
#include "estimator/proto/meta_graph.pb.h"
#include "estimator/proto/serialize.h"
#include "estimator/proto/variable.pb.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// Rewrites the graph of a run on replicas for one replica; the header says how.
void ReplaceCollectives(const BuiltModel& model, proto::GraphDef* def) {
  GraphDefBuilder builder(def);
  for (int i = 0, count = def->node_size(); i < count; ++i) {
    proto::NodeDef* const node = def->mutable_node(i);
    if (node->op() == "XlaReplicaId") ReplaceByConst(node, Array::Scalar<int32_t>(0));
    if (node->op() != "CrossReplicaSum") continue;
    const Node& sum = *model.graph->FindNode(node->name());
    const DType dtype = sum.outputs()[0].dtype;
    const int64_t in_group = sum.input(1).shape().dim(1);  // 0: one group of all
    const int64_t size = in_group > 0 ? in_group : model.num_replicas;
    std::vector<std::string> inputs(node->input().begin(), node->input().end());
    inputs[1] = builder.AddConst(absl::StrCat(node->name(), "/replicas"),
                                 Array::Scalar(static_cast<double>(size)).Cast(dtype));
    ReplaceNode(node, "Mul", inputs).Type("T", dtype);
  }
}

// The name of the node that runs a whole training step: the train_op and the update_ops.
std::string AddTrainOp(const BuiltModel& model, proto::GraphDef* def) {
  const std::string& train_op = model.spec.train_op.name();
  // The training loop runs the update_ops itself. A program that runs train_op alone must not miss
  // them.
  std::vector<std::string> inputs = {absl::StrCat("^", train_op)};
  std::set<std::string> seen = {train_op};
  for (const Operation& update : model.graph->update_ops()) {
    if (seen.insert(update.name()).second) inputs.push_back(absl::StrCat("^", update.name()));
  }
  if (inputs.size() == 1) return train_op;
  GraphDefBuilder builder(def);
  return builder.Add(builder.UniqueScope("group_deps"), "NoOp", inputs).name();
}

}  // namespace

std::string MakeTrainMetaGraph(const BuiltModel& model, const RunConfig& config) {
  Graph& graph = *model.graph;
  proto::MetaGraphDef meta_graph;
  WriteGraphDef(graph, meta_graph.mutable_graph_def());
  ReplaceCollectives(model, meta_graph.mutable_graph_def());
  AddVariableCollections(graph, /*is_resource=*/false, &meta_graph);
  std::vector<Variable> saved;
  for (const Variable& variable : graph.variables()) {
    if (!variable.local()) saved.push_back(variable);
  }
  AddSaverNodes(saved, /*is_resource=*/false, &meta_graph);
  proto::SaverDef& saver = *meta_graph.mutable_saver_def();
  // TensorFlow's field has 32 bits.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  saver.set_max_to_keep(
      static_cast<int32_t>(std::min(config.keep_checkpoint_max.value_or(0), kMost)));
  saver.set_keep_checkpoint_every_n_hours(static_cast<float>(config.keep_checkpoint_every_n_hours));

  auto& collections = *meta_graph.mutable_collection_def();
  const auto add_node = [&collections](const char* collection, const std::string& name) {
    collections[collection].mutable_node_list()->add_value(name);
  };
  collections["savers"].mutable_bytes_list()->add_value(saver.SerializeAsString());
  // global_step is in `variables` too; its entry is copied from there.
  for (const std::string& variable : collections["variables"].bytes_list().value()) {
    proto::VariableDef def;
    if (def.ParseFromString(variable) && def.variable_name() == "global_step:0") {
      collections["global_step"].mutable_bytes_list()->add_value(variable);
      break;
    }
  }
  for (const Tensor& loss : graph.losses()) add_node("losses", loss.name());
  for (const Tensor& loss : graph.regularization_losses()) {
    add_node("regularization_losses", loss.name());
  }
  for (const Operation& update : graph.update_ops()) add_node("update_ops", update.name());
  if (model.spec.train_op.valid()) {
    add_node("train_op", AddTrainOp(model, meta_graph.mutable_graph_def()));
  }
  absl::StatusOr<std::string> bytes = SerializeWithinLimit(meta_graph, "the .meta file", "");
  CHECK(bytes.ok()) << bytes.status();  // TrainMetaGraph limits the constants
  return *std::move(bytes);
}

MetaGraphSource TrainMetaGraph::Of(const BuiltModel& model, const RunConfig& config) {
  const size_t num_nodes = model.graph->nodes().size();
  if (num_nodes_ == 0 || num_nodes != num_nodes_) {
    num_nodes_ = num_nodes;
    ++version_;
    const absl::Status fits =
        CheckConstantBytes(*model.graph, max_constant_bytes_, "model.ckpt-N.meta");
    too_large_ = !fits.ok();
    LOG_IF(WARNING, too_large_ && !warned_)
        << "Checkpoints are saved without their graph: " << fits.message();
    warned_ |= too_large_;
  }
  if (too_large_) return {};
  return {.make = [&model, &config] { return MakeTrainMetaGraph(model, config); },
          .version = version_};
}

}  // namespace estimator
