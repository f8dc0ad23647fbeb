#include "estimator/base/random.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace estimator {
namespace {

constexpr uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
constexpr uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection.
constexpr uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

Philox::Philox(uint64_t key, uint64_t counter_high)
    : key_{Low(key), High(key)}, counter_{0, 0, Low(counter_high), High(counter_high)} {}

Philox::Result Philox::Next4() {
  // Multipliers and key increments of the paper, in Random123's names.
  constexpr uint64_t kM0 = 0xd2511f53, kM1 = 0xcd9e8d57;
  constexpr uint32_t kW0 = 0x9e3779b9, kW1 = 0xbb67ae85;
  constexpr int kRounds = 10;

  Result c = counter_;
  uint32_t key0 = key_[0], key1 = key_[1];
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = kM0 * c[0];
    const uint64_t product1 = kM1 * c[2];
    c = {High(product1) ^ c[1] ^ key0, Low(product1), High(product0) ^ c[3] ^ key1, Low(product0)};
    key0 += kW0;
    key1 += kW1;
  }
  Skip(1);
  return c;
}

void Philox::Skip(uint64_t num_results) {
  const uint64_t low = (uint64_t{counter_[1]} << 32 | counter_[0]) + num_results;
  counter_[0] = Low(low);
  counter_[1] = High(low);
  if (low < num_results && ++counter_[2] == 0) ++counter_[3];
}

double UniformDouble(uint32_t x0, uint32_t x1) {
  const uint64_t mantissa = uint64_t{x0 & 0xfffffu} << 32 | x1;
  return std::bit_cast<double>((uint64_t{1023} << 52) | mantissa) - 1.0;
}

std::array<float, 2> NormalPair(uint32_t x0, uint32_t x1) {
  constexpr float kEpsilon = 1.0e-7f;  // keeps log finite
  const float u1 = std::fmax(UniformFloat(x0), kEpsilon);
  // The product is taken in double and rounded once, as in TensorFlow.
  const auto v1 = static_cast<float>(2.0 * std::numbers::pi * UniformFloat(x1));
  const float u2 = std::sqrt(-2.0f * std::log(u1));
  return {std::sin(v1) * u2, std::cos(v1) * u2};
}

std::array<float, 4> Normal4(const Philox::Result& x) {
  const auto [a, b] = NormalPair(x[0], x[1]);
  const auto [c, d] = NormalPair(x[2], x[3]);
  return {a, b, c, d};
}

std::array<float, 4> TruncatedNormal4(const Philox& base, uint64_t group) {
  constexpr uint64_t kResultsPerGroup = 256;
  constexpr float kBound = 2.0f;
  Philox philox = base;
  philox.Skip(group * kResultsPerGroup);
  std::array<float, 4> kept;
  size_t num_kept = 0;
  while (true) {
    for (const float x : Normal4(philox.Next4())) {
      if (!(std::abs(x) < kBound)) continue;
      kept[num_kept++] = x;
      if (num_kept == kept.size()) return kept;
    }
  }
}

uint64_t HashSeed(uint64_t a, uint64_t b) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio
  return Mix(Mix(a + kGolden) + b * kGolden + 1);
}

}  // namespace estimator
