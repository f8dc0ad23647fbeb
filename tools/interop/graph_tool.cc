// Builds a graph with most ops, gradients and optimizers, runs it, and writes it, for
// testdata/interop/check_graph.py:
//
//   graph_tool DIRECTORY
//
// writes what graph_values.h says.
#include <functional>
#include <string>
#include <vector>

#include "estimator/estimator.h"
#include "tools/interop/graph_values.h"
#include "tools/interop/tool_main.h"

namespace estimator {
namespace {

Tensor Weights(const std::string& name, const Shape& shape) {
  return GetVariable(name, shape,
                     {.initializer = initializers::RandomUniform({.minval = 0.1, .maxval = 0.9}),
                      .trainable = false});
}

void BuildElementwise() {
  const NameScope scope("elementwise");
  const Tensor x = Weights("ew_x", {3, 4}), y = Weights("ew_y", {4});
  const Tensor n = Cast(x * 10.0f, DType::kInt32), m = Cast(y * 5.0f + 1.0f, DType::kInt32);
  for (const auto& op : {Abs, Negate, Sign, Square, Sqrt, Rsqrt, Exp, Expm1, Log, Log1p, Sin, Cos,
                         Tan, Erf, Floor, Ceil, Round, Reciprocal})
    op(x * 3.0f, "unary");
  for (const auto& op : {Add, Subtract, Multiply, Divide, DivideNoNan, Maximum, Minimum, Pow,
                         SquaredDifference, Atan2})
    op(x, y, "binary");
  for (const auto& op : {FloorDiv, FloorMod, TruncateDiv}) op(n, m, "integer");
  for (const auto& op : {Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual})
    op(n, m, "compare");
  const Tensor less = Less(x, y), finite = IsFinite(Log(x));
  LogicalAnd(less, finite), LogicalOr(less, LogicalNot(finite)), IsNan(x), IsInf(x);
  Where(less, x, y), AddN({x, x, x}), ClipByValue(x, 0.2f, 0.6f);
  for (const auto& op :
       {Relu, Relu6, Elu, Selu, Softplus, Softsign, Sigmoid, Tanh, Swish, Gelu, GeluApproximate})
    op(x - 0.5f);
  LeakyRelu(x - 0.5f, 0.1f);
}

void BuildShapes() {
  const NameScope scope("shapes");
  const Tensor x = Weights("sh_x", {2, 3, 4});
  const Tensor ids = Constant(Array::Of<int32_t>({3}, {1, 0, 1}));
  ShapeOf(x), SizeOf(x), RankOf(x), Reshape(x, {4, 6}), ExpandDims(x, 1), Squeeze(ExpandDims(x, 0)),
      BroadcastTo(x, {5, 2, 3, 4});
  EnsureShape(x, {2, 3, 4}), Transpose(x, {2, 0, 1}), Concat({x, x}, 1), Split(x, 2, {.axis = 2}),
      Split(x, std::vector<int64_t>{1, 3}, {.axis = 2});
  Stack({x, x}, 1), Unstack(x, 1), Reverse(x, {1}), Tile(x, {1, 2, 1}),
      Slice(x, {0, 1, 1}, {2, 2, 3});
  StridedSlice(x, {Slicing::At(1), Slicing::Span(0, 3, 2)}), Pad(x, {{0, 1}, {1, 1}, {2, 0}}),
      Pad(x, {{0, 1}, {1, 1}, {2, 0}}, {.constant_values = 7});
  MirrorPad(x, {{0, 0}, {1, 1}, {2, 0}}, MirrorMode::kReflect), Gather(x, ids),
      Gather(x, ids, {.axis = 2});
  GatherNd(x, Constant(Array::Of<int32_t>({2, 2}, {0, 1, 1, 2}))),
      ScatterNd(Constant(Array::Of<int32_t>({2, 1}, {0, 3})), Reshape(x, {2, 12}), {5, 12});
  UnsortedSegmentSum(Reshape(x, {3, 8}), ids, 2), OneHot(ids, 4), ArgMax(x, 2), ArgMin(x, 1),
      TopK(x, 2), Cumsum(x, 1), MatrixBandPart(x, 1, 0);
  InTopK(Reshape(x, {3, 8}), ids, 3), Constant(Array::Of<int64_t>({2}, {1, 2})),
      Fill({2, 3}, Constant(1.5f));
  for (const auto& op : {ReduceSum, ReduceMean, ReduceProd, ReduceMax, ReduceMin})
    op(x, {1}, {.keepdims = true, .name = "reduce"});
  ReduceAll(Less(x, 0.95f)), ReduceAny(Less(x, 0.2f)), ReduceLogSumExp(x, 1), L2Loss(x), Norm(x),
      Einsum("abc,adc->abd", {x, x});
  RandomUniformInt({4}, 0, 9), RandomNormal({4}), TruncatedNormal({4});
}

void BuildLinearAlgebra() {
  const NameScope scope("linear_algebra");
  const Tensor x = Weights("la_x", {2, 3, 3}) + MatrixDiag(Fill({2, 3}, Constant(2.0f)));
  const Tensor b = Weights("la_b", {2, 3, 2}), product = MatMul(x, x, {.transpose_b = true});
  const Tensor l = Cholesky(product);
  CholeskySolve(l, b), MatrixInverse(x), MatrixSolve(x, b, {.adjoint = true}),
      MatrixSolveLs(x, b, {.l2_regularizer = 0.5}), MatrixTriangularSolve(x, b, {.lower = false});
  MatrixDeterminant(x), LogMatrixDeterminant(x), Qr(x), Svd(x, {.full_matrices = true}),
      SelfAdjointEig(product);
}

// Builds a small network with every kind of layer. Returns its loss.
Tensor BuildNetwork() {
  const Tensor images = Weights("images", {4, 8, 8, 3});
  const Tensor labels = Constant(Array::Of<int32_t>({4}, {0, 2, 1, 2}), "labels");
  Tensor x = layers::Conv2D(
      images, {.filters = 4, .kernel_size = 3, .padding = Padding::kSame, .activation = Relu});
  x = layers::MaxPooling2D(layers::BatchNormalization(x, {.training = true}),
                           {.pool_size = 2, .strides = 2});
  x = layers::SeparableConv2D(
      x, {.filters = 6, .kernel_size = 3, .padding = Padding::kSame, .activation = Tanh});
  x = layers::AveragePooling2D(
      layers::Conv2DTranspose(x, {.filters = 5, .kernel_size = 2, .strides = 2}),
      {.pool_size = 2, .strides = 2});
  x = layers::LayerNorm(layers::Dense(layers::Flatten(x), {.units = 7, .activation = Gelu}));
  const Tensor rows = layers::Embedding(labels, {.input_dim = 3, .output_dim = 7});
  x = layers::Dropout(Concat({x, rows}, 1), {.rate = 0.3, .training = true});
  return losses::SparseSoftmaxCrossEntropy(labels, layers::Dense(x, {.units = 3}));
}

std::vector<Operation> BuildTraining() {
  std::vector<Operation> train_ops;
  const auto add =
      [&](const std::string& name,
          const std::function<Operation(const Tensor&, const train::MinimizeOptions&)>& minimize) {
        const size_t begin = Graph::Current().variables().size();
        const VariableScope scope(name);
        const Tensor loss = BuildNetwork();
        std::vector<Variable> own;
        const std::vector<Variable> all = Graph::Current().variables();
        for (size_t i = begin; i < all.size(); ++i) {
          if (all[i].trainable()) own.push_back(all[i]);
        }
        train_ops.push_back(
            minimize(loss, {.var_list = own, .increment_global_step = train_ops.empty()}));
      };
  const auto with = [](auto optimizer) {
    return [optimizer](const Tensor& loss, const train::MinimizeOptions& options) mutable {
      return optimizer.Minimize(loss, options);
    };
  };
  add("sgd", with(train::GradientDescent(0.1)));
  add("momentum", with(train::Momentum(0.1, 0.9)));
  add("adam", with(train::Adam(0.1)));
  add("rms_prop", with(train::RMSProp(0.1)));
  add("adagrad", with(train::Adagrad(0.1)));
  add("adadelta", with(train::Adadelta(0.1)));
  add("ftrl", with(train::Ftrl(0.1)));
  add("ftrl_shrinkage", with(train::Ftrl(0.1, {.l2_shrinkage_regularization_strength = 0.1})));
  add("proximal_adagrad", with(train::ProximalAdagrad(0.1, {.l1_regularization_strength = 0.01})));
  add("rms_prop_centered", with(train::RMSProp(0.1, {.centered = true})));
  add("adam_weight_decay", with(train::AdamWeightDecay(0.1, {.weight_decay_rate = 0.01})));
  add("adafactor", with(train::Adafactor(0.1, {.beta1 = 0.9})));
  add("adabelief", with(train::AdaBelief(0.1, {.epsilon = 1e-8})));
  add("lamb", with(train::LAMB(0.1)));
  add("lars", with(train::LARS(0.1)));
  add("averages", [](const Tensor& loss, const train::MinimizeOptions& options) {
    const Operation step = train::Momentum(0.1, 0.9).Minimize(loss, options);
    train::ExponentialMovingAverage averages(0.9, {.num_updates = GetOrCreateGlobalStep()});
    return Group({step, averages.Apply(options.var_list, step)});
  });
  return train_ops;
}

absl::Status Run(const std::vector<std::string>& arguments) {
  Graph graph;
  graph.set_seed(7);
  const GraphScope scope(graph);
  BuildElementwise();
  BuildShapes();
  BuildLinearAlgebra();
  GetOrCreateGlobalStep();
  std::vector<Operation> updates = BuildTraining();
  EST_RETURN_IF_ERROR(graph.status());
  updates.insert(updates.end(), graph.update_ops().begin(), graph.update_ops().end());
  (void)Group(updates, "everything");
  return WriteGraphAndValues(graph, updates, arguments[0]);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::ToolMain(argc, argv, "graph_tool DIRECTORY", estimator::Run);
}
