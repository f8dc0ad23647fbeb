// Model: a model_fn of Estimator or TPUEstimator, with its params.
#ifndef TOOLS_REPLAY_MODEL_H_
#define TOOLS_REPLAY_MODEL_H_

#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "estimator/training/estimator.h"
#include "estimator/training/estimator_spec.h"
#include "tpu/tpu_estimator.h"
#include "tpu/tpu_estimator_spec.h"

namespace estimator::replay {

// The params struct of a model_fn: the type of its last parameter, or tpu::Params if it takes none.
// Signature is the std::function of the model_fn.
template <typename Signature>
struct ParamsOfSignature {};
template <typename Spec, typename First, typename... Rest>
struct ParamsOfSignature<std::function<Spec(First, Rest...)>> {
  using Last =
      std::remove_cvref_t<std::tuple_element_t<sizeof...(Rest), std::tuple<First, Rest...>>>;
  static constexpr bool kIsParams = !std::is_same_v<Last, Features> &&
                                    !std::is_same_v<Last, Tensor> && !std::is_same_v<Last, Mode>;
  using type = std::conditional_t<kIsParams, Last, tpu::Params>;
};

// A value type that is cheap to copy.
class Model {
 private:
  template <typename Fn>
  static auto SignatureOf(int) -> decltype(std::function(std::declval<Fn>()));
  template <typename Fn>
  static auto SignatureOf(...) -> void;
  template <typename Fn>
  using ParamsOf = typename ParamsOfSignature<decltype(SignatureOf<Fn>(0))>::type;

 public:
  // A function or a lambda that the estimators take as a model_fn (ModelFnOf).
  //   params: those with which the reference was made.
  template <typename Fn, typename P = ParamsOf<Fn>>
  Model(Fn model_fn, P params = {})  // NOLINT: converts
      : Model(Of<P>(std::move(model_fn), std::move(params))) {}
  // The same for a lambda whose params are `auto`: Model::Of<MyParams>([](..., const auto& p) ...).
  template <typename P, typename Fn>
  static Model Of(Fn fn, P params = {}) {
    using OfTPUEstimator = ModelFnOf<tpu::TPUEstimatorSpec, P>;
    using OfEstimator = ModelFnOf<EstimatorSpec, P>;
    using ModelFn =
        std::conditional_t<OfTPUEstimator::template kIsModelFn<Fn>, OfTPUEstimator, OfEstimator>;
    Model model;
    const ModelFn model_fn = std::move(fn);
    model.call_ = [model_fn, params = std::move(params)](
                      const Features& features, const Labels& labels, Mode mode, int64_t batch_size,
                      int num_shards) -> absl::StatusOr<ModelSpec> {
      P own = params;
      if constexpr (std::is_base_of_v<tpu::Params, P>) {  // set them as TPUEstimator does
        own.batch_size = batch_size;
        own.use_tpu = num_shards > 1;
        own.context.num_replicas = num_shards;
      }
      return model_fn(features, labels, mode, own).spec();
    };
    return model;
  }

  // Calls model_fn in the current graph, for batches of batch_size rows on each of num_shards
  // replicas.
  absl::StatusOr<ModelSpec> Call(const Features& features, const Labels& labels, Mode mode,
                                 int64_t batch_size, int num_shards) const {
    return call_(features, labels, mode, batch_size, num_shards);
  }

 private:
  Model() = default;

  std::function<absl::StatusOr<ModelSpec>(const Features&, const Labels&, Mode, int64_t, int)>
      call_;
};

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_MODEL_H_
