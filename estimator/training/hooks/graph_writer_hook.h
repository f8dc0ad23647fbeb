// GraphWriterHook: shows the graph: `graph.pbtxt` in the model directory, and a graph event for
// TensorBoard.
#ifndef ESTIMATOR_TRAINING_HOOKS_GRAPH_WRITER_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_GRAPH_WRITER_HOOK_H_

#include <cstddef>

#include "estimator/training/hooks/hook.h"

namespace estimator {

// Writes once, when the session is there and hooks have added what they add. A graph.pbtxt that
// says the same already is left alone, so its time tells when the model last changed. Source: the
// graph part of TF 2.15 tf.estimator.CheckpointSaverHook.
class GraphWriterHook : public SessionRunHook {
 public:
  // With more bytes of constants the graph is no event, and a warning says so: protobuf's 2 GiB,
  // less what the nodes take. In graph.pbtxt large constants have no values.
  static constexpr size_t kMaxConstantBytes = (size_t{2} << 30) - (size_t{256} << 20);

  explicit GraphWriterHook(size_t max_constant_bytes = kMaxConstantBytes)
      : max_constant_bytes_(max_constant_bytes) {}
  absl::Status AfterCreateSession(Session& session) override;

 private:
  const size_t max_constant_bytes_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_GRAPH_WRITER_HOOK_H_
