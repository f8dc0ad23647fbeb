// HostFunction: a user's function that runs on the host, and the tensors that it gets: the types of
// eval_metrics and host_call.
#ifndef ESTIMATOR_TRAINING_MODEL_HOST_FUNCTION_H_
#define ESTIMATOR_TRAINING_MODEL_HOST_FUNCTION_H_

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "estimator/base/status.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// Whether a function has one parameter for each value. Signature is its std::function.
template <typename Value, typename Signature>
struct ParameterForEach : std::false_type {};
template <typename Value, typename Result, typename... Args>
struct ParameterForEach<Value, std::function<Result(Args...)>>
    : std::bool_constant<(std::is_convertible_v<const Value&, Args> && ...)> {
  static constexpr size_t kCount = sizeof...(Args);
  template <typename F>
  static Result Call(F& fn, const std::vector<Value>& values) {
    return [&]<size_t... I>(std::index_sequence<I...>) { return fn(values[I]...); }
    (std::index_sequence_for<Args...>());
  }
};
// Of F, a function or a lambda. It is false for a lambda with `auto` parameters.
template <typename Value, typename F>
auto ParametersOf(int) -> ParameterForEach<Value, decltype(std::function(std::declval<F>()))>;
template <typename Value, typename F>
auto ParametersOf(...) -> std::false_type;

// Three forms of function, each with its tensors:
//   {Fn, {labels, logits}}                            Fn(const Value& labels, const Value& logits)
//   {Fn, {labels, logits}}                            Fn(const std::vector<Value>& tensors)
//   {Fn, {{"labels", labels}, {"logits", logits}}}  Fn(const std::map<std::string, Value>& tensors)
// Fn is a function or a lambda.
template <typename Result, typename Value>
struct HostFunction {
  using Dict = std::map<std::string, Value>;
  template <typename F>
  static constexpr bool kTakesList = std::is_invocable_v<F&, const std::vector<Value>&>;
  template <typename F>
  static constexpr bool kTakesDict = std::is_invocable_v<F&, const Dict&>;

  HostFunction() = default;
  HostFunction(std::nullptr_t, std::vector<Tensor> values) : tensors(std::move(values)) {}

  template <typename F>
  requires(!kTakesDict<F> || kTakesList<F>) HostFunction(F call, std::vector<Tensor> values)
      : tensors(std::move(values)) {
    using Each = decltype(ParametersOf<Value, F>(0));
    static_assert(kTakesList<F> || Each::value,
                  "the function of eval_metrics takes a `const Tensor&` for each tensor of the "
                  "list, that of host_call a `const Array&`; or both take a std::vector of them");
    if constexpr (kTakesList<F>) {
      Set(std::move(call));
    } else if constexpr (Each::value) {
      Set([call = std::move(call)](const std::vector<Value>& list) mutable {
        return Each::Call(call, list);
      });
      if (Each::kCount != tensors.size()) {
        status = InvalidArgument("the function takes ", Each::kCount, " tensors, given ",
                                 tensors.size());
      }
    }
  }

  template <typename F>
  requires(kTakesDict<F>) HostFunction(F call, const std::map<std::string, Tensor>& named) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : named) {
      names.push_back(name);
      tensors.push_back(tensor);
    }
    Set([call = std::move(call), names](const std::vector<Value>& list) mutable {
      Dict values;
      for (size_t i = 0; i < names.size(); ++i) values[names[i]] = list[i];
      return call(values);
    });
  }
  template <typename F>
  requires(kTakesDict<F> || !(kTakesList<F> || std::is_invocable_v<F&>))
      HostFunction(F call, std::initializer_list<std::pair<const std::string, Tensor>> named) {
    static_assert(
        kTakesDict<F>,
        "with named tensors, the function of eval_metrics takes one `const "
        "std::map<std::string, Tensor>&`, that of host_call one of Arrays; for a parameter "
        "for each tensor give them without names: {labels, logits}");
    if constexpr (kTakesDict<F>)
      *this = HostFunction(std::move(call), std::map<std::string, Tensor>(named));
  }

  std::function<Result(const std::vector<Value>&)> fn;
  std::vector<Tensor> tensors;  // for a dict, in the order of the names
  // INVALID_ARGUMENT if the function has another number of parameters than there are tensors.
  absl::Status status;

 private:
  template <typename F>
  void Set(F call) {
    using Returned = std::invoke_result_t<F&, const std::vector<Value>&>;
    constexpr bool kReturnsNothing =
        std::is_void_v<Returned> && std::is_same_v<Result, absl::Status>;
    static_assert(kReturnsNothing || std::is_convertible_v<Returned, Result>,
                  "the function of eval_metrics returns a MetricMap, that of host_call an "
                  "absl::Status or nothing");
    if constexpr (kReturnsNothing) {
      fn = [call = std::move(call)](const std::vector<Value>& values) mutable {
        call(values);
        return absl::OkStatus();
      };
    } else if constexpr (std::is_convertible_v<Returned, Result>) {
      fn = std::move(call);
    }
  }
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_HOST_FUNCTION_H_
