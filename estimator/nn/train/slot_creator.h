// Creates variables that belong to another variable, such as an optimizer's state or a moving
// average.
#ifndef ESTIMATOR_NN_TRAIN_SLOT_CREATOR_H_
#define ESTIMATOR_NN_TRAIN_SLOT_CREATOR_H_

#include "absl/strings/string_view.h"
#include "estimator/array/shape.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/graph/variable.h"

namespace estimator::train {

// Returns `name`. If the graph has a variable of that name, returns the first of `<name>_1`,
// `<name>_2`, ... that is free.
std::string UniqueVariableName(absl::string_view name);

// Creates a variable that is not trainable, named `<primary>/<name>` (on disk: do not change). The
// name starts with the prefix of the current variable scope, and is made unique with _1, _2, ...
// Source: TF 2.15 slot_creator.create_slot_with_initializer.
Variable CreateSlot(const Variable& primary, absl::string_view name, const Initializer& initializer,
                    const TensorSpec& spec);

// Creates a variable that is not trainable and has exactly this name, without the prefix of the
// caller's variable scope. It is one of Graph::training_variables.
Variable CreateAbsoluteVariable(absl::string_view name, const Shape& shape, DType dtype,
                                const Initializer& initializer);

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_SLOT_CREATOR_H_
