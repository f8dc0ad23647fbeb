#include "estimator/data/transforms/permutation.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "estimator/base/random.h"

namespace estimator {
namespace {

constexpr uint64_t kFeistelRounds = 6;  // an even number keeps the order of the pair

uint64_t SideFor(uint64_t size) {
  auto side = static_cast<uint64_t>(std::sqrt(static_cast<double>(size)));
  while (side * side < size) ++side;
  return side;
}

}  // namespace

uint64_t DrawBelow(uint64_t key, uint64_t counter, uint64_t bound) {
  // The upper 64 bits of a 128-bit product. The bias is below bound / 2^64.
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(HashSeed(key, counter)) * bound) >> 64);
}

Permutation::Permutation(uint64_t key, int64_t size) : key_(key), size_(size) {
  if (size > kTableSize) side_ = SideFor(static_cast<uint64_t>(size));
}

int64_t Permutation::At(int64_t i) {
  if (side_ == 0) {
    if (table_.empty()) FillTable();
    return table_[static_cast<size_t>(i)];
  }
  auto x = static_cast<uint64_t>(i);
  // The network permutes [0, side_ * side_). Following the cycle of i until it returns to [0, size)
  // gives a permutation of [0, size).
  do {
    x = Feistel(x);
  } while (x >= static_cast<uint64_t>(size_));
  return static_cast<int64_t>(x);
}

void Permutation::FillTable() {
  table_.resize(static_cast<size_t>(size_));
  for (size_t i = 0; i < table_.size(); ++i) table_[i] = static_cast<uint32_t>(i);
  for (size_t i = table_.size(); i > 1; --i) {
    std::swap(table_[i - 1], table_[DrawBelow(key_, i, i)]);
  }
}

uint64_t Permutation::Feistel(uint64_t x) const {
  uint64_t left = x / side_, right = x % side_;
  for (uint64_t round = 0; round < kFeistelRounds; ++round) {
    const uint64_t mixed = (left + HashSeed(key_ + round, right) % side_) % side_;
    left = right;
    right = mixed;
  }
  return left * side_ + right;
}

}  // namespace estimator
