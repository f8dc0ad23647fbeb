// Builds a graph with every kind of loop and branch, their gradients and a training step, runs it,
// and writes it, for testdata/interop/check_loops.py:
//
//   loops_tool DIRECTORY
//
// writes what graph_values.h says.
#include <string>
#include <vector>

#include "estimator/estimator.h"
#include "estimator/graph/gradients.h"
#include "tools/interop/graph_values.h"
#include "tools/interop/tool_main.h"

namespace estimator {
namespace {

Tensor Weights(const std::string& name, const Shape& shape) {
  return GetVariable(name, shape,
                     {.initializer = initializers::RandomUniform({.minval = 0.1, .maxval = 0.9})});
}

// v <- tanh(v * w + trip) while its sum is below a limit.
Tensor Grow(const Tensor& w, const Tensor& start, const WhileLoopOptions& options) {
  const Tensors last =
      WhileLoop([](const Tensors& v) { return Less(ReduceSum(v[1]), 40.0f); },
                [&w](const Tensors& v) {
                  return Tensors{Add(v[0], 1), Add(Multiply(v[1], w), Cast(v[0], DType::kFloat32))};
                },
                {Constant(0), start}, options);
  return last[1];
}

std::vector<Tensor> BuildLosses() {
  const Tensor w = Weights("w", {3}), rows = Weights("rows", {5, 3}), m = Weights("m", {3, 3});
  std::vector<Tensor> losses;
  const auto add = [&losses](const Tensor& value) { losses.push_back(ReduceSum(value)); };
  add(Grow(w, Gather(rows, Constant(0)), {.name = "unlimited"}));
  add(Grow(w, Gather(rows, Constant(1)), {.maximum_iterations = 20, .name = "limited"}));
  add(Grow(w, Gather(rows, Constant(1)), {.maximum_iterations = 2, .name = "cut"}));
  add(MapFn([&](const Tensor& row) { return Sigmoid(Multiply(row, w)); }, rows));
  // Gradients of single examples, clipped.
  add(MapFn(
      [&](const Tensor& row) {
        const Tensor loss = ReduceSum(Square(Tanh(Multiply(row, w))));
        return ClipByNorm(Gradients({loss}, {w})[0], 0.3f);
      },
      StopGradient(rows), "per_example"));
  const auto cell = [&](const Tensor& acc, const Tensor& row) {
    return Tanh(Add(Reshape(MatMul(Reshape(acc, {1, 3}), m), {3}), row));
  };
  add(Scan(cell, rows, w));
  add(Scan(cell, rows, w, {.reverse = true, .name = "scan_reverse"}));
  add(Foldl(cell, rows, w));
  add(Foldr(cell, rows, w));
  const Tensor above = Greater(ReduceSum(w), 1.0f);
  add(Cond(
      above, [&] { return Multiply(w, 2.0f); },
      [&] { return Gather(Multiply(m, w), Constant(0)); }));
  add(Cond(
      LogicalNot(above), [&] { return w; }, [&] { return Exp(w); }, "cond_not"));
  add(SwitchCase(Constant(1), {[&] { return Tensors{w}; }, [&] { return Tensors{Square(w)}; },
                               [&] { return Tensors{Sqrt(w)}; }})[0]);
  // A branch in a loop in a loop.
  add(MapFn(
      [&](const Tensor& row) { return Grow(w, row, {.maximum_iterations = 6, .name = "inner"}); },
      rows, "nested"));
  add(MapFn(
      [&](const Tensor& row) {
        return Cond(
            Greater(ReduceSum(row), 1.5f), [&] { return Multiply(row, w); },
            [&] { return Negate(row); });
      },
      rows, "branch_in_loop"));
  const Tensors array =
      WhileLoop([](const Tensors& v) { return Less(v[0], 4); },
                [&](const Tensors& v) {
                  return Tensors{Add(v[0], 1),
                                 TensorArray(v[1]).Write(v[0], Multiply(w, Gather(rows, v[0])))};
                },
                {Constant(0), TensorArray({DType::kFloat32, {3}}, 6)}, {.name = "array"});
  add(array[1]);
  return losses;
}

absl::Status Run(const std::vector<std::string>& arguments) {
  Graph graph;
  graph.set_seed(7);
  const GraphScope scope(graph);
  GetOrCreateGlobalStep();
  const Tensor loss = AddN(BuildLosses(), "loss");
  // Random numbers in a loop differ from TensorFlow's. Nothing else depends on them.
  MapFn([](const Tensor& row) { return layers::Dropout(row, {.rate = 0.5, .training = true}); },
        Fill({4, 2}, Constant(1.0f)), "random_in_loop");
  const Operation train_op = Group({train::Momentum(0.01, 0.9).Minimize(loss)}, "train");
  EST_RETURN_IF_ERROR(graph.status());
  return WriteGraphAndValues(graph, {train_op}, arguments[0]);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::ToolMain(argc, argv, "loops_tool DIRECTORY", estimator::Run);
}
