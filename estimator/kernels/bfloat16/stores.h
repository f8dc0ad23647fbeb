// What becomes of sums of products of tiles (tiles.h). The functions are compiled for AVX-512
// whatever the flags are. REQUIRES: IsAvailable() (tiles.h).
#ifndef ESTIMATOR_KERNELS_BFLOAT16_STORES_H_
#define ESTIMATOR_KERNELS_BFLOAT16_STORES_H_

#include <cstdint>

#include "estimator/array/half.h"
#include "estimator/kernels/bfloat16/convolution.h"

namespace estimator::bfloat16 {

// What becomes of sums before they are stored.
struct Epilogue {
  const float* bias = nullptr;  // of 32 channels
  // Added before the activation: row i is at side + pixels[i]. Not for pools.
  const float* side = nullptr;
  Activation activation = Activation::kNone;
  int64_t channels = 32;  // how many of the 32 channels are stored
};

// The epilogue of at most 32 channels from `channel` on.
//   bias, side: of all channels, or null.  channels: all of them.
//   padded_bias: memory for 32 numbers, which the epilogue uses.
Epilogue EpilogueOf(const float* bias, const float* side, Activation activation, int64_t channel,
                    int64_t channels, float* padded_bias);

// Stores 32 rows of 32 sums, rounded to the type of `to`. Row i goes to to + pixels[i], unless
// pixels[i] is negative.
void StoreRows(const float* sums, const int64_t* pixels, const Epilogue& epilogue, float* to);
void StoreRows(const float* sums, const int64_t* pixels, const Epilogue& epilogue, Bfloat16* to);

// Stores the maxima of windows of 2x2 pixels, rounded to the type of `to`, and the tap of the first
// maximum, r * 2 + s. The tap is 4 where relu is off, that is, where the maximum is not positive.
//   sums: [2, distance, 32], the first pixel of the first window.  distance: of rows, in pixels.
//   channels: of `to` and `argmax`, [windows, channels].
// REQUIRES: the activation is relu.
void StorePooled(const float* sums, int64_t distance, int64_t windows, const Epilogue& epilogue,
                 int64_t channels, float* to, uint8_t* argmax);
void StorePooled(const float* sums, int64_t distance, int64_t windows, const Epilogue& epilogue,
                 int64_t channels, Bfloat16* to, uint8_t* argmax);

// to[n] for n in [0, count): the channel n of a row of `parts` sums, added in order. count <= 32.
//   distance: of the sums.
void AddParts(const float* sums, int parts, int64_t distance, int64_t count, float* to);

// sums[c - begin] += pixels[i][c] for i in [0, count) and c in [begin, end), c < channels.
//   count and the channels: as for CopyTransposed.
void AddPixels(const Bfloat16* const* pixels, int64_t count, int64_t begin, int64_t end,
               int64_t channels, float* sums);
void AddPixels(const float* const* pixels, int64_t count, int64_t begin, int64_t end,
               int64_t channels, float* sums);

// The same for the gradient of a max pool: pixels whose tap in `argmax` is 4 have none.
//   dy, argmax: [count, channels].  count: any.
void AddPooled(const Bfloat16* dy, const uint8_t* argmax, int64_t count, int64_t begin, int64_t end,
               int64_t channels, float* sums);
void AddPooled(const float* dy, const uint8_t* argmax, int64_t count, int64_t begin, int64_t end,
               int64_t channels, float* sums);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_STORES_H_
