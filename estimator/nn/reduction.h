// Reduction: how the parts of a loss, or the shards' gradients, become one.
#ifndef ESTIMATOR_NN_REDUCTION_H_
#define ESTIMATOR_NN_REDUCTION_H_

namespace estimator {

// For losses, of elements l[i] with weights w[i]. CrossShardOptimizer takes kSum and kMean.
// Source: TF 2.15 tf.compat.v1.losses.Reduction.
enum class Reduction {
  kNone,                   // the weighted losses themselves
  kSum,                    // sum(l * w)
  kSumOverBatchSize,       // sum(l * w) / number of elements
  kSumOverNonzeroWeights,  // sum(l * w) / number of nonzero weights
  kSumByNonzeroWeights,    // the same, under its other name
  kMean,                   // sum(l * w) / sum(w)
};

}  // namespace estimator

#endif  // ESTIMATOR_NN_REDUCTION_H_
