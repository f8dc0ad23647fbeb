// Beams of examples, gathered by number. For the beam searches of this folder.
#ifndef ESTIMATOR_NN_SEQ2SEQ_BEAMS_H_
#define ESTIMATOR_NN_SEQ2SEQ_BEAMS_H_

#include <cstdint>

#include "estimator/graph/tensor.h"

namespace estimator::seq2seq {

//   x: [N, B, ...].  beams: i32 [N, K], in [0, B).  Returns [N, K, ...].
Tensor GatherBeams(const Tensor& x, const Tensor& beams);
//   x: [N * B, ...].  Returns [N * K, ...].
Tensor GatherFlatBeams(const Tensor& x, const Tensor& beams, int64_t beam_width);

}  // namespace estimator::seq2seq

#endif  // ESTIMATOR_NN_SEQ2SEQ_BEAMS_H_
