// Variables that belong to another one: an optimizer's state, a moving average.
#ifndef ESTIMATOR_NN_TRAIN_SLOT_CREATOR_H_
#define ESTIMATOR_NN_TRAIN_SLOT_CREATOR_H_

#include "absl/strings/string_view.h"
#include "estimator/array/shape.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/graph/variable.h"

namespace estimator::train {

// `<name>`, or `<name>_1`, `<name>_2`, ... if the graph has a variable of that name.
std::string UniqueVariableName(absl::string_view name);

// A variable that is not trained, called `<primary>/<name>` (on disk: do not
// change), made unique with _1, _2, ...; inside a variable scope its prefix stands before that.
// Source: TF 2.15 slot_creator.create_slot_with_initializer.
Variable CreateSlot(const Variable& primary, absl::string_view name, const Initializer& initializer,
                    const TensorSpec& spec);

// A variable that is not trained, under exactly this name, whatever scope the caller stands in.
Variable CreateAbsoluteVariable(absl::string_view name, const Shape& shape, DType dtype,
                                const Initializer& initializer);

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_SLOT_CREATOR_H_
