// Finders and checks before a run: a learning rate, a batch size, whether a model can learn a few
// batches by heart, and the layers of a model. They leave no
// trace: model_dir and the Estimator stay as they are. docs/finders.md explains them.
//
//   absl::StatusOr<FoundLearningRate> found =
//       FindLearningRate(estimator, estimator.Input(TrainInput), {.path = "rate.png"});
//
// Each starts with the variables that Train would start with, and reads the input from its
// beginning. All return the errors of the input and of the model, and CANCELLED after a stop
// request (base/interrupt.h). For a dry run, give an Estimator of its own RunConfig.dry_run.
#ifndef ESTIMATOR_TRAINING_FINDERS_H_
#define ESTIMATOR_TRAINING_FINDERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/training/estimator_base.h"

namespace estimator {

struct FindLearningRateOptions {
  std::string path = "";        // of a PNG file for the curve; "": none
  double min = 1e-7, max = 10;  // the rates of the first step and of the last
  int64_t steps = 100;          // the rates between grow by the same factor in each step
};
inline constexpr double kMinLossFall = 0.1;  // a part of the first smoothed loss
struct FoundLearningRate {
  double suggestion = 0;                         // where the smoothed loss falls most steeply
  std::vector<std::pair<double, double>> curve;  // rate and smoothed loss
  // Why the suggestion may be of no use: sentences. Empty if it is sound.
  std::vector<std::string> warnings;
};
// Trains with a rate that grows exponentially, and looks at the loss:
//   m_t = 0.98 * m_(t-1) + 0.02 * loss_t,   smoothed_t = m_t / (1 - 0.98^t)
// Ends when that is four times its least value. Warns if the least value is not kMinLossFall below
// the first one, and if the variables have been trained before. The suggestion leaves out the first
// 10 steps and the last one. An input that ends is repeated.
// Errors: INVALID_ARGUMENT for options out of range; FAILED_PRECONDITION if the optimizer has no
// rate, or if the loss falls nowhere.
// Source: Smith, Cyclical Learning Rates (2017); fastai 1's lr_find; Lightning 2.0's Tuner.lr_find.
absl::StatusOr<FoundLearningRate> FindLearningRate(const EstimatorBase& estimator,
                                                   const InputFn& input,
                                                   const FindLearningRateOptions& options = {});

struct FoundBatchSize {
  int64_t batch_size = 0;    // of a step, over all replicas
  int64_t memory_bytes = 0;  // planned: the step, the variables and four batches of the input
  double step_seconds = 0;   // of the step that confirmed it
};
// The largest batch whose planned memory fits, and a step with it. Plans twice the size until one
// does not fit or the batch is an epoch, then sizes between. From 64 rows of a replica on they are
// multiples of 8. The step has the rows of the input's first batch, repeated. Logs a line for each
// size.
//   memory_bytes: that may be taken; nullopt: nine tenths of what is available.
// Errors: RESOURCE_EXHAUSTED if the batch of the input does not fit; INVALID_ARGUMENT for an input
// without a batch axis; UNIMPLEMENTED on devices, whose memory is not planned here.
absl::StatusOr<FoundBatchSize> FindBatchSize(const EstimatorBase& estimator, const InputFn& input,
                                             std::optional<int64_t> memory_bytes = std::nullopt);

// Trains on the first `batches` batches of the input, in their order, over and over, and returns
// the mean loss of each pass. These are fewer if the input ends, or if an epoch has fewer and its
// size is known. Ends when a loss is below kOverfitRatio of the first one, or after max_steps. A
// model that cannot do this has a mistake.
//   memory_bytes: that the batches may take; nullopt: half of what is available.
// Errors: INVALID_ARGUMENT for numbers below 1, and for a loss that is not finite;
// RESOURCE_EXHAUSTED if the batches need more memory.
inline constexpr double kOverfitRatio = 0.1;
absl::StatusOr<std::vector<double>> OverfitBatches(const EstimatorBase& estimator,
                                                   const InputFn& input, int64_t batches,
                                                   int64_t max_steps = 1000,
                                                   std::optional<int64_t> memory_bytes = {});

// The layers of the model as a table: name, output shape, parameters, and FLOPs of the forward pass
// for one example (two for each multiply-add of a convolution or a matrix product); then Keras'
// totals of parameters. A layer is a scope with variables. Products outside of layers have lines of
// their own.
absl::StatusOr<std::string> ModelSummary(const EstimatorBase& estimator, const InputFn& input,
                                         Mode mode = Mode::kTrain);

// For EstimatorBase: what its RunConfig asks for in place of a call in `mode`. OK: nothing.
absl::Status RunFinderOfConfig(const EstimatorBase& estimator, const InputFn& input, Mode mode);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_FINDERS_H_
