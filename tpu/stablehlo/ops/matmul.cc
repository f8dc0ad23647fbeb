// MatMul and BatchMatMulV2.
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

// a [batch..., M, K] times b [batch..., K, N] with equal batches; a transposed matrix is stored
// with its last two axes swapped.
Value Product(Writer& w, const Value& a, const Value& b, bool transpose_a, bool transpose_b,
              DType result) {
  const int64_t batch_rank = a.rank() - 2;
  const Ints batch = Count(batch_rank);
  return w.DotGeneral(a, b,
                      {.lhs_batch = batch,
                       .rhs_batch = batch,
                       .lhs_contracting = {transpose_a ? batch_rank : batch_rank + 1},
                       .rhs_contracting = {transpose_b ? batch_rank + 1 : batch_rank}},
                      result);
}

EST_LOWERING(MatMul) {
  return Values{Product(w, args.input(0), args.input(1), args.spec.attrs.b("transpose_a"),
                        args.spec.attrs.b("transpose_b"), args.output(0).dtype)};
}

// A matrix for each index of `batch`, repeated where x has an axis of 1 or none.
Value WithBatch(Writer& w, const Value& x, const Ints& batch) {
  Ints shape = batch;
  shape.push_back(x.shape().dim(-2));
  shape.push_back(x.shape().dim(-1));
  return w.BroadcastTo(x, Shape(shape));
}

EST_LOWERING(BatchMatMulV2) {
  const Shape& out = args.output(0).shape;
  const Ints batch(out.dims().begin(), out.dims().end() - 2);
  return Values{Product(w, WithBatch(w, args.input(0), batch), WithBatch(w, args.input(1), batch),
                        args.spec.attrs.b("adj_x"), args.spec.attrs.b("adj_y"),
                        args.output(0).dtype)};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
