// The stream of random numbers that an op draws from.
//
// Key = seed (hashed with the replica's number, but for replica 0), counter's upper half = seed2.
// Source: TF 2.15 GuardedPhiloxRandom.
#ifndef ESTIMATOR_KERNELS_REFERENCE_RANDOM_STREAM_H_
#define ESTIMATOR_KERNELS_REFERENCE_RANDOM_STREAM_H_

#include <cstdint>

#include "estimator/base/random.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

// Philox results that TensorFlow reserves for each number of a step.
inline constexpr uint64_t kReservedPerNumber = 256;

class RandomStream {
 public:
  // Of the op's attributes seed and seed2.
  explicit RandomStream(const KernelSpec& spec)
      : seed_(static_cast<uint64_t>(spec.attrs.i("seed"))),
        seed2_(static_cast<uint64_t>(spec.attrs.i("seed2"))) {}

  // At the beginning of step s: s * results_per_step results into the stream.
  Philox At(const StepContext& step, uint64_t results_per_step) const {
    const auto replica = static_cast<uint64_t>(step.replica);
    Philox philox(replica == 0 ? seed_ : HashSeed(seed_, replica), seed2_);
    philox.Skip(static_cast<uint64_t>(step.step) * results_per_step);
    return philox;
  }

 private:
  const uint64_t seed_, seed2_;
};

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_RANDOM_STREAM_H_
