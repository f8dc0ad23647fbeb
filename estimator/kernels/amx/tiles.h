// The inner loops of kernels that use AMX. They are compiled for AVX-512 and AMX whatever the flags
// are. REQUIRES of all functions but IsAvailable: IsAvailable().
#ifndef ESTIMATOR_KERNELS_AMX_TILES_H_
#define ESTIMATOR_KERNELS_AMX_TILES_H_

#include <cstdint>

#include "estimator/array/half.h"

namespace estimator::amx {

// Whether the CPU has AMX for bf16 and the system lets this process use it. Asks the system for it
// in the first call. False if Highway may not use AVX-512.
bool IsAvailable();

// Sets the shapes of the calling thread's tiles. Release forgets them, which makes switches between
// threads cheaper.
void Configure();
void Release();

// to[c - begin][i] = pixels[i][c] for channels c in [begin, end), 0 for c >= channels.
//   count: of pixels.  count, begin and end are multiples of 32.
//   distance: of channels in `to`, in elements.  to: aligned to 64 bytes.
void CopyTransposed(const Bfloat16* const* pixels, int64_t count, int64_t begin, int64_t end,
                    int64_t channels, int64_t distance, Bfloat16* to);

// Copies pairs of pixels to panels of 16 channels: to[panel * distance + (i / 2 * 16 + n) * 2 + i % 2]
// is a channel of pixels[i]. Panel 2 g and 2 g + 1 have the channels begin + 32 g + 8 (n / 4) + n % 4,
// the second one plus 4. Other arguments as for CopyTransposed.
void CopyPairs(const Bfloat16* const* pixels, int64_t count, int64_t begin, int64_t end,
               int64_t channels, int64_t distance, Bfloat16* to);

// sums[32][32] (=, or += if not `first`) the products of 32 channels of x, as CopyTransposed wrote
// them, and two panels of dy.
//   x_distance: of channels of x.  offsets[steps]: the pixels of x that belong to 32 pixels of dy.
//   panel: the distance of the panels of dy.
void MultiplyTiles(const Bfloat16* x, int64_t x_distance, const int64_t* offsets,
                   const Bfloat16* dy, int64_t panel, int64_t steps, bool first, float* sums);

// to[n] for n in [0, count): the channel n of a row of `parts` sums, added in order. count <= 32.
//   distance: of the sums.
void AddParts(const float* sums, int parts, int64_t distance, int64_t count, float* to);

// Tiles of a filter: to[(j * 16 + n) * 2 + e] is the weight of channel r + 2 j + e of the sum and of
// channel d + n of the result, for j and n below 16. It is 0 beyond the channels of the filter.
//   CopyFilterTransposed: filter [to_channels, from_channels].
//   CopyFilterPairs: filter [from_channels, to_channels].
void CopyFilterTransposed(const Bfloat16* filter, int64_t to_channels, int64_t from_channels,
                          int64_t d, int64_t r, Bfloat16* to);
void CopyFilterPairs(const Bfloat16* filter, int64_t from_channels, int64_t to_channels, int64_t r,
                     int64_t d, Bfloat16* to);

// Rounds 32 rows of 32 sums to bf16. Row i goes to pixels[i] + channel, the first `count` of its
// numbers, unless pixels[i] is null. count <= 32.
void StoreRows(const float* sums, Bfloat16* const* pixels, int64_t channel, int64_t count);

}  // namespace estimator::amx

#endif  // ESTIMATOR_KERNELS_AMX_TILES_H_
