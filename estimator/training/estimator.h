// Estimator: trains, evaluates and predicts with a model_fn and an input_fn, on this machine's CPU.
//
//   Estimator<Params> estimator({.model_fn = ModelFn,
//                                .config = {.model_dir = "/tmp/m"},
//                                .params = {...}});
//   absl::Status trained = estimator.Train(TrainInput, MaxSteps(1000));
//   absl::StatusOr<EvalResult> result = estimator.Evaluate(EvalInput);
//
// EstimatorOf and EstimatorBase (estimator_base.h) declare the calls.
#ifndef ESTIMATOR_TRAINING_ESTIMATOR_H_
#define ESTIMATOR_TRAINING_ESTIMATOR_H_

#include <cstdint>
#include <memory>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/status.h"
#include "estimator/training/estimator_base.h"
#include "estimator/training/estimator_spec.h"
#include "estimator/training/model/local_strategy.h"
#include "estimator/training/model/model_fn.h"

namespace estimator {

// The processes that read an input, and which of them calls input_fn: several in training with
// RunConfig.process_group, else one.
struct InputContext {
  int num_hosts = 1;
  int current_host = 0;
};

// A base for the params structs of models. batch_size is the user's to set and to read: the
// examples of a batch of this process. The framework fills in `context` for each call of input_fn.
struct EstimatorParams {
  int64_t batch_size = 0;
  InputContext context = {};
};

// Params: the user's own struct, any copyable type.
template <typename Params = EstimatorParams>
class Estimator : public EstimatorOf<Params> {
 public:
  using ModelFn = ModelFnOf<EstimatorSpec, Params>;  // the parameters of a model_fn

  struct Options {
    ModelFn model_fn = nullptr;
    RunConfig config = {};
    Params params = {};
    // First values of variables while model_dir has no checkpoint: a path, or WarmStartSettings.
    WarmStartFrom warm_start_from = {};
  };

  explicit Estimator(const Options& options)
      : Estimator(options, std::make_shared<const Params>(options.params)) {}

 private:
  Estimator(const Options& options, const std::shared_ptr<const Params>& params)
      : EstimatorOf<Params>(
            {.make_strategy =
                 [call = CallOf(options, params), config = options.config](
                     const std::shared_ptr<ProcessGroup>& group) -> std::shared_ptr<Strategy> {
               return MakeLocalStrategy(call, {}, WithRunConfig({}, config), {},
                                        config.accumulate_steps, group);
             },
             .config = options.config,
             .warm_start_from = options.warm_start_from,
             .status =
                 options.model_fn ? absl::OkStatus() : InvalidArgument("model_fn must be given")},
            params, [](const InputFn::Call& call, Params& filled) {
              // The user's struct may have a member of the same name.
              if constexpr (std::is_base_of_v<EstimatorParams, Params>)
                static_cast<EstimatorParams&>(filled).context = {.num_hosts = call.num_hosts,
                                                                 .current_host = call.current_host};
            }) {}

  static ModelCall CallOf(const Options& options, const std::shared_ptr<const Params>& params) {
    return [model_fn = options.model_fn, averages = options.config.average_weights, params](
               const Features& features, const Labels& labels, Mode mode,
               int64_t) -> absl::StatusOr<ModelSpec> {
      return WithAverages(model_fn(features, labels, mode, *params).spec(), averages);
    };
  }
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_ESTIMATOR_H_
