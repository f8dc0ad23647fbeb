// Random numbers: Philox4x32-10, and TensorFlow's conversions of its bits to numbers. The numbers
// are the same on every machine, and equal TensorFlow's for the same key and counter.
//
// Philox is a function of (key, counter) and has no hidden state. Skip reaches number i of a
// sequence in O(1), so parallel loops and resumed runs see the same values.
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011); TF 2.15
// tsl/lib/random/philox_random.h and random_distributions.h.
#ifndef ESTIMATOR_BASE_RANDOM_H_
#define ESTIMATOR_BASE_RANDOM_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace estimator {

// The generator. A value type that is cheap to copy; a copy continues independently. Not
// thread-safe.
class Philox {
 public:
  using Result = std::array<uint32_t, 4>;

  // The counter has 128 bits. counter_high is its upper half; the lower half starts at zero.
  // TensorFlow's PhiloxRandom(seed_lo, seed_hi) is Philox(seed_lo, seed_hi).
  explicit Philox(uint64_t key, uint64_t counter_high = 0);

  // The next four numbers; the counter advances by one.
  Result Next4();

  // Skips num_results results, that is, 4 * num_results numbers.
  void Skip(uint64_t num_results);

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;  // least significant word first
};

// The numbers of a generator one by one (TensorFlow's SimplePhilox).
class PhiloxNumbers {
 public:
  explicit PhiloxNumbers(const Philox& philox) : philox_(philox) {}
  uint32_t Next() {
    if (num_used_ == buffer_.size()) {
      buffer_ = philox_.Next4();
      num_used_ = 0;
    }
    return buffer_[num_used_++];
  }

 private:
  Philox philox_;
  Philox::Result buffer_ = {};
  size_t num_used_ = 4;  // of the numbers in buffer_
};

// A number in [0, 1). The low 23 bits of x are the mantissa of a number in [1, 2); 1 is subtracted.
inline float UniformFloat(uint32_t x) {
  return std::bit_cast<float>((127u << 23) | (x & 0x7fffffu)) - 1.0f;
}

// A number in [0, 1). The low 20 bits of x0, then the 32 bits of x1, are the mantissa of a number
// in [1, 2); 1 is subtracted.
double UniformDouble(uint32_t x0, uint32_t x1);

// Two independent standard normal numbers (Box-Muller):
//   u1 = max(UniformFloat(x0), 1e-7)
//   v1 = 2 pi UniformFloat(x1)
//   u2 = sqrt(-2 log u1)
//   returns {sin(v1) u2, cos(v1) u2}
std::array<float, 2> NormalPair(uint32_t x0, uint32_t x1);

// Four standard normal numbers from one result: NormalPair of (0, 1) and of (2, 3). This is
// TensorFlow's NormalDistribution<PhiloxRandom, float>. Number i of RandomStandardNormal is element
// i % 4 of result i / 4.
std::array<float, 4> Normal4(const Philox::Result& x);

// Four numbers of the standard normal distribution truncated to |x| < 2, by rejection. Normal
// numbers are drawn in order, and the first four in range are kept. TensorFlow reserves 256 results
// for every four outputs, so the outputs do not depend on earlier rejections. Number i of
// TruncatedNormal is element i % 4 of group i / 4.
//   base: the generator at the beginning of the op's sequence.
std::array<float, 4> TruncatedNormal4(const Philox& base, uint64_t group);

// Hashes (a, b). It derives the key of an op from a seed and an id, and the key of a step from
// that. HashSeed(a, b) differs from HashSeed(b, a). A resumed run depends on its values: do not
// change.
uint64_t HashSeed(uint64_t a, uint64_t b);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_RANDOM_H_
