// Reductions over axes, L2Loss, BiasAdd and BiasAddGrad. 16-bit floats are summed in float32.
#include "estimator/base/status.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

// The axes in input 1, each once.
absl::StatusOr<Ints> AxesOf(const LoweringArgs& args) {
  EST_ASSIGN_OR_RETURN(const Ints given, args.ConstantInts(1));
  const int rank = args.input(0).rank();
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (const int64_t axis : given) reduced[static_cast<size_t>(FromFront(axis, rank))] = true;
  Ints axes;
  for (size_t axis = 0; axis < reduced.size(); ++axis) {
    if (reduced[axis]) axes.push_back(static_cast<int64_t>(axis));
  }
  return axes;
}

// Input 0 reduced over the axes of the op, in its compute dtype.
LoweringResult Reduced(Writer& w, const LoweringArgs& args, const char* op) {
  const Value x = Widened(w, args.input(0));
  EST_ASSIGN_OR_RETURN(const Ints axes, AxesOf(args));
  // The result of a StableHLO reduction lacks the axes. The reshape restores those that keep_dims
  // keeps.
  const Value y = axes.empty() ? x : w.Reduce(op, x, axes);
  return Values{w.Convert(w.Reshape(y, args.output(0).shape), args.output(0).dtype)};
}

EST_LOWERING(Sum) { return Reduced(w, args, "add"); }
EST_LOWERING(Prod) { return Reduced(w, args, "multiply"); }
EST_LOWERING(Max) { return Reduced(w, args, "maximum"); }
EST_LOWERING(Min) { return Reduced(w, args, "minimum"); }
EST_LOWERING(All) { return Reduced(w, args, "and"); }
EST_LOWERING(Any) { return Reduced(w, args, "or"); }

// Integers are summed and divided in 64 bits, as in TensorFlow. The mean of no integers is 0.
EST_LOWERING(Mean) {
  EST_ASSIGN_OR_RETURN(const Ints axes, AxesOf(args));
  const bool floating = IsFloating(args.output(0).dtype);
  const Value x = floating ? Widened(w, args.input(0)) : w.Convert(args.input(0), DType::kInt64);
  int64_t n = 1;
  for (const int64_t axis : axes) n *= x.dim(axis);
  if (n == 0 && !floating) return Values{w.Fill(args.output(0), 0)};
  const Value sum = axes.empty() ? x : w.Reduce("add", x, axes);
  const Value mean = w.Div(sum, w.Scalar(x.dtype(), static_cast<double>(n)));
  return Values{w.Convert(w.Reshape(mean, args.output(0).shape), args.output(0).dtype)};
}

EST_LOWERING(L2Loss) {
  const Value x = Widened(w, args.input(0)), squares = w.Mul(x, x);
  const Value sum = x.rank() == 0 ? squares : w.Reduce("add", squares, Count(x.rank()));
  return Values{w.Convert(w.MulConst(sum, 0.5), args.output(0).dtype)};
}

EST_LOWERING(BiasAdd) {
  const Value sum = w.Add(Widened(w, args.input(0)), Widened(w, args.input(1)));
  return Values{w.Convert(sum, args.output(0).dtype)};
}

EST_LOWERING(BiasAddGrad) {
  const Value dy = Widened(w, args.input(0));
  return Values{w.Convert(w.Reduce("add", dy, Count(dy.rank() - 1)), args.output(0).dtype)};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
