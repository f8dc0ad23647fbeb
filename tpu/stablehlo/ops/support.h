// What the lowerings of several op families share.
#ifndef TPU_STABLEHLO_OPS_SUPPORT_H_
#define TPU_STABLEHLO_OPS_SUPPORT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/writer.h"

namespace estimator::tpu::stablehlo {

// A lowering that handles two cases for every op, and calls `lowering` for the others:
//   operands or results that hold strings: NotLowerable
//   results without elements: empty constants
OpLowering Guarded(OpLowering lowering);

// Defines and registers the guarded lowering of an op, in an anonymous namespace:
//   EST_LOWERING(Reshape) { return Values{w.Reshape(args.input(0), args.output(0).shape)}; }
#define EST_LOWERING(op)                                              \
  LoweringResult LoweringOf##op(Writer& w, const LoweringArgs& args); \
  EST_REGISTER_STABLEHLO(#op, Guarded(LoweringOf##op));               \
  LoweringResult LoweringOf##op([[maybe_unused]] Writer& w,           \
                                [[maybe_unused]] const LoweringArgs& args)

// The dtype that the reference kernels compute in: f32 for 16-bit floats, else the dtype itself.
DType ComputeDType(DType dtype);
// x in its compute dtype.
Value Widened(Writer& w, const Value& x);

// An axis counted from the front; a negative one counts from the end.
inline int64_t FromFront(int64_t axis, int rank) { return axis < 0 ? axis + rank : axis; }
// The constant axis (a scalar, or a vector of one) in input i, counted from the front of a tensor
// of `rank`. Errors: those of LoweringArgs::ConstantInts.
absl::StatusOr<int64_t> ConstantAxis(const LoweringArgs& args, int i, int rank);

// 0, 1, ..., n - 1.
Ints Count(int64_t n);
// The axes of a tensor of `rank` without one of them.
Ints AxesExcept(int rank, int64_t axis);
// n times `value`.
Ints Repeated(int64_t n, int64_t value);
// The number of elements of the axes [begin, end) of a shape.
int64_t SizeOfAxes(const Shape& shape, int begin, int end);

inline bool IsEmpty(const Value& x) { return x.shape().num_elements() == 0; }

// x with the elements [begin, begin + size) of one axis.
Value SliceAxis(Writer& w, const Value& x, int64_t axis, int64_t begin, int64_t size);
// x with `low` and `high` elements of `value` added to one axis.
Value PadAxis(Writer& w, const Value& x, const Value& value, int64_t axis, int64_t low,
              int64_t high);

// Row i of x [n, ...], and x with `row` as its row i.
//   i: a scalar of an integer dtype. REQUIRES: n > 0.
Value RowAt(Writer& w, const Value& x, const Value& i);
Value WithRowAt(Writer& w, const Value& x, const Value& i, const Value& row);

// The elements `indices`, [n], of one axis of x. In gather.cc.
Value GatherAxis(Writer& w, const Value& x, const Value& indices, int axis);

// x broadcast to the batch axes of `like`, which are all but the last two.
Value WithBatch(Writer& w, const Value& x, const Shape& like);

// a [batch..., M, K] times b [batch..., K, N] with equal batches; a transposed matrix is stored
// with its last two axes swapped.
Value MatrixProduct(Writer& w, const Value& a, const Value& b, bool transpose_a, bool transpose_b,
                    DType result);

// x rounded towards zero. REQUIRES: a floating dtype.
Value Truncated(Writer& w, const Value& x);
// coefficients[0] * x^(n-1) + ... + coefficients[n-1], by Horner's rule.
Value Polynomial(Writer& w, const Value& x, absl::Span<const double> coefficients);

}  // namespace estimator::tpu::stablehlo

#endif  // TPU_STABLEHLO_OPS_SUPPORT_H_
