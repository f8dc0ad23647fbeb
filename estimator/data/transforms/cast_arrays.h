// CastArrays: casts the arrays of one dtype on the host.
#ifndef ESTIMATOR_DATA_TRANSFORMS_CAST_ARRAYS_H_
#define ESTIMATOR_DATA_TRANSFORMS_CAST_ARRAYS_H_

#include "estimator/array/dtype.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {

// The data set with all features and labels of dtype `from` as `to`, as Array::Cast converts them.
// The others are not touched. A data set may keep float16, which needs half of the memory, while
// the model gets float32, as Keras' models cast their inputs:
//   return CastArrays(dataset.Batch(params.batch_size), DType::kFloat16, DType::kFloat32);
// Errors (of the iterator): INVALID_ARGUMENT if a dtype is not numeric.
Dataset CastArrays(const Dataset& dataset, DType from, DType to);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_TRANSFORMS_CAST_ARRAYS_H_
