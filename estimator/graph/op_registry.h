// What a graph knows about an op besides its row (op_def/op_def.h): the shape rule and the
// gradient. An op family registers its ops in the file of the functions that users call
// (`estimator/ops/NAME.cc`).
#ifndef ESTIMATOR_GRAPH_OP_REGISTRY_H_
#define ESTIMATOR_GRAPH_OP_REGISTRY_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/attrs.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/graph/node.h"

namespace estimator {

using OutputSpecs = absl::StatusOr<std::vector<TensorSpec>>;

// The inputs and attributes that a shape rule is given.
struct ShapeContext {
  const Tensors& inputs;
  const Attrs& attrs;
  const std::vector<std::shared_ptr<Function>>& functions;

  const TensorSpec& input(int i) const { return inputs[static_cast<size_t>(i)].spec(); }
  int num_inputs() const { return static_cast<int>(inputs.size()); }
  // The value of input i, which must be known when the graph is built (axes, a shape, paddings), as
  // int64 values for any integer dtype.
  // Errors: INVALID_ARGUMENT if it depends on a placeholder, a variable or a random op: a shape
  // that depends on it would not be static.
  absl::StatusOr<std::vector<int64_t>> ConstantInts(int i) const;
};

// Returns the spec of every output. Errors: INVALID_ARGUMENT with both values. The graph adds the
// names of op and node and the types of the inputs.
using ShapeFn = std::function<OutputSpecs(const ShapeContext&)>;

//   grads: one for each output of `node`; invalid if nothing depends on that output.
// Returns one for each input; an invalid Tensor means that no gradient flows to it.
using GradientFn = std::function<Tensors(const Node& node, const Tensors& grads)>;
// Result `i` of a node with inputs, for its gradient.
inline Tensor ResultOf(const Node& node, int i = 0) {
  return Tensor(node.input(0).graph(), const_cast<Node*>(&node), i);
}

struct OpRules {
  std::string name;
  // -1: any number of inputs.
  int num_inputs = 0;
  ShapeFn shape;
  // Null: Gradients() through this op is an error (unless not_differentiable).
  GradientFn gradient = nullptr;
  // No gradient flows through the op, and that is no error: ArgMax, Equal, Shape, as in TensorFlow.
  bool not_differentiable = false;
  // Two equal nodes have different values, so the op is neither merged nor folded (random ops,
  // placeholders).
  bool stateful = false;
};

// An op that has a row: EST_REGISTER_OP("Relu", SameShape, ReluGradient);
// REQUIRES: the op is not registered yet.
bool RegisterOp(absl::string_view name, ShapeFn shape, GradientFn gradient = nullptr);
// An op of a user's program, which gets a row:
//   EST_REGISTER_OP({.name = "Shrink", .num_inputs = 1, .shape = Rule, .gradient = Gradient});
// The library that does this needs alwayslink = True.
bool RegisterOp(OpRules rules);
const OpRules* FindOp(absl::string_view name);
std::vector<std::string> RegisteredOps();  // sorted

#define EST_REGISTER_OP(...) EST_REGISTER_OP_AT(__COUNTER__, __VA_ARGS__)
#define EST_REGISTER_OP_AT(counter, ...) EST_REGISTER_OP_AT2(counter, __VA_ARGS__)
#define EST_REGISTER_OP_AT2(counter, ...) \
  [[maybe_unused]] static const bool op_registered_##counter = ::estimator::RegisterOp(__VA_ARGS__)

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_OP_REGISTRY_H_
