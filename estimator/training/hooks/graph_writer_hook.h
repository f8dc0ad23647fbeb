// GraphWriterHook: writes the graph to `graph.pbtxt` in the model directory, and as an event for
// TensorBoard.
#ifndef ESTIMATOR_TRAINING_HOOKS_GRAPH_WRITER_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_GRAPH_WRITER_HOOK_H_

#include <cstddef>

#include "estimator/training/hooks/hook.h"

namespace estimator {

// Writes once, after the session was created and hooks have added their ops. Does not rewrite a
// graph.pbtxt with the same contents, so its time is the time of the model's last change.
// Source: the graph part of TF 2.15 tf.estimator.CheckpointSaverHook.
class GraphWriterHook : public SessionRunHook {
 public:
  // A graph with more bytes of constants is not written as an event, and a warning says so. The
  // limit is protobuf's 2 GiB, less an allowance for the nodes. graph.pbtxt is not affected,
  // because it omits the values of large constants.
  static constexpr size_t kMaxConstantBytes = (size_t{2} << 30) - (size_t{256} << 20);

  explicit GraphWriterHook(size_t max_constant_bytes = kMaxConstantBytes)
      : max_constant_bytes_(max_constant_bytes) {}
  bool IsForChief() const override { return true; }
  absl::Status AfterCreateSession(Session& session) override;

 private:
  const size_t max_constant_bytes_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_GRAPH_WRITER_HOOK_H_
