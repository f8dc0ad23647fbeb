// Random numbers that depend on a seed only: those of tf.random.stateless_uniform.
//
// TensorFlow scrambles the two numbers of a seed with Philox. The result is the key and the upper
// half of the counter of a second Philox, which gives the numbers:
//   mix = Philox(key = {0x3ec8f720, 0x02461e29}, counter = {seed[0], seed[1]})
//   numbers = Philox(key = {mix[0], mix[1]}, counter = {0, 0, mix[2], mix[3]})
// Source: TF 2.15 core/kernels/stateless_random_ops.cc, GenerateKey; the algorithm "philox", which
// "auto_select" chooses on a CPU.
#ifndef ESTIMATOR_IMAGE_RANDOM_STATELESS_RANDOM_H_
#define ESTIMATOR_IMAGE_RANDOM_STATELESS_RANDOM_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/random.h"

namespace estimator::image {

// The `seed` of TensorFlow's stateless functions, a tensor of two integers. The same seed gives the
// same numbers. In Dataset::Map, RandomStream::NextSeed() gives a fresh one for each call.
using Seed = std::array<int64_t, 2>;

// The generator of a seed, at its first result.
Philox StatelessPhilox(const Seed& seed);

// Numbers in [minval, maxval), as f32 `shape`, on a grid of 2^23 steps.
// Errors: INVALID_ARGUMENT if the shape is not fully known or too large.
// Source: TF 2.15 tf.random.stateless_uniform with dtype float32.
absl::StatusOr<Array> StatelessRandomUniform(const Shape& shape, const Seed& seed, float minval = 0,
                                             float maxval = 1);

// Integers in [minval, maxval). They are slightly biased if 2^32 (for kInt64, 2^64) is not a
// multiple of maxval - minval, as in TensorFlow.
//   dtype: kInt32 or kInt64. They give different numbers.
// Errors: INVALID_ARGUMENT if minval >= maxval, if a bound is not a number of the dtype, for
// another dtype, or if the shape is not fully known or too large.
// Source: TF 2.15 tf.random.stateless_uniform with an integer dtype.
absl::StatusOr<Array> StatelessRandomUniformInt(const Shape& shape, const Seed& seed,
                                                int64_t minval, int64_t maxval,
                                                DType dtype = DType::kInt32);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_RANDOM_STATELESS_RANDOM_H_
