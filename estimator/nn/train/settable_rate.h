// The learning rate of a training graph, as Session::SetLearningRate changes it.
//
// The optimizers' rates r_i are constants or schedules in the graph. MakeLearningRateSettable adds
// a variable s, which is -1 until a rate is set, and makes the optimizers read
//   s * r_i / max_j(r_j)  if s >= 0,  else r_i
// So the largest rate is s, and the others keep their ratio to it. With one rate, it is s.
#ifndef ESTIMATOR_NN_TRAIN_SETTABLE_RATE_H_
#define ESTIMATOR_NN_TRAIN_SETTABLE_RATE_H_

#include <vector>

#include "absl/status/status.h"
#include "estimator/graph/graph.h"

namespace estimator::train {

// The variable s, f32 []. On disk: do not change.
inline constexpr char kSetLearningRate[] = "set_learning_rate";
inline constexpr float kNoLearningRateSet = -1;

// The rates r_i, f32 [], that some node reads. For an imported graph, which does not know them,
// the operands of TensorFlow's update ops.
std::vector<Tensor> LearningRates(Graph& graph);

// Makes the rate of `graph` settable. Does nothing if it is already. The results of steps do not
// change until a rate is set. A hook whose Begin calls it saves the second compilation of the step
// that the first SetLearningRate causes otherwise.
// Errors: FAILED_PRECONDITION if no optimizer of the graph has a rate; the graph's.
absl::Status MakeLearningRateSettable(Graph& graph);

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_SETTABLE_RATE_H_
