// The sizes of the ops of a whole sequence (ops/recurrent.h), for the kernels of both tiers.
#ifndef ESTIMATOR_KERNELS_RECURRENT_SIZES_H_
#define ESTIMATOR_KERNELS_RECURRENT_SIZES_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"

namespace estimator::recurrent {

struct Sizes {
  int64_t steps = 0, batch = 0, inputs = 0, units = 0;
  int64_t rows() const { return steps * batch; }
};

//   x: the index of the input x [steps, batch, inputs]. A state [batch, units] follows it.
inline Sizes SizesOf(const KernelSpec& spec, size_t x) {
  const Shape& shape = spec.inputs[x].shape;
  return {shape[0], shape[1], shape[2], spec.inputs[x + 1].shape[1]};
}

// Errors: INVALID_ARGUMENT if seq_len_max is not in [0, steps].
inline absl::StatusOr<int64_t> CheckedLength(int64_t seq_len_max, int64_t steps) {
  if (seq_len_max >= 0 && seq_len_max <= steps) return seq_len_max;
  return InvalidArgument("seq_len_max is ", seq_len_max, ", but x has ", steps, " time steps");
}

}  // namespace estimator::recurrent

#endif  // ESTIMATOR_KERNELS_RECURRENT_SIZES_H_
