// The stream of random numbers that an op draws from.
//
// The key is the seed (for replicas other than 0, hashed with the replica's number, and in a loop
// with the trip), and seed2 is the upper half of the counter. Source: TF 2.15 GuardedPhiloxRandom.
#ifndef ESTIMATOR_KERNELS_REFERENCE_RANDOM_STREAM_H_
#define ESTIMATOR_KERNELS_REFERENCE_RANDOM_STREAM_H_

#include <cstdint>

#include "estimator/base/random.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

// The number of Philox results that TensorFlow reserves for each random number.
inline constexpr uint64_t kReservedPerNumber = 256;

class RandomStream {
 public:
  // Reads the op's attributes seed and seed2.
  explicit RandomStream(const KernelSpec& spec)
      : seed_(static_cast<uint64_t>(spec.attrs.i("seed"))),
        seed2_(static_cast<uint64_t>(spec.attrs.i("seed2"))) {}

  // The stream at the beginning of step s, which is s * results_per_step results from its start.
  Philox At(const StepContext& step, uint64_t results_per_step) const {
    Philox philox(Key(step), seed2_);
    philox.Skip(static_cast<uint64_t>(step.step) * results_per_step);
    return philox;
  }
  uint64_t Key(const StepContext& step) const {
    const auto replica = static_cast<uint64_t>(step.replica);
    const uint64_t key = replica == 0 ? seed_ : HashSeed(seed_, replica);
    return step.trip_key == 0 ? key : HashSeed(key, step.trip_key);
  }
  uint64_t seed2() const { return seed2_; }

 private:
  const uint64_t seed_, seed2_;
};

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_RANDOM_STREAM_H_
