// A small network that says on which side of the diagonal a point of the unit square is, and its
// input. Put your own model here.
#ifndef MODEL_H_
#define MODEL_H_

#include "tpu/tpu_estimator.h"

namespace model {

struct Params : estimator::tpu::Params {
  double learning_rate = 0.1;
};

//   features: {"x": f32 [N, 2]}.  labels: i32 [N], 1 where x0 > x1.
// Predicts "class", i64 [N], and "probabilities", f32 [N, 2].
estimator::tpu::TPUEstimatorSpec ModelFn(const estimator::Features& features,
                                         const estimator::Tensor& labels, estimator::Mode mode,
                                         const Params& params);

estimator::Dataset TrainInput(const Params& params);
estimator::Dataset EvalInput(const Params& params);

}  // namespace model

#endif  // MODEL_H_
