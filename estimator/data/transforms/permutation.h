// A seeded permutation of [0, size): element i is reached without those before it.
//   Up to 2^20 elements: Fisher-Yates, a table of 4 bytes an element, made on first use; every
//   permutation is equally likely (as far as 64 bits of key go).
//   Beyond: no table. A Feistel network over pairs (L, R) of a x b >= size, a = ceil(sqrt(size)),
//   walked until it falls into [0, size).
// Source: Black and Rogaway, "Ciphers with arbitrary finite domains" (CT-RSA 2002), section 4.
// The values decide where a resumed run goes on: do not change.
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
  uint64_t side_ = 0;  // a = b of the Feistel network
  std::vector<uint32_t> table_;
};

// A number in [0, bound): that of draw `counter` under a key. REQUIRES: bound > 0.
uint64_t DrawBelow(uint64_t key, uint64_t counter, uint64_t bound);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_TRANSFORMS_PERMUTATION_H_
