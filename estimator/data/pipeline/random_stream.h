// RandomStream: the random numbers that a function of Dataset::Map draws for one element.
//
// It is Philox, keyed by the seed, the pass and the position of the element. So the numbers of an
// element are the same for any number of threads and after a resume.
#ifndef ESTIMATOR_DATA_PIPELINE_RANDOM_STREAM_H_
#define ESTIMATOR_DATA_PIPELINE_RANDOM_STREAM_H_

#include <array>
#include <cstdint>
#include <limits>

#include "estimator/base/random.h"

namespace estimator {

// Also a generator for the standard library: std::shuffle(begin, end, random) and
// std::poisson_distribution take it. What these compute from it depends on the library.
// Not thread-safe.
class RandomStream {
 public:
  //   element: the number of the stream. Streams of one key with different numbers are independent.
  explicit RandomStream(uint64_t key, uint64_t element = 0) : numbers_(Philox(key, element)) {}

  // A number in [low, high), on a grid of 2^23 steps, as tf.random.uniform.
  float Uniform(float low = 0, float high = 1);
  // An integer in [low, high), all equally likely. REQUIRES: low < high.
  int64_t UniformInt(int64_t low, int64_t high);
  // A number of the normal distribution.
  float Normal(float mean = 0, float stddev = 1);
  // True with this probability.
  bool Bernoulli(double probability = 0.5);
  // A seed for a stateless function, such as image::StatelessRandomCrop. Give each function that
  // draws a seed of its own, because functions with equal seeds draw equal numbers.
  std::array<int64_t, 2> NextSeed();

  using result_type = uint32_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() { return numbers_.Next(); }

 private:
  uint64_t Next64();

  PhiloxNumbers numbers_;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_RANDOM_STREAM_H_
