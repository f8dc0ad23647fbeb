// A function of existing ops with a gradient of its own.
//
//   // log(1 + e^x). The gradient that follows from the ops is NaN for a large x.
//   const auto log1p_exp = CustomGradient(
//       [](const Tensor& x) { return Log(1 + Exp(x)); },
//       [](const Tensor& x, const Tensor& y, const Tensor& dy) { return dy * Sigmoid(x); });
//   const Tensor y = log1p_exp(x);
#ifndef ESTIMATOR_OPS_CUSTOM_GRADIENT_H_
#define ESTIMATOR_OPS_CUSTOM_GRADIENT_H_

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "estimator/graph/tensor.h"

namespace estimator {

namespace internal {

// Calls forward with `inputs`, and gives its outputs the gradient `backward`. Returns the outputs.
Tensors WithGradient(
    const Tensors& inputs, const std::function<Tensors(const Tensors&)>& forward,
    std::function<Tensors(const Tensors& inputs, const Tensors& outputs, const Tensors& grads)>
        backward);

inline Tensors AsTensors(Tensor tensor) { return {std::move(tensor)}; }
inline Tensors AsTensors(Tensors tensors) { return tensors; }

// Calls fn(list[0], list[1], ...).
template <typename Fn, size_t... I>
auto CallWithEach(const Fn& fn, const Tensors& list, std::index_sequence<I...>) {
  return fn(list[I]...);
}

// Calls backward with the arguments that it takes. I: 0, ..., number of inputs - 1.
template <bool kOneOutput, typename Backward, size_t... I>
Tensors CallBackward(const Backward& backward, const Tensors& inputs, const Tensors& outputs,
                     const Tensors& grads, std::index_sequence<I...>) {
  if constexpr (kOneOutput && std::is_invocable_v<const Backward&, decltype((inputs[I]))...,
                                                  const Tensor&, const Tensor&>) {
    return AsTensors(backward(inputs[I]..., outputs[0], grads[0]));
  } else if constexpr (kOneOutput && std::is_invocable_v<const Backward&, const Tensor&>) {
    return AsTensors(backward(grads[0]));
  } else if constexpr (std::is_invocable_v<const Backward&, const Tensors&, const Tensors&,
                                           const Tensors&>) {
    return AsTensors(backward(inputs, outputs, grads));
  } else {
    static_assert(
        kOneOutput && !kOneOutput,  // false, and depends on the template
        "CustomGradient: backward takes (const Tensor& dy), or the inputs of forward one by one, "
        "then its output y and dy, or (inputs, outputs, grads) as three const "
        "std::vector<Tensor>&; if forward returns several tensors, it takes the last form");
    return {};
  }
}

}  // namespace internal

// A function that computes `forward`, with the gradient that `backward` computes.
//   forward: takes any number of const Tensor&. Returns a Tensor or a std::vector<Tensor>. A call
//     of the returned function takes and returns the same.
//   backward: returns the gradient for each input of forward, with the input's type: a Tensor if
//     there is one input, else a std::vector<Tensor>. Tensor() means that no gradient flows to
//     the input. It takes one of
//       dy                       the gradient that flows into the output
//       x..., y, dy              also the inputs and the output of forward, one by one
//       inputs, outputs, grads   three std::vector<Tensor>; the only form if forward returns a
//                                vector. The gradient is zeros for an output that nothing uses.
// Gradients() calls `backward`. Ops that repeat those of `forward` cost nothing, because equal ops
// are merged. Random ops are not merged, so forward must return their results as outputs.
// Errors (kept by the graph): INVALID_ARGUMENT if backward returns another number of gradients or
// another type; if forward depends on a trainable variable that is not one of its inputs, because
// that variable would get no gradient.
// Source: TF 2.15 tf.custom_gradient; the graph has its IdentityN with `_gradient_op_type`.
template <typename Forward, typename Backward>
auto CustomGradient(Forward forward, Backward backward) {
  return [forward = std::move(forward), backward = std::move(backward)](const auto&... inputs) {
    using Each = std::index_sequence_for<decltype(inputs)...>;
    using Result =
        decltype(internal::CallWithEach(forward, std::declval<const Tensors&>(), Each()));
    constexpr bool kOneOutput = std::is_convertible_v<Result, Tensor>;
    Tensors outputs = internal::WithGradient(
        {Tensor(inputs)...},
        [&forward](const Tensors& in) {
          return internal::AsTensors(internal::CallWithEach(forward, in, Each()));
        },
        [backward](const Tensors& in, const Tensors& out, const Tensors& grads) {
          return internal::CallBackward<kOneOutput>(backward, in, out, grads, Each());
        });
    if constexpr (kOneOutput) {
      return outputs[0];
    } else {
      return outputs;
    }
  };
}

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CUSTOM_GRADIENT_H_
