// Softmax, LogSoftmax and the two softmax cross entropies along the last axis; 16-bit floats in
// float32.
#include <limits>

#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

// A value for each row, [...], along the classes of x, [..., C].
Value AlongRows(Writer& w, const Value& row, const Value& x) {
  return w.BroadcastInDim(row, x.shape(), Count(x.rank() - 1));
}
Value ReduceRows(Writer& w, const char* op, const Value& x) {
  return w.Reduce(op, x, {x.rank() - 1});
}

struct Rows {
  Value shifted;  // [..., C]: x - the row's maximum
  Value log_sum;  // [...]: log(sum_c exp(shifted[c]))
};
Rows RowsOf(Writer& w, const Value& x) {
  // Without the shift, the exponential of a large logit is infinite.
  const Value shifted = w.Sub(x, AlongRows(w, ReduceRows(w, "maximum", x), x));
  const Value sum = ReduceRows(w, "add", w.Unary("exponential", shifted));
  return {shifted, w.Unary("log", sum)};
}
Value LogSoftmax(Writer& w, const Rows& rows) {
  return w.Sub(rows.shifted, AlongRows(w, rows.log_sum, rows.shifted));
}

EST_LOWERING(LogSoftmax) {
  const Rows rows = RowsOf(w, Widened(w, args.input(0)));
  return Values{w.Convert(LogSoftmax(w, rows), args.output(0).dtype)};
}
EST_LOWERING(Softmax) {
  const Rows rows = RowsOf(w, Widened(w, args.input(0)));
  return Values{w.Convert(w.Unary("exponential", LogSoftmax(w, rows)), args.output(0).dtype)};
}

// loss = sum_c labels[c] * -logsoftmax[c], backprop = softmax - labels
EST_LOWERING(SoftmaxCrossEntropyWithLogits) {
  const Value labels = Widened(w, args.input(1));
  const Value log_softmax = LogSoftmax(w, RowsOf(w, Widened(w, args.input(0))));
  const Value zero = w.Scalar(labels.dtype(), 0);
  // 0 * log(0) is 0: a class with weight 0 does not count.
  const Value terms = w.Select(w.Compare("NE", labels, zero), w.Mul(labels, log_softmax), zero);
  const Value loss = w.Unary("negate", ReduceRows(w, "add", terms));
  const Value backprop = w.Sub(w.Unary("exponential", log_softmax), labels);
  return Values{w.Convert(loss, args.output(0).dtype), w.Convert(backprop, args.output(1).dtype)};
}

// loss = -logsoftmax[label], backprop[c] = softmax[c] - (c == label). A label out of range gives
// NaN, as in TensorFlow on accelerators; the kernels of the CPU fail.
EST_LOWERING(SparseSoftmaxCrossEntropyWithLogits) {
  const Value& labels = args.input(1);
  const Value log_softmax = LogSoftmax(w, RowsOf(w, Widened(w, args.input(0))));
  const DType dtype = log_softmax.dtype();
  const Value is_label =
      w.Compare("EQ", AlongRows(w, labels, log_softmax),
                w.Iota({labels.dtype(), log_softmax.shape()}, log_softmax.rank() - 1));
  const Value zero = w.Scalar(dtype, 0);
  const Value nan = w.Scalar(dtype, std::numeric_limits<double>::quiet_NaN());
  const Value is_class = ReduceRows(w, "or", is_label);
  const Value picked = ReduceRows(w, "add", w.Select(is_label, log_softmax, zero));
  const Value loss = w.Select(is_class, w.Unary("negate", picked), nan);
  const Value difference = w.Sub(w.Unary("exponential", log_softmax), w.Convert(is_label, dtype));
  const Value backprop = w.Select(AlongRows(w, is_class, difference), difference, nan);
  return Values{w.Convert(loss, args.output(0).dtype), w.Convert(backprop, args.output(1).dtype)};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
