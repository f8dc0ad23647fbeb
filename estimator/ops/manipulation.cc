#include "estimator/ops/manipulation.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

OutputSpecs TransposeRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, context.ConstantInts(1));
  const Shape& from = context.input(0).shape;
  std::vector<bool> used(from.dims().size(), false);
  Shape to;
  for (const int64_t given : perm) {
    EST_ASSIGN_OR_RETURN(const int axis, CheckAxis(given, from.rank()));
    used[static_cast<size_t>(axis)] = true;
    to.push_back(from.dim(axis));
  }
  if (perm.size() != used.size() || std::count(used.begin(), used.end(), false) > 0) {
    return InvalidArgument("[", absl::StrJoin(perm, ","), "] is not a permutation of the ",
                           from.rank(), " axes of ", from.ToString());
  }
  return std::vector<TensorSpec>{{context.input(0).dtype, to}};
}

Tensors TransposeGradient(const Node& node, const Tensors& grads) {
  const std::vector<int64_t> perm = ConstantInts(node, 1);
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) {
    const auto rank = static_cast<int64_t>(perm.size());
    inverse[static_cast<size_t>(perm[i] < 0 ? perm[i] + rank : perm[i])] = static_cast<int64_t>(i);
  }
  return {Transpose(grads[0], inverse), Tensor()};
}

// The inputs before the last one, which is the axis.
OutputSpecs ConcatRule(const ShapeContext& context) {
  const int n = context.num_inputs() - 1;
  if (n < 1) return InvalidArgument("takes at least one tensor");
  Shape whole = context.input(0).shape;
  EST_ASSIGN_OR_RETURN(const int axis, ConstantAxis(context, n, whole.rank()));
  for (int i = 1; i < n; ++i) {
    EST_RETURN_IF_ERROR(CheckSameDType(context.input(0), context.input(i)));
    const Shape& part = context.input(i).shape;
    bool fits = part.rank() == whole.rank();
    for (int k = 0; fits && k < part.rank(); ++k) fits = k == axis || part.dim(k) == whole.dim(k);
    if (!fits) {
      return InvalidArgument("cannot join ", context.input(0).shape.ToString(), " and ",
                             part.ToString(), " along axis ", axis, ": the other sizes differ");
    }
    whole.set_dim(axis, whole.dim(axis) + part.dim(axis));
  }
  return std::vector<TensorSpec>{{context.input(0).dtype, whole}};
}

Tensors ConcatGradient(const Node& node, const Tensors& grads) {
  const int n = node.num_inputs() - 1;
  const int axis = static_cast<int>(ConstantInts(node, n)[0]);
  std::vector<int64_t> sizes;
  for (int i = 0; i < n; ++i) sizes.push_back(node.input(i).dim(axis));
  Tensors result = Split(grads[0], sizes, {.axis = axis});
  result.emplace_back();
  return result;
}

// Collects the gradients of the parts, with zeros for a part that is not used.
Tensors WithZeros(const Node& node, const Tensors& grads) {
  Tensors all = grads;
  Graph* graph = nullptr;
  for (const Tensor& grad : grads) graph = grad.valid() ? grad.graph() : graph;
  const GraphScope scope(*graph);
  for (size_t i = 0; i < all.size(); ++i) {
    const TensorSpec& spec = node.outputs()[i];
    if (!all[i].valid()) all[i] = Zeros(spec.shape, spec.dtype);
  }
  return all;
}

OutputSpecs SplitParts(const TensorSpec& whole, int axis, const std::vector<int64_t>& sizes) {
  std::vector<TensorSpec> parts;
  for (const int64_t size : sizes) {
    parts.push_back(whole);
    parts.back().shape.set_dim(axis, size);
  }
  return parts;
}

OutputSpecs SplitRule(const ShapeContext& context) {
  const TensorSpec& whole = context.input(1);
  EST_ASSIGN_OR_RETURN(const int axis, ConstantAxis(context, 0, whole.shape.rank()));
  const int64_t n = context.attrs.i("num_split");
  if (n < 1 || whole.shape.dim(axis) % n != 0) {
    return InvalidArgument("axis ", axis, " of ", whole.shape.ToString(), " does not divide into ",
                           n, " equal parts");
  }
  return SplitParts(whole, axis,
                    std::vector<int64_t>(static_cast<size_t>(n), whole.shape.dim(axis) / n));
}

OutputSpecs SplitVRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, context.ConstantInts(1));
  const TensorSpec& whole = context.input(0);
  EST_ASSIGN_OR_RETURN(const int axis, ConstantAxis(context, 2, whole.shape.rank()));
  int64_t sum = 0;
  int unknown = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && unknown < 0)
      unknown = static_cast<int>(i);
    else
      sum += sizes[i] < 0 ? whole.shape.dim(axis) + 1 : sizes[i];  // makes a second -1 an error
  }
  if (unknown >= 0 && sum <= whole.shape.dim(axis)) {
    sizes[static_cast<size_t>(unknown)] = whole.shape.dim(axis) - sum;
  } else if (sum != whole.shape.dim(axis)) {
    return InvalidArgument("parts of sizes [", absl::StrJoin(sizes, ","),
                           "] do not add up to axis ", axis, " of ", whole.shape.ToString());
  }
  return SplitParts(whole, axis, sizes);
}

Tensors SplitGradient(const Node& node, const Tensors& grads) {
  return {Tensor(), Concat(WithZeros(node, grads), static_cast<int>(ConstantInts(node, 0)[0]))};
}
Tensors SplitVGradient(const Node& node, const Tensors& grads) {
  return {Concat(WithZeros(node, grads), static_cast<int>(ConstantInts(node, 2)[0])), Tensor(),
          Tensor()};
}

OutputSpecs PackRule(const ShapeContext& context) {
  if (context.num_inputs() == 0) return InvalidArgument("takes at least one tensor");
  const TensorSpec& first = context.input(0);
  EST_ASSIGN_OR_RETURN(const int axis, CheckAxis(context.attrs.i("axis"), first.shape.rank() + 1));
  for (int i = 1; i < context.num_inputs(); ++i) {
    if (context.input(i) == first) continue;
    return InvalidArgument("cannot stack ", first.ToString(), " and ", context.input(i).ToString(),
                           ": types differ");
  }
  std::vector<int64_t> dims = first.shape.dims();
  dims.insert(dims.begin() + axis, context.num_inputs());
  return std::vector<TensorSpec>{{first.dtype, Shape(std::move(dims))}};
}

OutputSpecs UnpackRule(const ShapeContext& context) {
  const TensorSpec& whole = context.input(0);
  EST_ASSIGN_OR_RETURN(const int axis, CheckAxis(context.attrs.i("axis"), whole.shape.rank()));
  const int64_t n = context.attrs.i("num");
  if (n != whole.shape.dim(axis)) {
    return InvalidArgument("num is ", n, ", axis ", axis, " has size ", whole.shape.dim(axis));
  }
  std::vector<int64_t> dims = whole.shape.dims();
  dims.erase(dims.begin() + axis);
  return std::vector<TensorSpec>(static_cast<size_t>(n), {whole.dtype, Shape(dims)});
}

OutputSpecs ReverseRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, context.ConstantInts(1));
  for (const int64_t axis : axes) {
    EST_RETURN_IF_ERROR(CheckAxis(axis, context.input(0).shape.rank()).status());
  }
  return SameAsInput(context);
}

OutputSpecs TileRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> multiples, context.ConstantInts(1));
  Shape to = context.input(0).shape;
  if (static_cast<int>(multiples.size()) != to.rank()) {
    return InvalidArgument(multiples.size(), " multiples for the ", to.rank(), " axes of ",
                           to.ToString());
  }
  for (int axis = 0; axis < to.rank(); ++axis) {
    const int64_t multiple = multiples[static_cast<size_t>(axis)];
    int64_t size = 0;
    if (multiple < 0 || __builtin_mul_overflow(to.dim(axis), multiple, &size))
      return InvalidArgument("multiple ", multiple, " of axis ", axis, " is negative or too large");
    to.set_dim(axis, size);
  }
  return std::vector<TensorSpec>{{context.input(0).dtype, to}};
}

// Splits every axis into (repetitions, elements) and sums over the repetitions.
Tensors TileGradient(const Node& node, const Tensors& grads) {
  const std::vector<int64_t> multiples = ConstantInts(node, 1);
  const Shape& from = node.input(0).shape();
  Shape split;
  std::vector<int64_t> axes;
  for (int axis = 0; axis < from.rank(); ++axis) {
    axes.push_back(2 * axis);
    split.push_back(multiples[static_cast<size_t>(axis)]);
    split.push_back(from.dim(axis));
  }
  return {ReduceSum(Reshape(grads[0], split), axes), Tensor()};
}

EST_REGISTER_OP("Transpose", TransposeRule, TransposeGradient);
EST_REGISTER_OP("ConcatV2", ConcatRule, ConcatGradient);
EST_REGISTER_OP("Split", SplitRule, SplitGradient);
EST_REGISTER_OP("SplitV", SplitVRule, SplitVGradient);
EST_REGISTER_OP("Pack", PackRule, [](const Node& node, const Tensors& grads) {
  return Unstack(grads[0], static_cast<int>(node.attrs().i("axis")));
});
EST_REGISTER_OP("Unpack", UnpackRule, [](const Node& node, const Tensors& grads) -> Tensors {
  return {Stack(WithZeros(node, grads), static_cast<int>(node.attrs().i("axis")))};
});
EST_REGISTER_OP("ReverseV2", ReverseRule, [](const Node& node, const Tensors& grads) -> Tensors {
  return {Reverse(grads[0], ConstantInts(node, 1)), Tensor()};
});
EST_REGISTER_OP("Tile", TileRule, TileGradient);

}  // namespace

Tensor Transpose(const Tensor& x, const std::vector<int64_t>& perm, StringArg name) {
  std::vector<int64_t> axes = perm;
  if (axes.empty()) {
    for (int axis = x.rank() - 1; axis >= 0; --axis) axes.push_back(axis);
  }
  return OpBuilder("Transpose", name).Input(x).Ints("perm", axes).Build();
}

Tensor Concat(const Tensors& inputs, int axis, StringArg name) {
  return OpBuilder("ConcatV2", name).Inputs(inputs).Int("axis", axis).Build();
}

Tensors Split(const Tensor& x, int num_splits, const SplitOptions& options) {
  return OpBuilder("Split", options.name)
      .Int("split_dim", options.axis)
      .Input(x)
      .Attr("num_split", int64_t{num_splits})
      .BuildN(num_splits);
}

Tensors Split(const Tensor& x, const std::vector<int64_t>& sizes, const SplitOptions& options) {
  return OpBuilder("SplitV", options.name)
      .Input(x)
      .Ints("Const", sizes)
      .Int("split_dim", options.axis)
      .Attr("num_split", static_cast<int64_t>(sizes.size()))
      .BuildN(static_cast<int>(sizes.size()));
}

Tensor Stack(const Tensors& inputs, int axis, StringArg name) {
  return AddOp("Pack", inputs,
               {{"axis", int64_t{axis}}, {"N", static_cast<int64_t>(inputs.size())}}, name);
}

Tensors Unstack(const Tensor& x, int axis, StringArg name) {
  const bool in_range = x.valid() && axis >= -x.rank() && axis < x.rank();
  const int64_t num = in_range ? x.dim(axis) : 0;
  Tensors parts =
      AddOpN("Unpack", static_cast<int>(num), {x}, {{"axis", int64_t{axis}}, {"num", num}}, name);
  if (in_range) return parts;
  // Model code continues after an error and reads parts[i], but the number of parts is not known
  // here.
  constexpr size_t kEnoughForAnyModel = 256;
  return Tensors(kEnoughForAnyModel, Tensor(x.graph(), nullptr, 0));
}

Tensor Reverse(const Tensor& x, const std::vector<int64_t>& axes, StringArg name) {
  return OpBuilder("ReverseV2", name).Input(x).Ints("axis", axes).Build();
}

Tensor Tile(const Tensor& x, const std::vector<int64_t>& multiples, StringArg name) {
  return OpBuilder("Tile", name).Input(x).Ints("multiples", multiples).Build();
}

}  // namespace estimator
