// FusedBatchNormV3 and its gradient. The channels are the last axis of x; moments are over all
// others. Formulas: kernels/reference/batch_norm.cc. All is computed in the dtype of scale, which
// is float32 for 16-bit x.
#include <algorithm>

#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

Value SumOverRows(Writer& w, const Value& x) { return w.Reduce("add", x, Count(x.rank() - 1)); }

// The number of elements of a channel; at least 1.
double RowsOf(const Value& x) {
  return static_cast<double>(std::max<int64_t>(SizeOfAxes(x.shape(), 0, x.rank() - 1), 1));
}

Value InverseDeviation(Writer& w, const Value& variance, double epsilon) {
  return w.Unary("rsqrt", w.AddConst(variance, epsilon));
}

EST_LOWERING(FusedBatchNormV3) {
  const Attrs& attrs = args.spec.attrs;
  const Value &scale = args.input(1), &offset = args.input(2);
  const Value x = w.Convert(args.input(0), scale.dtype());
  const double rows = RowsOf(x), factor = attrs.f("exponential_avg_factor");
  Value mean = args.input(3), variance = args.input(4);
  Value moving_mean = mean, moving_variance = variance;
  if (attrs.b("is_training")) {
    mean = w.MulConst(SumOverRows(w, x), 1 / rows);
    // The mean of the squares, less the squared mean, would cancel where the mean is large.
    const Value centered = w.Sub(x, mean);
    variance = w.MulConst(SumOverRows(w, w.Mul(centered, centered)), 1 / rows);
    // Bessel's correction is for the moving average only.
    const Value unbiased = w.MulConst(variance, rows / std::max(rows - 1, 1.0));
    const auto averaged = [&](const Value& before, const Value& now) {
      if (factor == 1) return now;
      return w.Add(w.MulConst(before, 1 - factor), w.MulConst(now, factor));
    };
    moving_mean = averaged(moving_mean, mean);
    moving_variance = averaged(moving_variance, unbiased);
  }
  const Value inverse = InverseDeviation(w, variance, attrs.f("epsilon"));
  const Value y = w.Add(w.Mul(w.Mul(w.Sub(x, mean), inverse), scale), offset);
  // The last output is reserve_space_3, which the gradient below does not read.
  return Values{w.Convert(y, args.output(0).dtype), moving_mean, moving_variance, mean, variance,
                w.Fill(args.output(5), 0)};
}

EST_LOWERING(FusedBatchNormGradV3) {
  const Value &scale = args.input(2), &mean = args.input(3), &variance = args.input(4);
  const Value dy = w.Convert(args.input(0), scale.dtype());
  const Value x = w.Convert(args.input(1), scale.dtype());
  const Value inverse = InverseDeviation(w, variance, args.spec.attrs.f("epsilon"));
  const Value z = w.Mul(w.Sub(x, mean), inverse);
  const Value sum = SumOverRows(w, dy), sum_z = SumOverRows(w, w.Mul(dy, z));
  Value d = dy;
  // In inference mean and variance do not depend on x.
  if (args.spec.attrs.b("is_training")) {
    const double share = 1 / RowsOf(x);
    d = w.Sub(dy, w.MulConst(w.Add(w.Mul(z, sum_z), sum), share));
  }
  const Value dx = w.Mul(w.Mul(scale, inverse), d);
  return Values{w.Convert(dx, args.output(0).dtype), sum_z, sum, w.Fill(args.output(3), 0),
                w.Fill(args.output(4), 0)};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
