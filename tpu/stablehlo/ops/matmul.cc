// MatMul and BatchMatMulV2.
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

EST_LOWERING(MatMul) {
  return Values{MatrixProduct(w, args.input(0), args.input(1), args.spec.attrs.b("transpose_a"),
                              args.spec.attrs.b("transpose_b"), args.output(0).dtype)};
}

// A matrix with a batch axis of 1, or with none, is repeated.
EST_LOWERING(BatchMatMulV2) {
  const Shape& out = args.output(0).shape;
  return Values{MatrixProduct(w, WithBatch(w, args.input(0), out), WithBatch(w, args.input(1), out),
                              args.spec.attrs.b("adj_x"), args.spec.attrs.b("adj_y"),
                              args.output(0).dtype)};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
