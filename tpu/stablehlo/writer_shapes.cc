// Writer: ops that change shapes, and ops over several elements.
#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"
#include "tpu/stablehlo/writer.h"

namespace estimator::tpu::stablehlo {
namespace {

Ints WithoutAxes(const Shape& shape, const Ints& axes) {
  Ints dims;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end())
      dims.push_back(shape.dim(static_cast<int>(i)));
  }
  return dims;
}

}  // namespace

// --- Shapes

Value Writer::Reshape(const Value& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return Op("reshape", {x}, {x.dtype(), shape, x.type.is_unsigned});
}

Value Writer::BroadcastInDim(const Value& x, const Shape& shape, const Ints& dims) {
  return Op("broadcast_in_dim", {x}, {x.dtype(), shape, x.type.is_unsigned},
            absl::StrCat("broadcast_dimensions = ", IntsAttr(dims)));
}

Value Writer::BroadcastTo(const Value& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  Ints dims(static_cast<size_t>(x.rank()));
  std::iota(dims.begin(), dims.end(), shape.rank() - x.rank());
  return BroadcastInDim(x, shape, dims);
}

Value Writer::Transpose(const Value& x, const Ints& permutation) {
  Ints dims;
  for (const int64_t axis : permutation) dims.push_back(x.dim(axis));
  return Op("transpose", {x}, {x.dtype(), Shape(std::move(dims)), x.type.is_unsigned},
            absl::StrCat("permutation = ", IntsAttr(permutation)));
}

Value Writer::Slice(const Value& x, const Ints& starts, const Ints& limits, const Ints& strides) {
  Ints dims;
  for (size_t i = 0; i < starts.size(); ++i)
    dims.push_back((limits[i] - starts[i] + strides[i] - 1) / strides[i]);
  return Op("slice", {x}, {x.dtype(), Shape(std::move(dims)), x.type.is_unsigned},
            absl::StrCat("start_indices = ", IntsAttr(starts), ", limit_indices = ",
                         IntsAttr(limits), ", strides = ", IntsAttr(strides)));
}

Value Writer::Concatenate(const Values& values, int64_t axis) {
  Type type = values[0].type;
  int64_t size = 0;
  for (const Value& value : values) size += value.dim(axis);
  type.shape.set_dim(static_cast<int>(axis), size);
  return Op("concatenate", values, type, absl::StrCat("dimension = ", IntAttr(axis)));
}

Value Writer::Pad(const Value& x, const Value& value, const Ints& low, const Ints& high,
                  const Ints& interior) {
  Ints dims;
  for (size_t i = 0; i < low.size(); ++i) {
    const int64_t size = x.dim(i);
    // An empty axis has no gaps to fill.
    dims.push_back(low[i] + size + std::max<int64_t>(size - 1, 0) * interior[i] + high[i]);
  }
  return Op("pad", {x, value}, {x.dtype(), Shape(std::move(dims)), x.type.is_unsigned},
            absl::StrCat("edge_padding_low = ", IntsAttr(low), ", edge_padding_high = ",
                         IntsAttr(high), ", interior_padding = ", IntsAttr(interior)));
}

Value Writer::Reverse(const Value& x, const Ints& axes) {
  return Op("reverse", {x}, x.type, absl::StrCat("dimensions = ", IntsAttr(axes)));
}

Value Writer::DynamicSlice(const Value& x, const Values& starts, const Ints& sizes) {
  Values operands = {x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return Op("dynamic_slice", operands, {x.dtype(), Shape(sizes), x.type.is_unsigned},
            absl::StrCat("slice_sizes = ", IntsAttr(sizes)));
}

Value Writer::DynamicUpdateSlice(const Value& x, const Value& update, const Values& starts) {
  Values operands = {x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return Op("dynamic_update_slice", operands, x.type);
}

// --- Over several elements

Value Writer::Reduce(StringArg op, const Value& x, const Ints& axes) {
  const Type scalar{x.dtype(), Shape{}, x.type.is_unsigned};
  const absl::string_view name = op;
  if (name == "maximum") return Reduce(op, x, Lowest(scalar), axes);
  if (name == "minimum") return Reduce(op, x, Highest(scalar), axes);
  // All bits set is neutral for integers, and true for bools.
  if (name == "and") return Reduce(op, x, FillInt(scalar, -1), axes);
  CHECK(name == "add" || name == "multiply" || name == "or") << "no neutral element of " << name;
  return Reduce(op, x, Fill(scalar, name == "multiply" ? 1 : 0), axes);
}

Value Writer::Reduce(StringArg op, const Value& x, const Value& init, const Ints& axes) {
  Region region = ScalarRegion(op, x.dtype());
  for (Type& argument : region.arguments) argument.is_unsigned = x.type.is_unsigned;
  return Ops("reduce", {x, init},
             {{x.dtype(), Shape(WithoutAxes(x.shape(), axes)), x.type.is_unsigned}},
             absl::StrCat("dimensions = ", IntsAttr(axes)), {region})[0];
}

Region Writer::ScalarRegion(StringArg op, DType dtype) {
  return {{{dtype, Shape{}}, {dtype, Shape{}}}, [this, op = std::string(op)](const Values& args) {
            return Values{Binary(op, args[0], args[1])};
          }};
}

Region Writer::CompareRegion(StringArg direction, DType dtype) {
  return {{{dtype, Shape{}}, {dtype, Shape{}}},
          [this, direction = std::string(direction)](const Values& args) {
            return Values{Compare(direction, args[0], args[1])};
          }};
}

Value Writer::ProductOperand(const Value& x) {
  // Only the operands are rounded. The product keeps the dtype that its op asks for.
  return x.dtype() == DType::kFloat32 ? Convert(x, compute_dtype_) : x;
}

Value Writer::DotGeneral(const Value& lhs, const Value& rhs, const DotDimensions& d, DType result) {
  const auto free = [](const Value& x, const Ints& batch, const Ints& contracting) {
    Ints taken = batch;
    taken.insert(taken.end(), contracting.begin(), contracting.end());
    return WithoutAxes(x.shape(), taken);
  };
  Ints dims;
  // StableHLO defines this order: the batch axes, the other axes of lhs, the other axes of rhs.
  for (const int64_t axis : d.lhs_batch) dims.push_back(lhs.dim(axis));
  for (const Ints& sizes :
       {free(lhs, d.lhs_batch, d.lhs_contracting), free(rhs, d.rhs_batch, d.rhs_contracting)})
    dims.insert(dims.end(), sizes.begin(), sizes.end());
  std::vector<std::string> lists;
  const auto list = [&lists](absl::string_view name, const Ints& axes) {
    if (!axes.empty()) lists.push_back(absl::StrCat(name, " = [", absl::StrJoin(axes, ", "), "]"));
  };
  list("lhs_batching_dimensions", d.lhs_batch);
  list("rhs_batching_dimensions", d.rhs_batch);
  list("lhs_contracting_dimensions", d.lhs_contracting);
  list("rhs_contracting_dimensions", d.rhs_contracting);
  return Op(
      "dot_general", {ProductOperand(lhs), ProductOperand(rhs)}, {result, Shape(std::move(dims))},
      absl::StrCat("dot_dimension_numbers = #stablehlo.dot<", absl::StrJoin(lists, ", "), ">"));
}

Values Writer::While(const Values& init, const std::function<Value(const Values&)>& condition,
                     const std::function<Values(const Values&)>& body) {
  std::vector<Type> types;
  for (const Value& value : init) types.push_back(value.type);
  const auto test = [&condition](const Values& values) { return Values{condition(values)}; };
  return Ops("while", init, types, "", {{types, test}, {types, body}});
}

}  // namespace estimator::tpu::stablehlo
