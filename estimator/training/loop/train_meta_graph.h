// The MetaGraphDef of a training graph, which is written with a checkpoint as model.ckpt-N.meta.
// TensorFlow gets graph and variables from it:
//   saver = tf.compat.v1.train.import_meta_graph("model.ckpt-100.meta")
//   saver.restore(session, "model.ckpt-100")
// Contents:
//   graph_def     the graph as GraphToGraphDef writes it, and the nodes by which TensorFlow saves
//                 and restores (`save/Const`, `save/restore_all`)
//   saver_def     the names of these nodes
//   collections   variables, trainable_variables, local_variables, global_step, losses,
//                 regularization_losses, update_ops, train_op, savers
// A training step also runs the update_ops. If there are any, `train_op` is a `group_deps` of them
// and of the model's train_op.
// TensorFlow sums over replicas on a TPU only, and refuses a whole graph if its device lacks one
// op. The graph of a run on replicas is therefore written for one replica: a sum over n replicas
// becomes n times the value. With the mean of CrossShardOptimizer this is a step of one replica.
#ifndef ESTIMATOR_TRAINING_LOOP_TRAIN_META_GRAPH_H_
#define ESTIMATOR_TRAINING_LOOP_TRAIN_META_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "estimator/checkpoint/saver.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/model/built_model.h"

namespace estimator {

// The serialized MetaGraphDef. The same graph gives the same bytes. Its variables are reference
// variables, which the optimizers' update ops need.
std::string MakeTrainMetaGraph(const BuiltModel& model, const RunConfig& config);

// A graph with more bytes of constants has no .meta. They would be in each checkpoint a second
// time, and protobuf cannot write 2 GiB or more.
inline constexpr size_t kMaxMetaGraphConstantBytes = size_t{256} << 20;

// The meta graphs of a trainer's runs. Not thread-safe.
class TrainMetaGraph {
 public:
  explicit TrainMetaGraph(size_t max_constant_bytes = kMaxMetaGraphConstantBytes)
      : max_constant_bytes_(max_constant_bytes) {}

  // Tells that the model was built again.
  void Reset() { num_nodes_ = 0; }
  // The source for the saver; valid while `model` and `config` live. It has a new version if the
  // model was built again, or if hooks have added nodes to its graph. If the graph's constants are
  // over the limit, it is empty, and a warning is logged once.
  MetaGraphSource Of(const BuiltModel& model, const RunConfig& config);

 private:
  const size_t max_constant_bytes_;
  size_t num_nodes_ = 0;  // of the graph of `version_`; 0: there is none yet
  int64_t version_ = 0;
  bool too_large_ = false;
  bool warned_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TRAIN_META_GRAPH_H_
