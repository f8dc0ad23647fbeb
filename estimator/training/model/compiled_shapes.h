// CompiledShapes: the models and compiled steps of one mode, one for each shape of batch. Shapes in
// a graph are static, so model_fn is called again for batches of another shape.
#ifndef ESTIMATOR_TRAINING_MODEL_COMPILED_SHAPES_H_
#define ESTIMATOR_TRAINING_MODEL_COMPILED_SHAPES_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/runtime/backend.h"
#include "estimator/training/input/feeder.h"
#include "estimator/training/input/input_slots.h"
#include "estimator/training/model/built_model.h"
#include "estimator/training/model/compiled_step.h"

namespace estimator {

// The model for batches of one shape. The step is compiled with its first run, when the tensors of
// all hooks are known.
struct CompiledShape {
  std::unique_ptr<BuiltModel> model;
  std::unique_ptr<CompiledStep> step;
  Backend* backend = nullptr;
  // Of the model as it was built: hooks may add others.
  std::vector<std::pair<std::string, TensorSpec>> variables = {};
};
using CompiledShapePtr = std::shared_ptr<CompiledShape>;

// Not thread-safe.
class CompiledShapes {
 public:
  //   max_shapes: the number to keep. Beyond it, the least recently used one that nobody holds is
  //     dropped, and a warning is logged once. 0: all are kept, and nothing is logged.
  CompiledShapes(Mode mode, int64_t max_shapes) : mode_(mode), max_shapes_(max_shapes) {}

  using Build = std::function<absl::StatusOr<CompiledShapePtr>()>;
  // The model for batches as `input` on `backend`. If there is none, calls `build`. If there is one
  // for other shapes of the same arrays, logs the new shapes, unless it is a smaller last batch.
  // Errors: those of `build`; INVALID_ARGUMENT if the variables are not those of the other shapes,
  // with the name and both shapes.
  absl::StatusOr<CompiledShapePtr> For(const StepInput& input, Backend& backend,
                                       const Build& build);
  // Checks that batches as `input` have the arrays and dtypes of `shape`.
  // Errors: INVALID_ARGUMENT with the names and types of both.
  absl::Status CheckArrays(const StepInput& input, const CompiledShape& shape) const;
  void Clear() { all_.clear(); }
  bool empty() const { return all_.empty(); }

 private:
  absl::StatusOr<CompiledShapePtr> Add(const StepInput& input, const Build& build);
  void DropOldest();

  const Mode mode_;
  const int64_t max_shapes_;
  std::list<CompiledShapePtr> all_;  // the most recently used one is the first
  bool warned_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_COMPILED_SHAPES_H_
