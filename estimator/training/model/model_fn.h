// ModelFnOf: the type of Options.model_fn.
#ifndef ESTIMATOR_TRAINING_MODEL_MODEL_FN_H_
#define ESTIMATOR_TRAINING_MODEL_MODEL_FN_H_

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/training/input/features.h"
#include "estimator/training/input/mode.h"

namespace estimator {

// Holds a function or a lambda
//   Spec model_fn(const Features& features, const Labels& labels, Mode mode, const Params& params)
// As in TensorFlow, labels, mode and params may be left out. A bare tensor may be taken as
// `const Tensor&`, as features and as labels.
//   Spec: EstimatorSpec, or tpu::TPUEstimatorSpec.
// Errors (kept by the graph): INVALID_ARGUMENT if the input has labels that model_fn does not take.
// Source: TF 2.15 Estimator._call_model_fn.
template <typename Spec, typename Params>
class ModelFnOf {
 public:
  using Fn = std::function<Spec(const Features&, const Labels&, Mode, const Params&)>;

  template <typename F, typename... Args>
  static constexpr bool kTakes = std::is_invocable_r_v<Spec, F&, Args...>;
  // Whether it takes these inputs, and then a mode and params, one of them, or neither.
  template <typename F, typename... Inputs>
  static constexpr bool kTakesInputs =
      kTakes<F, Inputs..., Mode, const Params&> || kTakes<F, Inputs..., Mode> ||
      kTakes<F, Inputs..., const Params&> || kTakes<F, Inputs...>;
  template <typename F>
  static constexpr bool kTakesLabels = kTakesInputs<F, const Features&, const Labels&>;
  template <typename F>
  static constexpr bool kIsModelFn = kTakesLabels<F> || kTakesInputs<F, const Features&>;

  ModelFnOf() = default;
  ModelFnOf(std::nullptr_t) {}  // NOLINT: converts
  template <typename F>
  requires(!std::is_same_v<F, ModelFnOf>) ModelFnOf(F fn) {  // NOLINT: converts
    static_assert(kIsModelFn<F>,
                  "a model_fn takes (const Features&, const Labels&, Mode, const Params&), where "
                  "labels, mode and params may be left out and Params is the Estimator's; it "
                  "returns an EstimatorSpec, or for TPUEstimator a tpu::TPUEstimatorSpec");
    if constexpr (kMayBeNull<F>) {
      if (!fn) return;
    }
    if constexpr (kIsModelFn<F>) {
      fn_ = [fn = std::move(fn)](const Features& features, const Labels& labels, Mode mode,
                                 const Params& params) mutable {
        return Call(fn, features, labels, mode, params);
      };
    }
  }

  explicit operator bool() const { return fn_ != nullptr; }
  Spec operator()(const Features& features, const Labels& labels, Mode mode,
                  const Params& params) const {
    return fn_(features, labels, mode, params);
  }

 private:
  // A function pointer or a std::function, but not a lambda.
  template <typename F>
  static constexpr bool kMayBeNull = std::is_pointer_v<F> || (std::is_constructible_v<bool, F> &&
                                                              !std::is_convertible_v<F, bool>);

  template <typename F>
  static Spec Call(F& fn, const Features& features, const Labels& labels, Mode mode,
                   const Params& params) {
    if constexpr (kTakesLabels<F>) {
      return CallWith(fn, mode, params, features, labels);
    } else {
      if (!labels.empty()) {
        Graph::Current().Fail(InvalidArgument(
            "model_fn does not take labels, but input_fn returns labels; add a parameter `const "
            "Labels& labels` after the features, or drop them in input_fn"));
      }
      return CallWith(fn, mode, params, features);
    }
  }
  template <typename F, typename... Inputs>
  static Spec CallWith(F& fn, Mode mode, const Params& params, const Inputs&... inputs) {
    if constexpr (kTakes<F, const Inputs&..., Mode, const Params&>) {
      return fn(inputs..., mode, params);
    } else if constexpr (kTakes<F, const Inputs&..., Mode>) {
      return fn(inputs..., mode);
    } else if constexpr (kTakes<F, const Inputs&..., const Params&>) {
      return fn(inputs..., params);
    } else {
      return fn(inputs...);
    }
  }

  Fn fn_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_MODEL_FN_H_
