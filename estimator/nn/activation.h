// Activation: the type of a layer's `.activation`. It holds Relu, Tanh, a lambda, or nothing.
#ifndef ESTIMATOR_NN_ACTIVATION_H_
#define ESTIMATOR_NN_ACTIVATION_H_

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// A function of one tensor. An op function may have further default arguments, such as the name in
// Relu(x, name = "Relu"); the call uses the defaults.
class Activation {
 public:
  Activation() = default;
  Activation(std::nullptr_t) {}  // NOLINT: as Python's None
  template <typename Fn>
  requires(!std::same_as<std::remove_cvref_t<Fn>, Activation> &&
           std::is_invocable_r_v<Tensor, Fn&, const Tensor&>) Activation(Fn fn)
      : fn_(std::move(fn)) {}  // NOLINT: by design
  // For an op function by its name: a function pointer does not carry default arguments.
  template <std::convertible_to<StringArg> Name>
  Activation(Tensor (*fn)(const Tensor&, Name))  // NOLINT
      : fn_([fn](const Tensor& x) { return fn(x, ""); }) {}

  explicit operator bool() const { return fn_ != nullptr; }
  // Returns x itself if there is no function.
  Tensor operator()(const Tensor& x) const { return fn_ ? fn_(x) : x; }

 private:
  std::function<Tensor(const Tensor&)> fn_;
};

}  // namespace estimator

#endif  // ESTIMATOR_NN_ACTIVATION_H_
