#include "estimator/ops/random.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/select.h"

namespace estimator {
namespace {

OutputSpecs FloatingRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(Shape shape, ConstantShape(context, 0));
  const TensorSpec spec{context.attrs.dtype("dtype"), std::move(shape)};
  EST_RETURN_IF_ERROR(CheckFloating(spec));
  return std::vector<TensorSpec>{spec};
}

OutputSpecs UniformIntRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(Shape shape, ConstantShape(context, 0));
  const TensorSpec& low = context.input(1);
  EST_RETURN_IF_ERROR(CheckSameDType(low, context.input(2)));
  if (low.dtype != DType::kInt32 && low.dtype != DType::kInt64) {
    return InvalidArgument("draws int32 or int64, not ", DTypeName(low.dtype));
  }
  return std::vector<TensorSpec>{{low.dtype, std::move(shape)}};
}

EST_REGISTER_OP("RandomUniform", FloatingRule);
EST_REGISTER_OP("RandomStandardNormal", FloatingRule);
EST_REGISTER_OP("TruncatedNormal", FloatingRule);
EST_REGISTER_OP("RandomUniformInt", UniformIntRule);

EST_REGISTER_OP("RandomShuffle", SameAsInput);

// The random op without scaling, in `graph`.
Tensor Draw(Graph& graph, absl::string_view op, const Shape& shape, DType dtype,
            std::optional<int64_t> op_seed) {
  const Tensor dims = ConstantIn(graph, IntArray(Shape{shape.rank()}, shape.dims()), "shape");
  const auto [seed, seed2] = graph.OpSeeds(op_seed);
  return graph.AddOp(op, {dims}, {{"dtype", dtype}, {"seed", seed}, {"seed2", seed2}});
}

// `x` as `dtype` stores it. TensorFlow's bounds are constants of that dtype.
double Rounded(double x, DType dtype) {
  return IsFloating(dtype) ? Array::Scalar(x).Cast(dtype).AsDouble() : x;
}

// drawn * scale + offset, without an op that would change nothing.
Tensor Scaled(const Tensor& drawn, double scale, double offset) {
  Tensor result = drawn;
  if (scale != 1) result *= scale;
  if (offset != 0) result += offset;
  return result;
}

}  // namespace

Tensor RandomUniform(const Shape& shape, const RandomUniformOptions& options) {
  Graph& graph = Graph::Current();
  const NameScope scope(options.name, graph);
  const double low = Rounded(options.minval, options.dtype);
  return Scaled(Draw(graph, "RandomUniform", shape, options.dtype, options.seed),
                Rounded(options.maxval, options.dtype) - low, low);
}

Tensor RandomUniformInt(const Shape& shape, int64_t minval, int64_t maxval,
                        const RandomUniformIntOptions& options) {
  Graph& graph = Graph::Current();
  if (minval >= maxval) {
    return graph.Fail(InvalidArgument(options.name, ": minval must be less than maxval, got ",
                                      minval, " and ", maxval));
  }
  const NameScope scope(options.name, graph);
  const auto [graph_seed, seed2] = graph.OpSeeds(options.seed);
  return OpBuilder("RandomUniformInt", "RandomUniformInt")
      .Const("shape", IntArray(Shape{shape.rank()}, shape.dims()))
      .Const("min", Array::Scalar(minval).Cast(options.dtype))
      .Const("max", Array::Scalar(maxval).Cast(options.dtype))
      .Attr("seed", graph_seed)
      .Attr("seed2", seed2)
      .Build();
}

Tensor RandomNormal(const Shape& shape, const RandomNormalOptions& options) {
  Graph& graph = Graph::Current();
  const NameScope scope(NameOr(options.name, "random_normal"), graph);
  return Scaled(Draw(graph, "RandomStandardNormal", shape, options.dtype, options.seed),
                options.stddev, options.mean);
}

Tensor TruncatedNormal(const Shape& shape, const RandomNormalOptions& options) {
  Graph& graph = Graph::Current();
  const NameScope scope(NameOr(options.name, "truncated_normal"), graph);
  return Scaled(Draw(graph, "TruncatedNormal", shape, options.dtype, options.seed), options.stddev,
                options.mean);
}

Tensor RandomShuffle(const Tensor& x, std::optional<int64_t> seed, StringArg name) {
  Graph& graph = GraphFor({x});
  const auto [graph_seed, seed2] = graph.OpSeeds(seed);
  return graph.AddOp("RandomShuffle", {x}, {{"seed", graph_seed}, {"seed2", seed2}}, name);
}

// Source: TF 2.15 nn_ops._dropout.
Tensor Dropout(const Tensor& x, DropoutOptions options, StringArg name) {
  Graph& graph = GraphFor({x});
  if (!(options.rate >= 0 && options.rate < 1)) {
    return graph.Fail(InvalidArgument(name, ": rate must be in [0, 1), but it is ", options.rate));
  }
  if (!x.valid()) return AddOp("Identity", {x}, {}, name);
  const NameScope scope(name, graph);
  const absl::Status floating = CheckFloating(x.spec());
  if (!floating.ok()) return graph.Fail(floating);
  const Shape noise_shape = options.noise_shape.value_or(x.shape());
  const absl::StatusOr<Shape> both = BroadcastShapes(x.shape(), noise_shape);
  if (!both.ok() || !(*both == x.shape())) {
    return graph.Fail(InvalidArgument("noise_shape ", noise_shape.ToString(),
                                      " does not broadcast to ", x.shape().ToString()));
  }
  if (options.rate == 0) return x;
  const Tensor scaled = Multiply(x, 1 / (1 - options.rate), "Mul");
  const Tensor uniform = [&] {
    const NameScope inner("random_uniform", graph);
    return Draw(graph, "RandomUniform", noise_shape, x.dtype(), options.seed);
  }();
  return Where(GreaterEqual(uniform, options.rate), scaled, 0);
}

}  // namespace estimator
