// Maps the elements of a slice of a partitioned tensor to those of the whole; both are row-major.
#ifndef ESTIMATOR_CHECKPOINT_BUNDLE_PART_ROWS_H_
#define ESTIMATOR_CHECKPOINT_BUNDLE_PART_ROWS_H_

#include <cstdint>
#include <vector>

#include "estimator/array/shape.h"
#include "estimator/checkpoint/bundle/bundle_format.h"

namespace estimator {

// A slice is a sequence of runs: elements that are contiguous in the slice and in the whole. Run i
// is elements [i * run, (i + 1) * run) of the slice. In the whole it begins at Begin(i), which
// increases with i.
class PartRows {
 public:
  // REQUIRES: the part lies inside of the whole, and there is one extent for each axis.
  PartRows(const Shape& whole, const std::vector<SliceExtent>& extents, const Shape& part);

  int64_t run() const { return run_; }  // elements
  int64_t num_runs() const { return num_runs_; }
  int64_t Begin(int64_t i) const;  // index of an element of the whole

  // The first run that ends after `element` of the whole; num_runs() if none does.
  int64_t FirstRunAfter(int64_t element) const;

 private:
  int64_t run_ = 1;
  int64_t num_runs_ = 1;
  int64_t offset_ = 0;            // of the first run, in the whole
  std::vector<int64_t> counts_;   // number of runs along each axis that is not part of a run
  std::vector<int64_t> strides_;  // strides of the whole in elements, for these axes
};

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_BUNDLE_PART_ROWS_H_
