// The gradient of a table of which a step looked up some rows: TensorFlow's IndexedSlices, as an
// optimizer sees it. Update rules for such a gradient work on those rows, and write them back:
//
//   const Tensor m = gradient.Of(accum) * 0.9 + gradient.rows();
//   return {gradient.Assign(variable, gradient.Of(variable) - rate * m), gradient.Assign(accum,
//   m)};
#ifndef ESTIMATOR_NN_TRAIN_ROW_GRADIENT_H_
#define ESTIMATOR_NN_TRAIN_ROW_GRADIENT_H_

#include "estimator/graph/indexed_slices.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator::train {

class RowGradient {
 public:
  // dense: the table's gradient.  slices: what it is the sum of, a row as often as it was looked
  // up, wherever that was: SlicesOf(dense).
  RowGradient(const Tensor& dense, const IndexedSlices& slices);

  const Tensor& dense() const { return dense_; }
  // Whether fewer rows were looked up than the table has. For rules that give the same by rows as
  // for the whole table: only then is it less work.
  bool FewerThanAll() const { return rows_.valid() && rows_.dim(0) < dense_.dim(0); }
  // [n, ...]: the whole gradient of each looked-up row, added up in the order of the slices, as
  // TensorFlow does it; of look-ups in several places the dense gradient adds the places' sums, and
  // may differ in the last bits. Where a row stands twice, so does its
  // gradient, the same both times: the rule gives the same new row, and either may be written.
  const Tensor& rows() const { return rows_; }
  // The same rows of a variable of the table's shape.
  Tensor Of(const Variable& variable) const;
  // `variable` with these rows in their place.
  Operation Assign(const Variable& variable, const Tensor& rows) const;

 private:
  Tensor dense_;
  Tensor indices_;
  Tensor rows_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ROW_GRADIENT_H_
