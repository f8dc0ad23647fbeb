// ResizeBilinear, ResizeNearestNeighbor and their gradients: products with the matrices of their
// weights, at full precision. Nearest neighbors are gathered, because a product would round them.
#include <cstdint>

#include "estimator/kernels/resize_taps.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

// Contracts axis 1 of x with the weights, whose rows become the last axis.
Value Weighted(Writer& w, const LoweringArgs& args, const Value& x, int axis) {
  const ResizeTaps taps = ResizeTapsOf(args.spec, axis);
  const auto rows = static_cast<int64_t>(taps.size());
  Array weights(DType::kFloat32, {rows, x.dim(1)});
  for (int64_t row = 0; row < rows; ++row) {
    for (const ResizeTap& tap : taps[static_cast<size_t>(row)])
      weights.data<float>()[row * x.dim(1) + tap.from] += tap.weight;
  }
  return w.Op("dot_general", {x, w.Convert(w.Constant(weights), x.dtype())},
              {x.dtype(), Shape{x.dim(0), x.dim(2), x.dim(3), rows}},
              "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], "
              "rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision "
              "HIGHEST>, #stablehlo<precision HIGHEST>]");
}

LoweringResult LowerWeighted(Writer& w, const LoweringArgs& args) {
  const TensorSpec& result = args.output(0);
  const DType sum = result.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  // [N,H,W,C] -> [N,W,C,height] -> [N,C,height,width]
  const Value y = Weighted(w, args, Weighted(w, args, w.Convert(args.input(0), sum), 1), 2);
  return Values{w.Convert(w.Transpose(y, {0, 2, 3, 1}), result.dtype)};
}

EST_LOWERING(ResizeBilinear) { return LowerWeighted(w, args); }
EST_LOWERING(ResizeBilinearGrad) { return LowerWeighted(w, args); }
EST_LOWERING(ResizeNearestNeighborGrad) { return LowerWeighted(w, args); }

EST_LOWERING(ResizeNearestNeighbor) {
  Value y = args.input(0);
  for (int axis = 1; axis <= 2; ++axis) {
    const ResizeTaps taps = ResizeTapsOf(args.spec, axis);
    Array from(DType::kInt32, {static_cast<int64_t>(taps.size())});
    for (size_t i = 0; i < taps.size(); ++i)
      from.data<int32_t>()[i] = static_cast<int32_t>(taps[i][0].from);
    y = GatherAxis(w, y, w.Constant(from), axis);
  }
  return Values{y};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
