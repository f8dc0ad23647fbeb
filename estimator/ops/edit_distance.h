// The Levenshtein distance of sequences.
#ifndef ESTIMATOR_OPS_EDIT_DISTANCE_H_
#define ESTIMATOR_OPS_EDIT_DISTANCE_H_

#include <string>

#include "estimator/graph/tensor.h"

namespace estimator {

struct EditDistanceOptions {
  bool normalize = true;  // divides by the length of the truth
  std::string name = "edit_distance";
};

// The number of insertions, deletions and replacements that make the hypothesis the truth. No
// gradient flows through it. TensorFlow's function takes SparseTensors; here sequences are padded.
//   hypothesis: integers [B,M].  truth: the same dtype, [B,N].  The values after a length are not
//   read.
//   hypothesis_length, truth_length: i32 or i64 [B], at most M and N.
//   Returns f32 [B]. With `normalize`, an empty truth is at the distance infinity, or 0 if the
//   hypothesis is empty too.
// It consists of about 10 * (M + N) ops. Errors: INVALID_ARGUMENT for other types; in a step, if a
// length is out of range.
// Source: TF 2.15 tf.edit_distance.
Tensor EditDistance(const Tensor& hypothesis, const Tensor& hypothesis_length, const Tensor& truth,
                    const Tensor& truth_length, const EditDistanceOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_OPS_EDIT_DISTANCE_H_
