#include "models/imagenet/learning_rate.h"

#include <algorithm>
#include <cmath>

namespace estimator::imagenet {

std::vector<RatePhase> RatePhases(const LearningRateOptions& options) {
  const double steps_per_epoch = std::max(
      1.0, std::floor(static_cast<double>(options.num_train_images) / options.train_batch_size));
  const double train_epochs = options.train_steps / steps_per_epoch;
  const auto start = [&](double of_90) {
    const double epoch = of_90 / 90 * train_epochs;
    return train_epochs < 18 ? epoch : std::floor(epoch);
  };
  return {{1, start(5)}, {0.1, start(30)}, {0.01, start(60)}, {0.001, start(80)}};
}

Tensor CurrentEpoch(const Tensor& step, const LearningRateOptions& options) {
  return step / (static_cast<double>(options.num_train_images) / options.train_batch_size);
}

Schedule StepLearningRate(const LearningRateOptions& options) {
  return Schedule([options](const Tensor& step) {
    const double scaled = options.base_learning_rate * (options.train_batch_size / 256.0);
    const std::vector<RatePhase> phases = RatePhases(options);
    const Tensor epoch = CurrentEpoch(step, options);
    Tensor rate = epoch * (scaled * phases[0].multiplier) / phases[0].start_epoch;
    for (const RatePhase& phase : phases)
      rate = Where(Less(epoch, phase.start_epoch), rate, scaled * phase.multiplier);
    return rate;
  });
}

Schedule PolynomialLearningRate(const LearningRateOptions& options) {
  return Schedule([options](const Tensor& step) {
    double peak = 32;
    int64_t warmup_epochs = 14;
    if (options.train_batch_size < 32768) {
      peak = options.train_batch_size < 16384 ? 10 : 25;
      warmup_epochs = 5;
    }
    if (options.poly_rate > 0) peak = options.poly_rate;
    const int64_t warmup_steps = static_cast<int64_t>(
        static_cast<double>(warmup_epochs) * options.num_train_images / options.train_batch_size);
    const Tensor epoch = CurrentEpoch(step, options);
    const Tensor warmup = epoch * peak / static_cast<double>(warmup_epochs);
    const Tensor decay =
        train::PolynomialDecay({.initial = peak,
                                .decay_steps = static_cast<double>(
                                    std::max<int64_t>(1, options.train_steps - warmup_steps + 1)),
                                .power = 2})
            .At(Maximum(step - static_cast<double>(warmup_steps), 1.0));
    return Where(LessEqual(epoch, static_cast<double>(warmup_epochs)), warmup, decay);
  });
}

}  // namespace estimator::imagenet
