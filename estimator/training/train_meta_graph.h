// The MetaGraphDef of a training graph, which stands beside a checkpoint as model.ckpt-N.meta:
// TensorFlow's
//   saver = tf.compat.v1.train.import_meta_graph("model.ckpt-100.meta")
//   saver.restore(session, "model.ckpt-100")
// gives graph and variables. It holds the graph as GraphToGraphDef writes it, the nodes by which
// TensorFlow saves and restores (`save/Const`, `save/restore_all`) with the SaverDef that names
// them, and the collections: variables, trainable_variables, local_variables, global_step, losses,
// regularization_losses, update_ops, train_op, savers.
// TensorFlow sums over replicas on a TPU only, and refuses a whole graph for one op that its device
// lacks. So the graph of a run on replicas is written for one that stands for all: a sum over n
// replicas is n times its value, which with the mean of CrossShardOptimizer is a step of one shard.
#ifndef ESTIMATOR_TRAINING_TRAIN_META_GRAPH_H_
#define ESTIMATOR_TRAINING_TRAIN_META_GRAPH_H_

#include <cstddef>
#include <memory>
#include <string>

#include "estimator/training/built_model.h"
#include "estimator/training/run_config.h"

namespace estimator {

// The serialized MetaGraphDef, the same bytes for the same graph. Reference variables, which
// optimizers' rules take.
std::string MakeTrainMetaGraph(const BuiltModel& model, const RunConfig& config);

// That of one model, made when it is first asked for, and again where hooks have added to the
// graph: the same pointer means the same bytes. Not thread-safe.
class TrainMetaGraph {
 public:
  const std::shared_ptr<const std::string>& Of(const BuiltModel& model, const RunConfig& config);

 private:
  std::shared_ptr<const std::string> bytes_;
  size_t num_nodes_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_TRAIN_META_GRAPH_H_
