// GraphWriterHook: shows the graph: `graph.pbtxt` in the model directory, and a graph event for
// TensorBoard.
#ifndef ESTIMATOR_TRAINING_HOOKS_GRAPH_WRITER_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_GRAPH_WRITER_HOOK_H_

#include "estimator/training/hook.h"

namespace estimator {

// Writes once, when the session is there and hooks have added what they add. A graph.pbtxt that
// says the same already is left alone, so its time tells when the model last changed. Source: the
// graph part of TF 2.15 tf.estimator.CheckpointSaverHook.
class GraphWriterHook : public SessionRunHook {
 public:
  absl::Status AfterCreateSession(Session& session) override;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_GRAPH_WRITER_HOOK_H_
