#include <algorithm>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/winograd/blocks.h"
#include "estimator/kernels/winograd/image_prefetch.h"
#include "estimator/kernels/winograd/winograd.h"

// Highway compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/winograd/convolve.cc"
#include "estimator/kernels/every_target-inl.h"
#include "estimator/kernels/winograd/channels-inl.h"
#include "estimator/kernels/winograd/product-inl.h"
#include "estimator/kernels/winograd/tiles-inl.h"
#include "estimator/kernels/winograd/transforms-inl.h"

#ifndef ESTIMATOR_KERNELS_WINOGRAD_CONVOLVE_JOB_
#define ESTIMATOR_KERNELS_WINOGRAD_CONVOLVE_JOB_
namespace estimator::winograd {

struct ConvolveJob {
  Convolution conv;
  Tiling tiling;
  Source x;
  const float* filter = nullptr;  // [panels][points][in_channels + 1][panel]
  Destination destination;
};

}  // namespace estimator::winograd
#endif  // ESTIMATOR_KERNELS_WINOGRAD_CONVOLVE_JOB_

HWY_BEFORE_NAMESPACE();
namespace estimator::winograd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

int64_t Panel() { return kPanel; }

// An odd number of rows breaks strides that are powers of two, whose cache lines would collide.
int64_t FilterPointFloats(int64_t in_channels) { return (in_channels + 1) * kPanel; }

// Transforms the filters of input channel c and a vector of output channels from k on.
template <class F, class Lanes>
void FilterVector(const Convolution& conv, const float* filter, bool transposed, int64_t c,
                  int64_t k, const Lanes& lanes, float* result) {
  constexpr int kTaps = F::kTaps;
  const int64_t point = FilterPointFloats(conv.in_channels);
  V taps[kTaps][kTaps], rows[F::kPoints][kTaps];
  EST_UNROLL for (int u = 0; u < kTaps; ++u) {
    EST_UNROLL for (int v = 0; v < kTaps; ++v) {
      if (transposed) {
        // The gradient of the input is a convolution with the filter turned by 180 degrees, and
        // with its channels exchanged.
        const int64_t tap = (kTaps - 1 - u) * kTaps + kTaps - 1 - v;
        taps[u][v] = lanes.Gather(filter + (tap * conv.out_channels + k) * conv.in_channels + c,
                                  conv.in_channels);
      } else {
        const int64_t tap = u * kTaps + v;
        taps[u][v] = lanes.Load(filter + (tap * conv.in_channels + c) * conv.out_channels + k);
      }
    }
  }
  EST_UNROLL for (int i = 0; i < F::kPoints; ++i) {
    EST_UNROLL for (int v = 0; v < kTaps; ++v) {
      V sum = Times(F::kFilter[i][0], taps[0][v]);
      EST_UNROLL for (int u = 1; u < kTaps; ++u) sum = Plus(sum, F::kFilter[i][u], taps[u][v]);
      rows[i][v] = sum;
    }
  }
  float* const to = result + k / kPanel * F::kPoints * F::kPoints * point + c * kPanel + k % kPanel;
  EST_UNROLL for (int i = 0; i < F::kPoints; ++i) {
    EST_UNROLL for (int j = 0; j < F::kPoints; ++j) {
      V sum = Times(F::kFilter[j][0], rows[i][0]);
      EST_UNROLL for (int v = 1; v < kTaps; ++v) sum = Plus(sum, F::kFilter[j][v], rows[i][v]);
      hn::StoreU(sum, D(), to + (i * F::kPoints + j) * point);
    }
  }
}

// Transforms the filters of input channel c and output channels [panel * kPanel, ...).
void TransformFilterPanel(const Convolution& conv, const float* filter, bool transposed,
                          int64_t panel, int64_t c, float* result) {
  const int64_t end = std::min(conv.out_channels, (panel + 1) * kPanel);
  for (int64_t k = panel * kPanel; k < end; k += kLanes) {
    WithTransforms(conv, [&](auto f) HWY_ATTR {
      WithLanes(end - k, [&](const auto& lanes) HWY_ATTR {
        FilterVector<decltype(f)>(conv, filter, transposed, c, k, lanes, result);
      });
    });
  }
}

// A tile's place in the result: the part of [kRows, kColumns] that is inside the image.
struct TilePlace {
  int64_t image = 0, row = 0, column = 0, channel = 0;
  int rows = 0, columns = 0;
};

// The outputs of a tile from its points: y [kRows, kColumns, kLanes].
template <class F, int kRows, int kColumns>
HWY_INLINE void TransformOutput(const float* m, int64_t point, float* y) {
  V rows[kRows][F::kPoints];
  EST_UNROLL for (int j = 0; j < F::kPoints; ++j) {
    if (!F::Uses(kColumns, j)) continue;
    V points[F::kPoints], column[kRows];
    EST_UNROLL for (int i = 0; i < F::kPoints; ++i) {
      if (F::Uses(kRows, i)) points[i] = hn::LoadU(D(), m + (i * F::kPoints + j) * point);
    }
    F::template Output<kRows>(points, column);
    EST_UNROLL for (int i = 0; i < kRows; ++i) rows[i][j] = column[i];
  }
  EST_UNROLL for (int i = 0; i < kRows; ++i) {
    V row[kColumns];
    F::template Output<kColumns>(rows[i], row);
    EST_UNROLL for (int j = 0; j < kColumns; ++j) {
      hn::Store(row[j], D(), y + (i * kColumns + j) * kLanes);
    }
  }
}

//   y: [at least place.rows, columns, kLanes].
template <class Lanes>
HWY_INLINE void Write(const Destination& to, const TilePlace& place, const Lanes& lanes,
                      const float* y, int columns) {
  const V bias = to.bias == nullptr ? hn::Zero(D()) : lanes.Load(to.bias + place.channel);
  const int64_t first = to.strides.Offset(place.image, place.row, place.column, place.channel);
  for (int i = 0; i < place.rows; ++i) {
    for (int j = 0; j < place.columns; ++j) {
      const int64_t offset = first + i * to.strides.row + j * to.strides.pixel;
      V value = Plus(hn::Load(D(), y + (i * columns + j) * kLanes), bias);
      if (to.side != nullptr) value = Plus(value, lanes.Load(to.side + offset));
      if (to.relu) value = hn::Max(hn::Zero(D()), value);
      lanes.Store(value, to.data + offset);
    }
  }
}

template <class Lanes>
HWY_INLINE void WritePooled(const Destination& to, const TilePlace& place, const Lanes& lanes,
                            const float* y, int columns) {
  const D d;
  const hn::RebindToSigned<D> di;
  const V bias = to.bias == nullptr ? hn::Zero(d) : lanes.Load(to.bias + place.channel);
  const int64_t first =
      to.strides.Offset(place.image, place.row / 2, place.column / 2, place.channel);
  for (int i = 0; i < place.rows; i += 2) {
    for (int j = 0; j < place.columns; j += 2) {
      const int64_t offset = first + i / 2 * to.strides.row + j / 2 * to.strides.pixel;
      const float* const window = y + (i * columns + j) * kLanes;
      V best = hn::Load(d, window);
      auto tap = hn::Zero(di);
      const auto take = [&](const float* from, int32_t number) HWY_ATTR {
        const V other = hn::Load(d, from);
        const auto greater = hn::Gt(other, best);
        tap = hn::IfThenElse(hn::RebindMask(di, greater), hn::Set(di, number), tap);
        best = hn::IfThenElse(greater, other, best);
      };
      take(window + kLanes, 1);
      take(window + columns * kLanes, 2);
      take(window + (columns + 1) * kLanes, 3);
      // The four outputs have the same bias, so it is added to their maximum only.
      best = Plus(best, bias);
      const auto on = hn::Gt(best, hn::Zero(d));
      // 4 is no tap of a window of 2x2: the gradient finds no place where relu was off
      // (conv_block.h).
      tap = hn::IfThenElse(hn::RebindMask(di, on), tap, hn::Set(di, 4));
      lanes.Store(hn::Max(hn::Zero(d), best), to.data + offset);
      lanes.Store(hn::DemoteTo(ByteTag(), tap), to.argmax + offset);
    }
  }
}

// Not a template of the transform and of the tile's size: these are many, and each takes the
// compiler long. The outputs pass through the L1 cache instead.
//   channels: those that are left, of which kLanes are written at most.
HWY_NOINLINE void WriteOutputs(const Destination& to, const TilePlace& place, int64_t channels,
                               const float* y, int columns) {
  WithLanes(channels, [&](const auto& lanes) HWY_ATTR {
    if (to.argmax != nullptr) {
      WritePooled(to, place, lanes, y, columns);
    } else {
      Write(to, place, lanes, y, columns);
    }
  });
}

// The tiles of a run, whose tiles have kRows rows. Not inlined: ConvolveTiles would become so large
// that the compiler spills its registers, which takes up to 8 % of the time.
template <class F, int kRows>
HWY_NOINLINE void WriteTiles(const ConvolveJob& job, const Run& run, const float* m, int64_t point,
                             int64_t channel) {
  constexpr int kColumns = F::kOutputs;
  const Convolution& conv = job.conv;
  const int64_t channels = conv.out_channels - channel;
  HWY_ALIGN float y[kRows * kColumns * kLanes];
  TilePlace place{
      .image = run.image, .row = run.first_row, .column = run.first_column, .channel = channel};
  place.rows = static_cast<int>(std::min<int64_t>(kRows, conv.out_rows - place.row));
  for (int t = 0; t < run.full; ++t, place.column += kColumns) {
    place.columns = static_cast<int>(std::min<int64_t>(kColumns, conv.out_columns - place.column));
    TransformOutput<F, kRows, kColumns>(m + (run.slot + t) * kPanel, point, y);
    WriteOutputs(job.destination, place, channels, y, kColumns);
  }
  if (!run.edge) return;
  const int edge = job.tiling.columns.edge_outputs;
  place.columns = static_cast<int>(std::min<int64_t>(edge, conv.out_columns - place.column));
  WithOutputs<F>(edge, [&](auto columns) HWY_ATTR {
    TransformOutput<F, kRows, columns()>(m + run.edge_slot * kPanel, point, y);
    WriteOutputs(job.destination, place, channels, y, columns());
  });
}

// The outputs of a block for the vector of channels from `channel` on.
template <class F>
void WriteBlock(const ConvolveJob& job, const Block& block, const float* m, int64_t point,
                int64_t channel) {
  for (int r = 0; r < block.num_runs; ++r) {
    const Run& run = block.runs[r];
    WithOutputs<F>(job.tiling.rows.Outputs(run.bottom),
                   [&](auto rows) HWY_ATTR { WriteTiles<F, rows()>(job, run, m, point, channel); });
  }
}

int64_t InputPointFloats(const Tiling& tiling, int64_t channels) {
  return tiling.block_size * WholeVectors(channels) + 32;
}
int64_t OutputPointFloats(const Tiling& tiling) { return tiling.block_size * kPanel + 16; }

//   next: the block that the thread computes next, or -1.
template <class F>
void ConvolveTiles(const ConvolveJob& job, int64_t number, int64_t next, float* scratch) {
  const Convolution& conv = job.conv;
  Block block;
  job.tiling.MakeBlock(number, &block);
  const Points v{.data = scratch,
                 .point = InputPointFloats(job.tiling, conv.in_channels),
                 .slot = WholeVectors(conv.in_channels)};
  for (int r = 0; r < block.num_runs; ++r)
    TransformInput<F>(job.x, conv, job.tiling, block.runs[r], v);

  ImagePrefetch ahead;
  if (next >= 0) {
    ahead.Add(job.tiling, next, job.x, conv.in_rows, conv.in_channels, conv.pad_top,
              F::kTaps - 1 - conv.pad_top);
    // The images of the next block arrive while this one is multiplied, a part before each product.
    ahead.Spread(F::kPoints * F::kPoints * ((conv.out_channels + kPanel - 1) / kPanel));
  }

  float* const m = scratch + F::kPoints * F::kPoints * v.point;
  const int64_t m_point = OutputPointFloats(job.tiling);
  const int64_t filter_point = FilterPointFloats(conv.in_channels);
  const float* filter = job.filter;
  for (int64_t k = 0; k < conv.out_channels; k += kPanel) {
    const bool half = conv.out_channels - k <= kLanes;
    EST_UNROLL for (int i = 0; i < F::kPoints; ++i) {
      for (int j = 0; j < F::kPoints; ++j, filter += filter_point) {
        // Tiles at an edge do not use all points. Their slots come first or last in a block, so
        // that a product leaves them out by its range of rows.
        const bool row_only_full = !F::Uses(job.tiling.rows.edge_outputs, i);
        const bool column_only_full = !F::Uses(job.tiling.columns.edge_outputs, j);
        const int first = block.First(row_only_full);
        const int p = i * F::kPoints + j;
        ahead.Fetch();
        Product<Left::kRows, false>(block.End(row_only_full, column_only_full) - first,
                                    conv.in_channels, v.data + p * v.point + first * v.slot, v.slot,
                                    filter, m + p * m_point + first * kPanel, half);
      }
    }
    for (int64_t h = 0; h < (half ? kLanes : kPanel); h += kLanes)
      WriteBlock<F>(job, block, m + h, m_point, k + h);
  }
}

void ConvolveBlock(const ConvolveJob& job, int64_t number, int64_t next, float* scratch) {
  WithTransforms(job.conv,
                 [&](auto f) HWY_ATTR { ConvolveTiles<decltype(f)>(job, number, next, scratch); });
}

int64_t ScratchFloats(const Convolution& conv, const Tiling& tiling) {
  return PointsOf(conv) * (InputPointFloats(tiling, conv.in_channels) + OutputPointFloats(tiling)) +
         1024;
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::winograd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::winograd {
namespace {

HWY_EXPORT(Panel);
HWY_EXPORT(FilterPointFloats);
HWY_EXPORT(TransformFilterPanel);
HWY_EXPORT(ConvolveBlock);
HWY_EXPORT(ScratchFloats);

int64_t Panels(const Convolution& conv) {
  const int64_t panel = HWY_DYNAMIC_DISPATCH(Panel)();
  return (conv.out_channels + panel - 1) / panel;
}

// A multiple of the rows of a product. With filters of 3x3 and 14 to 64 tiles the speed is the same
// within 10 %; from 64 channels on, more tiles no longer fit into an L2 cache of 2 MiB beside a
// panel of the filter. With 5x5 the filter is larger, and fewer tiles are faster by 5 to 10 %. 18
// tiles of 6x6, which are two images of 14x14, are 2 % faster than 14 or 28.
int64_t BlockTiles(const Convolution& conv) {
  if (conv.filter_rows == 3) return 42;
  if (conv.tile == 6) return 18;
  return conv.in_channels <= 32 ? 28 : 14;
}

fused::Chunks BlockChunks(const Tiling& tiling) {
  return {tiling.blocks(),
          static_cast<int>(std::min<int64_t>(omp_get_max_threads(), tiling.blocks()))};
}

}  // namespace

size_t FilterFloats(const Convolution& conv) {
  return static_cast<size_t>(Panels(conv) * PointsOf(conv) *
                             HWY_DYNAMIC_DISPATCH(FilterPointFloats)(conv.in_channels));
}

size_t ConvolveFloats(const Convolution& conv) {
  const Tiling tiling = MakeTiling(conv, BlockTiles(conv));
  return static_cast<size_t>(BlockChunks(tiling).count *
                             HWY_DYNAMIC_DISPATCH(ScratchFloats)(conv, tiling));
}

void TransformFilter(const Convolution& conv, const float* filter, bool transposed, float* result) {
  const fused::Chunks chunks = fused::MakeChunks(Panels(conv) * conv.in_channels,
                                                 conv.taps() * HWY_DYNAMIC_DISPATCH(Panel)());
  fused::ForEachItem(chunks, [&](int, int64_t i) {
    HWY_DYNAMIC_DISPATCH(TransformFilterPanel)
    (conv, filter, transposed, i / conv.in_channels, i % conv.in_channels, result);
  });
}

void Convolve(const Convolution& conv, const Source& x, const float* filter,
              const Destination& destination, float* scratch) {
  const ConvolveJob job{.conv = conv,
                        .tiling = MakeTiling(conv, BlockTiles(conv)),
                        .x = x,
                        .filter = filter,
                        .destination = destination};
  const int64_t floats = HWY_DYNAMIC_DISPATCH(ScratchFloats)(conv, job.tiling);
  fused::ParallelFor(BlockChunks(job.tiling), [&](int chunk, int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t next = block + 1 < end ? block + 1 : -1;
      HWY_DYNAMIC_DISPATCH(ConvolveBlock)(job, block, next, scratch + chunk * floats);
    }
  });
}

}  // namespace estimator::winograd
#endif  // HWY_ONCE
