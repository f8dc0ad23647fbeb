#include "estimator/data/pipeline/random_stream.h"

#include "glog/logging.h"

namespace estimator {

uint64_t RandomStream::Next64() {
  const uint64_t high = (*this)();
  return high << 32 | (*this)();
}

float RandomStream::Uniform(float low, float high) {
  return low + UniformFloat((*this)()) * (high - low);
}

int64_t RandomStream::UniformInt(int64_t low, int64_t high) {
  CHECK(low < high) << "UniformInt: the range [" << low << ", " << high << ") is empty";
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  // 2^64 is rarely a multiple of the range. The numbers below 2^64 mod range are drawn again.
  const uint64_t excess = -range % range;
  uint64_t number = Next64();
  while (number < excess) number = Next64();
  return static_cast<int64_t>(static_cast<uint64_t>(low) + number % range);
}

float RandomStream::Normal(float mean, float stddev) {
  const uint32_t a = (*this)();
  return mean + stddev * NormalPair(a, (*this)())[0];
}

bool RandomStream::Bernoulli(double probability) {
  const uint32_t a = (*this)();
  return UniformDouble(a, (*this)()) < probability;
}

std::array<int64_t, 2> RandomStream::NextSeed() {
  const uint64_t first = Next64();
  return {static_cast<int64_t>(first), static_cast<int64_t>(Next64())};
}

}  // namespace estimator
