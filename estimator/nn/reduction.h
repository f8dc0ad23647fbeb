// Reduction: how the elements of a loss, or the gradients of the replicas, become one value.
#ifndef ESTIMATOR_NN_REDUCTION_H_
#define ESTIMATOR_NN_REDUCTION_H_

namespace estimator {

// The formulas are those of a loss with elements l[i] and weights w[i]. CrossShardOptimizer accepts
// kSum and kMean only.
// Source: TF 2.15 tf.compat.v1.losses.Reduction.
enum class Reduction {
  kNone,                   // l * w, not reduced
  kSum,                    // sum(l * w)
  kSumOverBatchSize,       // sum(l * w) / number of elements
  kSumOverNonzeroWeights,  // sum(l * w) / number of nonzero weights
  kSumByNonzeroWeights,    // the same as kSumOverNonzeroWeights: TensorFlow has both names
  kMean,                   // sum(l * w) / sum(w)
};

}  // namespace estimator

#endif  // ESTIMATOR_NN_REDUCTION_H_
