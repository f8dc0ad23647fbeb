// The gradient of a table of which a step looked up some rows: TensorFlow's IndexedSlices, as an
// optimizer uses it. An update rule reads those rows, and writes the new rows back:
//
//   const Tensor m = gradient.Of(accum) * 0.9 + gradient.rows();
//   return {gradient.Assign(variable, gradient.Of(variable) - rate * m),
//           gradient.Assign(accum, m)};
#ifndef ESTIMATOR_NN_TRAIN_ROW_GRADIENT_H_
#define ESTIMATOR_NN_TRAIN_ROW_GRADIENT_H_

#include "estimator/graph/indexed_slices.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"

namespace estimator::train {

class RowGradient {
 public:
  // dense: the table's gradient.
  // slices: SlicesOf(dense), whose sum is `dense`. It has a row for each look-up, so a row of the
  //   table may occur more than once.
  RowGradient(const Tensor& dense, const IndexedSlices& slices);

  const Tensor& dense() const { return dense_; }
  // Whether the number of look-ups is less than the number of rows. A rule whose result is the same
  // by rows and for the whole table uses it to choose the cheaper way.
  bool FewerThanAll() const { return rows_.valid() && rows_.dim(0) < dense_.dim(0); }
  // The gradient of each looked-up row, [n, ...] for n look-ups. It is summed over all look-ups of
  // the row in the order of the slices, as in TensorFlow. The dense gradient may differ in the last
  // bits, because it adds sums of each place of look-up. A row that was looked up twice occurs
  // twice, with the same gradient. The rule then computes the same new row twice, and either may be
  // written.
  const Tensor& rows() const { return rows_; }
  // Returns the same rows of a variable that has the table's shape.
  Tensor Of(const Variable& variable) const;
  // Returns the operation that replaces these rows of `variable` by `rows`.
  Operation Assign(const Variable& variable, const Tensor& rows) const;

 private:
  Tensor dense_;
  Tensor indices_;
  Tensor rows_;
};

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_ROW_GRADIENT_H_
