// ArgMax, ArgMin, TopKV2, InTopKV2. Of equal elements the first one counts, as in TensorFlow.
#include <algorithm>
#include <cfloat>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

// x without NaN and infinities: a NaN never counts, and an infinity of the bad sign is not better
// than the worst finite number, as in the kernels.
Value Comparable(Writer& w, const Value& x, bool largest) {
  if (x.dtype() == DType::kBool) return w.Convert(x, DType::kInt32);
  if (!IsFloating(x.dtype())) return x;
  const double extreme = x.dtype() == DType::kFloat64 ? DBL_MAX : double{FLT_MAX};
  const Value worst = w.Scalar(x.dtype(), largest ? -extreme : extreme);
  const Value numbers = w.Select(w.Compare("NE", x, x), worst, x);
  return largest ? w.Max(numbers, worst) : w.Min(numbers, worst);
}

LoweringResult LowerArg(Writer& w, const LoweringArgs& args, bool largest) {
  const Value x = Comparable(w, Widened(w, args.input(0)), largest);
  EST_ASSIGN_OR_RETURN(const int64_t axis, ConstantAxis(args, 1, x.rank()));
  const Value best = w.Reduce(largest ? "maximum" : "minimum", x, {axis});
  const Value is_best =
      w.Compare("EQ", x, w.BroadcastInDim(best, x.shape(), AxesExcept(x.rank(), axis)));
  const Value position = w.Iota({DType::kInt32, x.shape()}, axis);
  const Value none = w.FillInt({DType::kInt32, Shape{}}, x.dim(axis));
  const Value first = w.Reduce("minimum", w.Select(is_best, position, none), {axis});
  return Values{w.Convert(first, args.output(0).dtype)};
}

EST_LOWERING(ArgMax) { return LowerArg(w, args, true); }
EST_LOWERING(ArgMin) { return LowerArg(w, args, false); }

EST_LOWERING(TopKV2) {
  const Value& x = args.input(0);
  const int64_t axis = x.rank() - 1, k = args.output(0).shape.dim(-1);
  const Value position = w.Iota({DType::kInt32, x.shape()}, axis);
  const Type element(x.dtype(), Shape{}), index(DType::kInt32, Shape{});
  // In the total order of IEEE 754 a NaN comes before every number, and one with a sign bit after
  // every number, as in the kernel. There -0 is less than 0, which "NE" corrects: they are equal.
  const auto body = [&w](const Values& a) {
    if (!IsFloating(a[0].dtype())) return Values{w.Compare("GT", a[0], a[1])};
    const Value before = w.Op("compare", {a[0], a[1]}, {DType::kBool, Shape{}},
                              "comparison_direction = #stablehlo<comparison_direction GT>, "
                              "compare_type = #stablehlo<comparison_type TOTALORDER>");
    return Values{w.Binary("and", before, w.Compare("NE", a[0], a[1]))};
  };
  const Region larger = {.arguments = {element, element, index, index}, .body = body};
  // Stable: of equal elements, the one with the lower index stays first.
  const Values sorted =
      w.Ops("sort", {x, position}, {x.type, position.type},
            absl::StrCat("dimension = ", IntAttr(axis), ", is_stable = true"), {larger});
  return Values{SliceAxis(w, sorted[0], axis, 0, k),
                w.Convert(SliceAxis(w, sorted[1], axis, 0, k), args.output(1).dtype)};
}

// A row counts only if its target is a class and all its elements are finite.
EST_LOWERING(InTopKV2) {
  EST_ASSIGN_OR_RETURN(const Ints k, args.ConstantInts(2));
  const Value &x = args.input(0), &targets = args.input(1);
  const int64_t rows = x.dim(0), classes = x.dim(1);
  const Value target = w.Reshape(targets, Shape{rows, 1});
  const Value position = w.Iota({targets.dtype(), x.shape()}, 1);
  const Value is_target = w.Compare("EQ", position, target);
  const Value score = w.Reshape(
      w.Reduce("add", w.Select(is_target, x, w.Scalar(x.dtype(), 0)), {1}), Shape{rows, 1});
  const Value larger = w.Convert(w.Compare("GT", x, score), DType::kInt32);
  // k may be larger than an int32; no more than `classes` elements can be larger.
  const Value limit = w.FillInt({DType::kInt32, Shape{}}, std::min(k[0], classes + 1));
  const Value among_best = w.Compare("LT", w.Reduce("add", larger, {1}), limit);
  const Value is_class = w.Reduce("or", is_target, {1});
  const Value finite = w.Reduce("and", w.IsFinite(x), {1});
  return Values{w.Binary("and", among_best, w.Binary("and", is_class, finite))};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
