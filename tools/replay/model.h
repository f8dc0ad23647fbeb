// Model: a model_fn of Estimator or TPUEstimator, with its params.
#ifndef TOOLS_REPLAY_MODEL_H_
#define TOOLS_REPLAY_MODEL_H_

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "estimator/training/estimator_spec.h"
#include "tpu/tpu_estimator.h"
#include "tpu/tpu_estimator_spec.h"

namespace estimator::replay {

// A value type that is cheap to copy.
class Model {
 public:
  // A plain function of the estimators' type. Its labels may be const Labels& or const Tensor&.
  //   params: those with which the reference was made.
  template <typename Spec, typename LabelsArgument, typename P>
  Model(Spec (*model_fn)(const Features&, LabelsArgument, Mode, const P&),  // NOLINT: converts
        P params = {})
      : Model(Of<P>(model_fn, std::move(params))) {}
  // Any other function object, such as a lambda:
  //   Model::Of<MyParams>([](const Features& features, const Tensor& labels, Mode mode,
  //                          const MyParams& params) { ... })
  template <typename P, typename Fn>
  static Model Of(Fn model_fn, P params = {}) {
    Model model;
    model.call_ = [model_fn = std::move(model_fn), params = std::move(params)](
                      const Features& features, const Labels& labels, Mode mode, int64_t batch_size,
                      int num_shards) -> absl::StatusOr<ModelSpec> {
      P own = params;
      if constexpr (std::is_base_of_v<tpu::Params, P>) {  // set them as TPUEstimator does
        own.batch_size = batch_size;
        own.use_tpu = num_shards > 1;
        own.context.num_replicas = num_shards;
      }
      return SpecOf(model_fn(features, labels, mode, own));
    };
    return model;
  }

  // Calls model_fn in the current graph, for batches of batch_size rows on each of num_shards
  // shards.
  absl::StatusOr<ModelSpec> Call(const Features& features, const Labels& labels, Mode mode,
                                 int64_t batch_size, int num_shards) const {
    return call_(features, labels, mode, batch_size, num_shards);
  }

 private:
  Model() = default;
  static absl::StatusOr<ModelSpec> SpecOf(const EstimatorSpec& spec) { return spec.spec(); }
  static absl::StatusOr<ModelSpec> SpecOf(const tpu::TPUEstimatorSpec& spec) {
    if (!spec.status().ok()) return spec.status();
    return spec.spec();
  }

  std::function<absl::StatusOr<ModelSpec>(const Features&, const Labels&, Mode, int64_t, int)>
      call_;
};

}  // namespace estimator::replay

#endif  // TOOLS_REPLAY_MODEL_H_
