#include "estimator/kernels/bfloat16/winograd.h"

#include <algorithm>

#include "estimator/kernels/bfloat16/dot_products.h"
#include "estimator/kernels/bfloat16/winograd_tiles.h"
#include "estimator/kernels/fused/parallel.h"

namespace estimator::bfloat16 {
namespace {

constexpr int64_t kTiles = kGroup;  // of a block: the rows of a product
constexpr int64_t kLanes = 16;
// The distances of points, of tiles, and of panels of pairs are odd numbers of cache lines, so that
// they are in different sets of the cache.
constexpr int64_t kSumDistance = kTiles * kGroup + kLanes;
int64_t TileDistance(int64_t channels) { return (channels / kGroup | 1) * kGroup; }

// The transformed filter, with 2 panels of 16 channels for each point:
// [out_channels / 32][point][2][in_channels / 2][16][2].
int64_t FilterPointNumbers(const Convolution& c) { return c.in_channels * kGroup + kGroup; }
int64_t FilterPanelNumbers(const Convolution& c) { return kPoints * FilterPointNumbers(c); }

// Where a tile is.
struct WinogradTile {
  int64_t image, row, column;  // of its first output
};
WinogradTile TileOf(const WinogradPlan& plan, int64_t number) {
  const int64_t columns = plan.tile_columns(), rows = plan.tile_rows();
  return {number / (rows * columns), number / columns % rows * 2, number % columns * 2};
}

// The scratch memory of a thread of WinogradConvolve: [point][tile][in_channels] in bf16, then the
// sums [point][tile][32 channels].
int64_t PointNumbers(const Convolution& c) { return kTiles * TileDistance(c.in_channels) + kGroup; }
int64_t ConvolveThreadBytes(const Convolution& c) {
  return RoundUp(kPoints * (PointNumbers(c) * 2 + kSumDistance * 4), 64);
}

// Transforms the filters of input channels c and c + 1 and output channels [k, k + 16).
EST_512 void TransformFilters(const Convolution& conv, const Bfloat16* filter, bool transposed,
                              int64_t c, int64_t k, Bfloat16* result) {
  __m512 even[3][3], odd[3][3];
  const __m512i index =
      _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                         _mm512_set1_epi32(static_cast<int>(conv.in_channels * 2)));
#pragma GCC unroll 3
  for (int u = 0; u < 3; ++u) {
#pragma GCC unroll 3
    for (int v = 0; v < 3; ++v) {
      if (transposed) {
        const int64_t tap = (2 - u) * 3 + 2 - v;
        const __m512i both = _mm512_i32gather_epi32(
            index, filter + (tap * conv.out_channels + k) * conv.in_channels + c, 1);
        even[u][v] = _mm512_castsi512_ps(_mm512_slli_epi32(both, 16));
        odd[u][v] = _mm512_castsi512_ps(
            _mm512_and_si512(both, _mm512_set1_epi32(static_cast<int>(0xffff0000U))));
      } else {
        const Bfloat16* const from =
            filter + ((u * 3 + v) * conv.in_channels + c) * conv.out_channels + k;
        even[u][v] = LoadWide(from);
        odd[u][v] = LoadWide(from + conv.out_channels);
      }
    }
  }
  __m512 even_points[kPoints], odd_points[kPoints];
  PointsOfFilter(even, even_points);
  PointsOfFilter(odd, odd_points);
  Bfloat16* const to = result + k / kGroup * FilterPanelNumbers(conv) +
                       k / kLanes % 2 * conv.in_channels * kLanes + c * kLanes;
#pragma GCC unroll 16
  for (int p = 0; p < kPoints; ++p) {
    _mm512_store_si512(to + p * FilterPointNumbers(conv),
                       RoundedPairs(even_points[p], odd_points[p]));
  }
}

// Writes the points of `count` tiles from number `first` on.
EST_512 void TransformTiles(const WinogradPlan& plan, const Bfloat16* x, int64_t first,
                            int64_t count, Bfloat16* points) {
  const Convolution& conv = plan.conv;
  const int64_t point = PointNumbers(conv);
  for (int64_t t = 0; t < count; ++t, points += TileDistance(conv.in_channels)) {
    const WinogradTile tile = TileOf(plan, first + t);
    for (int64_t c = 0; c < conv.in_channels; c += kLanes) {
      const ImageView image{x + tile.image * conv.in_rows * conv.in_columns * conv.in_channels + c,
                            conv.in_rows, conv.in_columns, conv.in_channels};
      __m512 d[4][4], numbers[kPoints];
      LoadPatch(image, tile.row - conv.pad_top, tile.column - conv.pad_left, d);
      PointsOfInput(d, numbers);
#pragma GCC unroll 16
      for (int p = 0; p < kPoints; ++p) StoreNarrow(points + p * point + c, numbers[p]);
    }
  }
}

// Writes the outputs of `count` tiles from number `first` on, for channels [k, k + 32).
EST_512 void WriteTiles(const WinogradPlan& plan, const float* sums, int64_t first, int64_t count,
                        int64_t k, Bfloat16* y) {
  const Convolution& conv = plan.conv;
  for (int64_t t = 0; t < count; ++t, sums += kGroup) {
    const WinogradTile tile = TileOf(plan, first + t);
    Bfloat16* const to =
        y +
        ((tile.image * conv.out_rows + tile.row) * conv.out_columns + tile.column) *
            conv.out_channels +
        k;
    for (int64_t half = 0; half < kGroup; half += kLanes) {
      __m512 outputs[2][2];
      OutputsOfPoints(sums + half, kSumDistance, outputs);
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
#pragma GCC unroll 2
        for (int j = 0; j < 2; ++j) {
          // An odd number of rows or columns leaves a tile that is half outside.
          if (tile.row + i >= conv.out_rows || tile.column + j >= conv.out_columns) continue;
          StoreNarrow(to + (i * conv.out_columns + j) * conv.out_channels + half, outputs[i][j]);
        }
      }
    }
  }
}

// Computes the tiles from number `first` on, for output channels [begin, end), multiples of 32.
void ConvolveBlock(const WinogradPlan& plan, const Bfloat16* x, const Bfloat16* filter, Bfloat16* y,
                   int64_t first, int64_t begin, int64_t end, void* scratch) {
  const Convolution& conv = plan.conv;
  const int64_t count = std::min(kTiles, plan.tiles() - first);
  Bfloat16* const points = static_cast<Bfloat16*>(scratch);
  float* const sums = reinterpret_cast<float*>(points + kPoints * PointNumbers(conv));
  TransformTiles(plan, x, first, count, points);
  filter += begin / kGroup * FilterPanelNumbers(conv);
  for (int64_t k = begin; k < end; k += kGroup) {
    for (int64_t p = 0; p < kPoints; ++p, filter += FilterPointNumbers(conv)) {
      // The rows of tiles beyond `count` have numbers of no meaning, and so have their sums.
      MultiplyRowsByDotProducts(points + p * PointNumbers(conv), TileDistance(conv.in_channels),
                                filter, conv.in_channels * kLanes, conv.in_channels / kStep, false,
                                true, count, sums + p * kSumDistance);
    }
    WriteTiles(plan, sums, first, count, k, y);
  }
}

// The filter's gradient takes groups of tiles. The threads transform the tiles of a group together,
// to pairs of tiles, and then each multiplies at some of the points. The scratch memory has:
//   the points of x, [point][in_channels / 16][tiles / 2][16][2], then those of dy
//   the sums [point][in_channels / 32][out_channels / 32][32][32]
constexpr int64_t kMostTilesOfGroup = 512;

struct GradientGroups {
  explicit GradientGroups(const WinogradPlan& plan)
      : count(DivideUp(plan.tiles(), kMostTilesOfGroup)),
        tiles(RoundUp(DivideUp(plan.tiles(), count), kStep)),
        panel(tiles * kLanes + kGroup),
        x_point(plan.conv.in_channels / kLanes * panel),
        dy_point(plan.conv.out_channels / kLanes * panel),
        sum_point(plan.conv.in_channels * plan.conv.out_channels) {}
  int64_t count, tiles;                  // groups, and tiles of a group
  int64_t panel;                         // of 16 channels, in numbers
  int64_t x_point, dy_point, sum_point;  // in numbers
};

// Writes the points of 16 channels of two tiles as pairs.
EST_INLINE_512 void StorePairs(const __m512 (&first)[kPoints], const __m512 (&second)[kPoints],
                               int64_t point, Bfloat16* to) {
#pragma GCC unroll 16
  for (int p = 0; p < kPoints; ++p)
    _mm512_store_si512(to + p * point, RoundedPairs(first[p], second[p]));
}

// The points of tile `number`, which are 0 beyond the last tile.
EST_INLINE_512 void LoadInputPoints(const WinogradPlan& plan, const Bfloat16* x, int64_t number,
                                    __m512 (&points)[kPoints]) {
  const Convolution& conv = plan.conv;
  __m512 d[4][4] = {};
  if (number < plan.tiles()) {
    const WinogradTile tile = TileOf(plan, number);
    LoadPatch({x + tile.image * conv.in_rows * conv.in_columns * conv.in_channels, conv.in_rows,
               conv.in_columns, conv.in_channels},
              tile.row - conv.pad_top, tile.column - conv.pad_left, d);
  }
  PointsOfInput(d, points);
}

EST_INLINE_512 void LoadGradientPoints(const WinogradPlan& plan, const Bfloat16* dy, int64_t number,
                                       __m512 (&points)[kPoints]) {
  const Convolution& conv = plan.conv;
  __m512 y[2][2] = {};
  if (number < plan.tiles()) {
    const WinogradTile tile = TileOf(plan, number);
    LoadPatch({dy + tile.image * conv.out_rows * conv.out_columns * conv.out_channels,
               conv.out_rows, conv.out_columns, conv.out_channels},
              tile.row, tile.column, y);
  }
  PointsOfGradient(y, points);
}

// Transforms pair `pair` of the tiles of a group that begins with tile `first`.
EST_512 void TransformPair(const WinogradPlan& plan, const GradientGroups& groups,
                           const Bfloat16* x, const Bfloat16* dy, int64_t first, int64_t pair,
                           Bfloat16* x_points, Bfloat16* dy_points) {
  const int64_t tile = first + 2 * pair;
  __m512 even[kPoints], odd[kPoints];
  for (int64_t c = 0; c < plan.conv.in_channels; c += kLanes) {
    LoadInputPoints(plan, x + c, tile, even);
    LoadInputPoints(plan, x + c, tile + 1, odd);
    StorePairs(even, odd, groups.x_point, x_points + c / kLanes * groups.panel + pair * kGroup);
  }
  for (int64_t k = 0; k < plan.conv.out_channels; k += kLanes) {
    LoadGradientPoints(plan, dy + k, tile, even);
    LoadGradientPoints(plan, dy + k, tile + 1, odd);
    StorePairs(even, odd, groups.dy_point, dy_points + k / kLanes * groups.panel + pair * kGroup);
  }
}

// Writes the gradients of the filters of input channel c.
EST_512 void WriteFilterGradient(const WinogradPlan& plan, const GradientGroups& groups,
                                 const float* sums, int64_t c, float* dfilter) {
  const Convolution& conv = plan.conv;
  for (int64_t k = 0; k < conv.out_channels; k += kLanes) {
    const float* const from = sums +
                              (c / kGroup * conv.out_channels + k / kGroup * kGroup) * kGroup +
                              c % kGroup * kGroup + k % kGroup;
    __m512 g[3][3];
    FilterOfPoints(from, groups.sum_point, g);
#pragma GCC unroll 9
    for (int tap = 0; tap < 9; ++tap) {
      _mm512_storeu_ps(dfilter + (tap * conv.in_channels + c) * conv.out_channels + k,
                       g[tap / 3][tap % 3]);
    }
  }
}

}  // namespace

bool SupportsWinograd(const Convolution& conv) {
  return conv.filter_rows == 3 && conv.filter_columns == 3 && conv.row_stride == 1 &&
         conv.column_stride == 1 && conv.in_channels % kGroup == 0 &&
         conv.out_channels % kGroup == 0;
}

WinogradPlan MakeWinogradPlan(const Convolution& conv, int threads) { return {conv, threads}; }

size_t WinogradPlan::filter_bytes() const {
  return static_cast<size_t>(conv.out_channels / kGroup * FilterPanelNumbers(conv) * 2);
}

size_t WinogradPlan::convolve_bytes() const {
  return static_cast<size_t>(threads * ConvolveThreadBytes(conv));
}

size_t WinogradPlan::filter_gradient_bytes() const {
  const GradientGroups groups(*this);
  return static_cast<size_t>(kPoints *
                             ((groups.x_point + groups.dy_point) * 2 + groups.sum_point * 4));
}

void TransformFilter(const WinogradPlan& plan, const Bfloat16* filter, bool transposed,
                     Bfloat16* result) {
  const Convolution& conv = plan.conv;
  const int64_t pairs = conv.in_channels / 2;
  fused::ParallelFor(fused::MakeChunks(pairs, 9 * 2 * conv.out_channels),
                     [&](int, int64_t begin, int64_t end) {
                       for (int64_t k = 0; k < conv.out_channels; k += kLanes) {
                         for (int64_t pair = begin; pair < end; ++pair)
                           TransformFilters(conv, filter, transposed, 2 * pair, k, result);
                       }
                     });
}

void WinogradConvolve(const WinogradPlan& plan, const Bfloat16* x, const Bfloat16* filter,
                      Bfloat16* y, void* scratch) {
  const int64_t blocks = DivideUp(plan.tiles(), kTiles), bytes = ConvolveThreadBytes(plan.conv);
  // If there are more threads than blocks, they divide the output channels too.
  const int64_t groups = plan.conv.out_channels / kGroup;
  const int64_t parts = std::min(groups, DivideUp(plan.threads, blocks));
  const int chunks = static_cast<int>(std::min<int64_t>(plan.threads, blocks * parts));
  fused::ForEachItem({blocks * parts, chunks}, [&](int chunk, int64_t i) {
    const int64_t part = i % parts;
    ConvolveBlock(plan, x, filter, y, i / parts * kTiles, groups * part / parts * kGroup,
                  groups * (part + 1) / parts * kGroup,
                  static_cast<char*>(scratch) + chunk * bytes);
  });
}

void WinogradFilterGradient(const WinogradPlan& plan, const Bfloat16* x, const Bfloat16* dy,
                            float* dfilter, void* scratch) {
  const Convolution& conv = plan.conv;
  const GradientGroups groups(plan);
  Bfloat16* const x_points = static_cast<Bfloat16*>(scratch);
  Bfloat16* const dy_points = x_points + kPoints * groups.x_point;
  float* const sums = reinterpret_cast<float*>(dy_points + kPoints * groups.dy_point);
  const int64_t in_groups = conv.in_channels / kGroup, out_groups = conv.out_channels / kGroup;
  for (int64_t group = 0; group < groups.count; ++group) {
    const int64_t first = group * groups.tiles;
    const auto divided = [&plan](int64_t items) {
      return fused::Chunks{items, static_cast<int>(std::min<int64_t>(items, plan.threads))};
    };
    fused::ForEachItem(divided(groups.tiles / 2), [&](int, int64_t pair) {
      TransformPair(plan, groups, x, dy, first, pair, x_points, dy_points);
    });
    // Each item has sums of its own, so threads need no copies of them, and the order of the sums
    // does not depend on the number of threads.
    fused::ForEachItem(divided(kPoints * in_groups * out_groups), [&](int, int64_t i) {
      const int64_t point = i / (in_groups * out_groups), pair = i % (in_groups * out_groups);
      const int64_t c = pair / out_groups, k = pair % out_groups;
      MultiplyPairs(x_points + point * groups.x_point + c * 2 * groups.panel, groups.panel,
                    PairOrder::kPlain, dy_points + point * groups.dy_point + k * 2 * groups.panel,
                    groups.panel, groups.tiles / kStep, group == 0,
                    sums + point * groups.sum_point + pair * kGroup * kGroup);
    });
  }
  fused::ForEachItem(fused::MakeChunks(conv.in_channels, kPoints * conv.out_channels),
                     [&](int, int64_t c) { WriteFilterGradient(plan, groups, sums, c, dfilter); });
}

}  // namespace estimator::bfloat16
