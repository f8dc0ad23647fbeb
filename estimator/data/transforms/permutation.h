// A seeded permutation of [0, size). Element i is computed without the elements before it.
//   Up to 2^20 elements: Fisher-Yates with a table of 4 bytes per element, which is filled on first
//   use. Every permutation is equally likely, within the limits of a 64-bit key.
//   More elements: a Feistel network without a table. It permutes pairs (L, R) in
//   [0, a) x [0, a), with a = ceil(sqrt(size)), and is repeated until the result is in [0, size).
// Source: Black and Rogaway, "Ciphers with arbitrary finite domains" (CT-RSA 2002), section 4.
// A resumed run depends on the values: do not change.
#ifndef ESTIMATOR_DATA_TRANSFORMS_PERMUTATION_H_
#define ESTIMATOR_DATA_TRANSFORMS_PERMUTATION_H_

#include <cstdint>
#include <vector>

namespace estimator {

class Permutation {
 public:
  static constexpr int64_t kTableSize = int64_t{1} << 20;

  Permutation(uint64_t key, int64_t size);
  int64_t size() const { return size_; }
  // REQUIRES: 0 <= i < size. Not thread-safe.
  int64_t At(int64_t i);

 private:
  void FillTable();
  uint64_t Feistel(uint64_t x) const;

  uint64_t key_;
  int64_t size_;
  uint64_t side_ = 0;  // a of the Feistel network; 0 if the table is used
  std::vector<uint32_t> table_;
};

// A random number in [0, bound): draw number `counter` of a key. REQUIRES: bound > 0.
uint64_t DrawBelow(uint64_t key, uint64_t counter, uint64_t bound);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_TRANSFORMS_PERMUTATION_H_
