// The MetaGraphDef of a training graph, which stands beside a checkpoint as model.ckpt-N.meta:
// TensorFlow's
//   saver = tf.compat.v1.train.import_meta_graph("model.ckpt-100.meta")
//   saver.restore(session, "model.ckpt-100")
// gives graph and variables. It holds the graph as GraphToGraphDef writes it, the nodes by which
// TensorFlow saves and restores (`save/Const`, `save/restore_all`) with the SaverDef that names
// them, and the collections: variables, trainable_variables, local_variables, global_step, losses,
// regularization_losses, update_ops, train_op, savers. A training step runs the update_ops too, so
// where there are any, the train_op there is a `group_deps` of all of them with the model's own.
// TensorFlow sums over replicas on a TPU only, and refuses a whole graph for one op that its device
// lacks. So the graph of a run on replicas is written for one that stands for all: a sum over n
// replicas is n times its value, which with the mean of CrossShardOptimizer is a step of one shard.
#ifndef ESTIMATOR_TRAINING_LOOP_TRAIN_META_GRAPH_H_
#define ESTIMATOR_TRAINING_LOOP_TRAIN_META_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "estimator/checkpoint/saver.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/model/built_model.h"

namespace estimator {

// The serialized MetaGraphDef, the same bytes for the same graph. Reference variables, which
// optimizers' rules take.
std::string MakeTrainMetaGraph(const BuiltModel& model, const RunConfig& config);

// Graphs with more bytes of constants get no .meta: a checkpoint would carry them a second time,
// and from 2 GiB on protobuf cannot write them at all.
inline constexpr size_t kMaxMetaGraphConstantBytes = size_t{256} << 20;

// The meta graphs of one run after another. Not thread-safe.
class TrainMetaGraph {
 public:
  explicit TrainMetaGraph(size_t max_constant_bytes = kMaxMetaGraphConstantBytes)
      : max_constant_bytes_(max_constant_bytes) {}

  // Another model comes.
  void Reset() { num_nodes_ = 0; }
  // For the saver, while `model` and `config` live: a new version where the model is another, or
  // hooks have added to its graph. None, with one warning, where its constants are over the limit.
  MetaGraphSource Of(const BuiltModel& model, const RunConfig& config);

 private:
  const size_t max_constant_bytes_;
  size_t num_nodes_ = 0;  // of the version's graph; 0: not looked at yet
  int64_t version_ = 0;
  bool too_large_ = false;
  bool warned_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TRAIN_META_GRAPH_H_
