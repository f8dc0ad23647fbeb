#include "estimator/ops/constant.h"

#include <cmath>
#include <limits>

#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/reduction.h"

namespace estimator {
namespace {

// The largest number of elements for which Zeros and Ones are constants; above it they are Fill
// ops, which keeps the graph small. As TF 2.15 tf.zeros.
constexpr int64_t kMaxConstElements = 1000;

OutputSpecs ConstRule(const ShapeContext& context) {
  const Array& value = context.attrs.get<Array>("value");
  return std::vector<TensorSpec>{{value.dtype(), value.shape()}};
}

OutputSpecs PlaceholderRule(const ShapeContext& context) {
  const Shape& shape = context.attrs.get<Shape>("shape");
  if (!shape.fully_known()) {
    return InvalidArgument(
        "a placeholder of shape ", shape.ToString(),
        " has an unknown size; shapes are static (batch with drop_remainder, reshape or pad)");
  }
  return std::vector<TensorSpec>{{context.attrs.dtype("dtype"), shape}};
}

OutputSpecs FillRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(Shape shape, ConstantShape(context, 0));
  if (context.input(1).shape.rank() != 0) {
    return InvalidArgument("the value must be a scalar, not ", context.input(1).ToString());
  }
  return std::vector<TensorSpec>{{context.input(1).dtype, std::move(shape)}};
}

// The size of a floating range: ceil((limit - start) / delta).
OutputSpecs FloatingRangeRule(const ShapeContext& context) {
  double numbers[3];
  for (int i = 0; i < 3; ++i) {
    EST_RETURN_IF_ERROR(CheckSameDType(context.input(0), context.input(i)));
    const std::optional<Array> value = ConstantValue(context.inputs[static_cast<size_t>(i)]);
    if (!value.has_value() || value->num_elements() != 1) {
      return InvalidArgument("start, limit and delta must be scalar constants");
    }
    numbers[i] = value->AsDouble();
  }
  const double size = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
  if (!(size >= 0 && size < 1e15)) {
    return InvalidArgument("Range from ", numbers[0], " to ", numbers[1], " cannot go in steps of ",
                           numbers[2]);
  }
  return std::vector<TensorSpec>{{context.input(0).dtype, Shape{static_cast<int64_t>(size)}}};
}

// The inputs are start, stop and num.
OutputSpecs LinSpaceRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckFloating(context.input(0)));
  EST_RETURN_IF_ERROR(CheckSameDType(context.input(0), context.input(1)));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> num, context.ConstantInts(2));
  if (context.input(0).shape.rank() != 0 || context.input(1).shape.rank() != 0 || num.size() != 1 ||
      num[0] < 1) {
    return InvalidArgument("start and stop must be scalars, num a scalar of 1 or more");
  }
  return std::vector<TensorSpec>{{context.input(0).dtype, Shape{num[0]}}};
}

OutputSpecs RangeRule(const ShapeContext& context) {
  if (IsFloating(context.input(0).dtype)) return FloatingRangeRule(context);
  int64_t ints[3];
  for (int i = 0; i < 3; ++i) {
    EST_RETURN_IF_ERROR(CheckSameDType(context.input(0), context.input(i)));
    EST_ASSIGN_OR_RETURN(const std::vector<int64_t> values, context.ConstantInts(i));
    if (values.size() != 1) return InvalidArgument("start, limit and delta are scalars");
    ints[i] = values[0];
  }
  const auto [start, limit, delta] = ints;
  if (delta == 0) return InvalidArgument("Range with delta 0 never ends");
  if ((delta > 0) != (limit > start) && limit != start) {
    return InvalidArgument("Range from ", start, " to ", limit, " cannot go in steps of ", delta);
  }
  // Computed without sign, because the difference of two int64 may not fit into an int64.
  const auto from = static_cast<uint64_t>(start), to = static_cast<uint64_t>(limit);
  const uint64_t distance = limit > start ? to - from : from - to;
  const uint64_t stride =
      delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
  const uint64_t size = distance / stride + (distance % stride != 0);
  if (size > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return InvalidArgument("Range from ", start, " to ", limit, " has ", size, " elements");
  }
  return std::vector<TensorSpec>{{context.input(0).dtype, Shape{static_cast<int64_t>(size)}}};
}

EST_REGISTER_OP("Const", ConstRule);
EST_REGISTER_OP("Placeholder", PlaceholderRule);
EST_REGISTER_OP("Fill", FillRule, [](const Node&, const Tensors& grads) -> Tensors {
  return {Tensor(), ReduceSum(grads[0])};
});
EST_REGISTER_OP("LinSpace", LinSpaceRule);
EST_REGISTER_OP("Range", RangeRule);
EST_REGISTER_OP("ZerosLike", SameAsInput);
EST_REGISTER_OP("OnesLike", SameAsInput);

Tensor Filled(const Shape& shape, DType dtype, double number, absl::string_view name) {
  Graph& graph = Graph::Current();
  const Array value = Array::Scalar(number).Cast(dtype);
  // Fill's shape rule reports a negative size.
  if (!shape.fully_known() || shape.num_elements() > kMaxConstElements) {
    return OpBuilder("Fill", name)
        .Ints("shape_as_tensor", shape.dims())
        .Const("Const", value)
        .Build();
  }
  Array all(DType::kFloat64, shape);
  for (double& element : all.values<double>()) element = number;
  return ConstantIn(graph, all.Cast(dtype), name);
}

}  // namespace

Tensor ConstantIn(Graph& graph, const Array& value, StringArg name) {
  if (!value.valid()) {
    return graph.Fail(InvalidArgument(
        name, ": the constant has no value; does the number of values match the shape?"));
  }
  return graph.AddConst(value, name);
}

Tensor Constant(const Array& value, StringArg name) {
  return ConstantIn(Graph::Current(), value, name);
}

Tensor ConstantLike(const Tensor& like, double value, StringArg name) {
  Graph& graph = GraphFor({like});
  if (!like.valid()) return graph.AddOp("Identity", {like});  // keeps the first error
  if (IsInteger(like.dtype()) && value != std::floor(value)) {
    return graph.Fail(InvalidArgument("the number ", value, " beside '", like.name(), "' (",
                                      like.spec().ToString(),
                                      ") is not an integer; Cast the tensor to a floating dtype"));
  }
  if (like.dtype() == DType::kString) {
    return graph.Fail(InvalidArgument("the number ", value, " cannot be combined with '",
                                      like.name(), "', which holds strings"));
  }
  return ConstantIn(graph, Array::Scalar(value).Cast(like.dtype()), name);
}

Tensor Zeros(const Shape& shape, DType dtype, StringArg name) {
  return Filled(shape, dtype, 0, name);
}

Tensor Ones(const Shape& shape, DType dtype, StringArg name) {
  return Filled(shape, dtype, 1, name);
}

Tensor Fill(const Shape& shape, const Tensor& value, StringArg name) {
  return OpBuilder("Fill", name).Ints("dims", shape.dims()).Input(value).Build();
}

Tensor ZerosLike(const Tensor& x, StringArg name) { return AddOp("ZerosLike", {x}, {}, name); }
Tensor OnesLike(const Tensor& x, StringArg name) { return AddOp("OnesLike", {x}, {}, name); }

Tensor Range(int64_t start, int64_t limit, const RangeOptions& options) {
  const auto scalar = [&options](int64_t value) {
    return Array::Scalar(value).Cast(options.dtype);
  };
  return OpBuilder("Range", options.name)
      .Const("start", scalar(start))
      .Const("limit", scalar(limit))
      .Const("delta", scalar(options.delta))
      .Build();
}

Tensor LinSpace(double start, double stop, int64_t num, const LinSpaceOptions& options) {
  return OpBuilder("LinSpace", options.name)
      .Const("start", Array::Scalar(start).Cast(options.dtype))
      .Const("stop", Array::Scalar(stop).Cast(options.dtype))
      .Int("num", num)
      .Build();
}

Tensor Placeholder(DType dtype, const Shape& shape, StringArg name) {
  return Graph::Current().AddOp("Placeholder", {}, {{"dtype", dtype}, {"shape", shape}}, name);
}

}  // namespace estimator
