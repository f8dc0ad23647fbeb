#include "estimator/ops/activations.h"

#include <cmath>

#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/select.h"

namespace estimator {
namespace {

// Registers an activation whose gradient op reads its input: Grad(gradient, x).
bool RegisterByFeatures(const char* name, const char* grad_name, GradientFn grad_gradient) {
  RegisterOp(name, SameFloating, [grad_name](const Node& node, const Tensors& grads) -> Tensors {
    return {AddOp(grad_name, {grads[0], node.input(0)}, node.attrs())};
  });
  return RegisterOp(grad_name, SameFloating, std::move(grad_gradient));
}

// Registers a piecewise linear activation: its gradient op is linear in the first operand, and its
// derivative with respect to the second is zero.
bool RegisterPiecewise(const char* name, const char* grad_name) {
  return RegisterByFeatures(
      name, grad_name, [grad_name](const Node& node, const Tensors& grads) -> Tensors {
        return {AddOp(grad_name, {grads[0], node.input(1)}, node.attrs()), Tensor()};
      });
}

// Registers an activation whose gradient op reads its output: Grad(gradient, y).
bool RegisterByOutputs(const char* name, const char* grad_name) {
  RegisterOp(name, SameFloating, [grad_name](const Node& node, const Tensors& grads) -> Tensors {
    return {AddOp(grad_name, {grads[0], ResultOf(node)})};
  });
  return RegisterOp(
      grad_name, SameFloating, [grad_name](const Node& node, const Tensors& grads) -> Tensors {
        const Tensor &gradient = node.input(0), &y = node.input(1);
        return {AddOp(grad_name, {grads[0], y}), Where(Less(y, 0), grads[0] * gradient, 0)};
      });
}

// Registers sigmoid or tanh, whose gradient op has the operands in the other order:
// Grad(y, gradient). second(y) = d(Grad / gradient) / dy.
bool RegisterSigmoidal(const char* name, const char* grad_name, Tensor (*second)(const Tensor& y)) {
  RegisterOp(name, SameFloating, [grad_name](const Node& node, const Tensors& grads) -> Tensors {
    return {AddOp(grad_name, {ResultOf(node), grads[0]})};
  });
  return RegisterOp(grad_name, SameFloating,
                    [grad_name, second](const Node& node, const Tensors& grads) -> Tensors {
                      const Tensor &y = node.input(0), &gradient = node.input(1);
                      return {grads[0] * gradient * second(y), AddOp(grad_name, {y, grads[0]})};
                    });
}

[[maybe_unused]] const bool registered[] = {
    RegisterPiecewise("Relu", "ReluGrad"),
    RegisterPiecewise("Relu6", "Relu6Grad"),
    RegisterPiecewise("LeakyRelu", "LeakyReluGrad"),
    RegisterByOutputs("Elu", "EluGrad"),
    RegisterByOutputs("Selu", "SeluGrad"),
    RegisterByFeatures("Softplus", "SoftplusGrad",
                       [](const Node& node, const Tensors& grads) -> Tensors {
                         const Tensor &gradient = node.input(0), &x = node.input(1);
                         return {AddOp("SoftplusGrad", {grads[0], x}),
                                 grads[0] * gradient / (Exp(-x) + 2.0 + Exp(x))};
                       }),
    RegisterByFeatures("Softsign", "SoftsignGrad",
                       [](const Node& node, const Tensors& grads) -> Tensors {
                         const Tensor &gradient = node.input(0), &x = node.input(1);
                         return {AddOp("SoftsignGrad", {grads[0], x}),
                                 -2.0 * grads[0] * gradient * Sign(x) / Pow(Abs(x) + 1.0, 3.0)};
                       }),
    RegisterSigmoidal("Sigmoid", "SigmoidGrad", [](const Tensor& y) { return 1.0 - 2.0 * y; }),
    RegisterSigmoidal("Tanh", "TanhGrad", [](const Tensor& y) { return -2.0 * y; }),
};

}  // namespace

Tensor Relu(const Tensor& x) { return AddOp("Relu", {x}); }
Tensor Relu6(const Tensor& x) { return AddOp("Relu6", {x}); }
Tensor Elu(const Tensor& x) { return AddOp("Elu", {x}); }
Tensor Selu(const Tensor& x) { return AddOp("Selu", {x}); }
Tensor Softplus(const Tensor& x) { return AddOp("Softplus", {x}); }
Tensor Softsign(const Tensor& x) { return AddOp("Softsign", {x}); }
Tensor Sigmoid(const Tensor& x) { return AddOp("Sigmoid", {x}); }
Tensor Tanh(const Tensor& x) { return AddOp("Tanh", {x}); }
Tensor LeakyRelu(const Tensor& x, float alpha) {
  return AddOp("LeakyRelu", {x}, {{"alpha", alpha}});
}

Tensor Swish(const Tensor& x) {
  const NameScope scope("swish", GraphFor({x}));
  return x * Sigmoid(x);
}

Tensor Gelu(const Tensor& x) {
  const NameScope scope("Gelu", GraphFor({x}));
  return 0.5 * x * (1.0 + Erf(x / std::sqrt(2.0)));
}

Tensor GeluApproximate(const Tensor& x) {
  const NameScope scope("Gelu", GraphFor({x}));
  return 0.5 * x * (1.0 + Tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * Pow(x, 3.0))));
}

}  // namespace estimator
