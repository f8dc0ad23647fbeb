// Random numbers that are the same on every machine, and the same as TensorFlow's for the same key
// and counter: Philox4x32-10, and TensorFlow's conversions of its bits to numbers.
//
// Philox is a function of (key, counter), not a hidden stream: number i of a sequence is reached by
// Skip in O(1), so parallel loops and resumed runs see the same values.
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011); TF 2.15
// tsl/lib/random/philox_random.h and random_distributions.h.
#ifndef ESTIMATOR_BASE_RANDOM_H_
#define ESTIMATOR_BASE_RANDOM_H_

#include <array>
#include <cstdint>

namespace estimator {

// The generator. A value type, cheap to copy; a copy continues by itself. Not thread-safe.
class Philox {
 public:
  using Result = std::array<uint32_t, 4>;

  // The counter is 128 bits: counter_high its upper half, the lower half starts at zero.
  // TensorFlow's PhiloxRandom(seed_lo, seed_hi) is Philox(seed_lo, seed_hi).
  explicit Philox(uint64_t key, uint64_t counter_high = 0);

  // The next four numbers; the counter advances by one.
  Result Next4();

  // Passes over num_results results, that is 4 * num_results numbers.
  void Skip(uint64_t num_results);

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;  // least significant word first
};

// In [0, 1): the low 23 bits become the mantissa of a number in [1, 2), less 1.
float UniformFloat(uint32_t x);

// In [0, 1): 20 bits of x0 over 32 bits of x1 become the mantissa of a number in [1, 2), less 1.
double UniformDouble(uint32_t x0, uint32_t x1);

// Two independent standard normal numbers (Box-Muller):
//   u1 = max(UniformFloat(x0), 1e-7), v1 = 2 pi UniformFloat(x1), u2 = sqrt(-2 log u1);
//   returns {sin(v1) u2, cos(v1) u2}.
std::array<float, 2> NormalPair(uint32_t x0, uint32_t x1);

// Four standard normal numbers of one result, pairs (0, 1) and (2, 3): TensorFlow's
// NormalDistribution<PhiloxRandom, float>. Number i of RandomStandardNormal is element i % 4 of
// result i / 4.
std::array<float, 4> Normal4(const Philox::Result& x);

// Four numbers of the standard normal distribution cut to |x| < 2, by rejection: pairs are drawn
// from the generator's numbers in order, each member that is in range is kept, until there are
// four. TensorFlow reserves 256 results for every four outputs, so that the outputs do not depend
// on how many were rejected before: number i of TruncatedNormal is element i % 4 of group i / 4.
//   base: the generator at the beginning of the op's sequence.
std::array<float, 4> TruncatedNormal4(const Philox& base, uint64_t group);

// A well mixed function of (a, b), not symmetric: derives the key of an op from a seed and an id,
// and of a step from that. Stored in checkpoints by its effect: do not change.
uint64_t HashSeed(uint64_t a, uint64_t b);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_RANDOM_H_
