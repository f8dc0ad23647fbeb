#include <algorithm>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/winograd/blocks.h"
#include "estimator/kernels/winograd/winograd.h"

// Highway's foreach_target.h compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/winograd/convolve.cc"
#define HWY_DISABLE_PCLMUL_AES  // x86-64-v3 lacks it and we do not use it; so AVX2 is the baseline
// The order matters: each header includes this file, or needs what the header before it defined.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "estimator/kernels/winograd/product-inl.h"
#include "estimator/kernels/winograd/tiles-inl.h"
#include "estimator/kernels/winograd/transforms-inl.h"
// clang-format on

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

// Transforms the filters of output channels [panel * kPanel, ...).
template <class F>
void FilterPanel(const Convolution& conv, const float* filter, bool transposed, int64_t panel,
                 float* result) {
  const D d;
  constexpr int kTaps = F::kTaps, kPoints = F::kPoints;
  const int64_t point = FilterPointFloats(conv.in_channels);
  const auto index = hn::Mul(hn::Iota(hn::RebindToSigned<D>(), 0),
                             hn::Set(hn::RebindToSigned<D>(), static_cast<int>(conv.in_channels)));
  const int64_t end = std::min(conv.out_channels, (panel + 1) * kPanel);
  for (int64_t c = 0; c < conv.in_channels; ++c) {
    for (int64_t k = panel * kPanel; k < end; k += kLanes) {
      V taps[kTaps][kTaps], rows[kPoints][kTaps];
      EST_UNROLL for (int u = 0; u < kTaps; ++u) {
        EST_UNROLL for (int v = 0; v < kTaps; ++v) {
          if (transposed) {
            const int64_t tap = (kTaps - 1 - u) * kTaps + kTaps - 1 - v;
            taps[u][v] = hn::GatherIndex(
                d, filter + (tap * conv.out_channels + k) * conv.in_channels + c, index);
          } else {
            const int64_t tap = u * kTaps + v;
            taps[u][v] =
                hn::LoadU(d, filter + (tap * conv.in_channels + c) * conv.out_channels + k);
          }
        }
      }
      EST_UNROLL for (int i = 0; i < kPoints; ++i) {
        EST_UNROLL for (int v = 0; v < kTaps; ++v) {
          V sum = Times(F::kFilter[i][0], taps[0][v]);
          EST_UNROLL for (int u = 1; u < kTaps; ++u) sum = Plus(sum, F::kFilter[i][u], taps[u][v]);
          rows[i][v] = sum;
        }
      }
      float* const to = result + panel * kPoints * kPoints * point + c * kPanel + k % kPanel;
      EST_UNROLL for (int i = 0; i < kPoints; ++i) {
        EST_UNROLL for (int j = 0; j < kPoints; ++j) {
          V sum = Times(F::kFilter[j][0], rows[i][0]);
          EST_UNROLL for (int v = 1; v < kTaps; ++v) sum = Plus(sum, F::kFilter[j][v], rows[i][v]);
          hn::StoreU(sum, d, to + (i * kPoints + j) * point);
        }
      }
    }
  }
}

void TransformFilterPanel(const Convolution& conv, const float* filter, bool transposed,
                          int64_t panel, float* result) {
  if (conv.taps == 3) return FilterPanel<Taps3>(conv, filter, transposed, panel, result);
  FilterPanel<Taps5>(conv, filter, transposed, panel, result);
}

// The outputs of a tile for kLanes channels.
struct Outputs {
  V at[4][4];
};

template <class F, int kOut>
HWY_INLINE void VerticalOutput(const float* m, int64_t point, int column_outputs,
                               V (*rows)[F::kPoints]) {
  EST_UNROLL for (int j = 0; j < F::kPoints; ++j) {
    if (!F::Uses(column_outputs, j)) continue;
    V points[F::kPoints], y[4];
    EST_UNROLL for (int i = 0; i < F::kPoints; ++i) {
      if (F::Uses(kOut, i)) points[i] = hn::LoadU(D(), m + (i * F::kPoints + j) * point);
    }
    F::template Output<kOut>(points, y);
    EST_UNROLL for (int i = 0; i < kOut; ++i) rows[i][j] = y[i];
  }
}

template <class F, int kOut>
HWY_INLINE void HorizontalOutput(int num_rows, V (*rows)[F::kPoints], Outputs* result) {
  for (int i = 0; i < num_rows; ++i) F::template Output<kOut>(rows[i], result->at[i]);
}

// The outputs of a tile from its points.
template <class F>
HWY_INLINE void TransformOutput(const float* m, int64_t point, int row_outputs, int column_outputs,
                                Outputs* result) {
  V rows[4][F::kPoints];
  if (row_outputs == 4) {
    VerticalOutput<F, 4>(m, point, column_outputs, rows);
  } else if (row_outputs == 2) {
    VerticalOutput<F, 2>(m, point, column_outputs, rows);
  } else if constexpr (F::kTaps == 3) {
    VerticalOutput<F, 3>(m, point, column_outputs, rows);
  }
  if (column_outputs == 4) {
    HorizontalOutput<F, 4>(row_outputs, rows, result);
  } else if (column_outputs == 2) {
    HorizontalOutput<F, 2>(row_outputs, rows, result);
  } else if constexpr (F::kTaps == 3) {
    HorizontalOutput<F, 3>(row_outputs, rows, result);
  }
}

HWY_INLINE void Write(const Destination& to, int64_t image, int64_t row, int64_t column,
                      int64_t channel, int rows, int columns, const Outputs& outputs) {
  const D d;
  const V bias = to.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, to.bias + channel);
  for (int i = 0; i < rows; ++i) {
    int64_t offset = to.strides.Offset(image, row + i, column, channel);
    for (int j = 0; j < columns; ++j, offset += to.strides.pixel) {
      V y = Plus(outputs.at[i][j], bias);
      if (to.side != nullptr) y = Plus(y, hn::LoadU(d, to.side + offset));
      if (to.relu) y = hn::Max(hn::Zero(d), y);
      hn::StoreU(y, d, to.data + offset);
    }
  }
}

HWY_INLINE void WritePooled(const Destination& to, int64_t image, int64_t row, int64_t column,
                            int64_t channel, int rows, int columns, const Outputs& outputs) {
  const D d;
  const hn::RebindToSigned<D> di;
  const V bias = to.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, to.bias + channel);
  for (int i = 0; i < rows; i += 2) {
    int64_t offset = to.strides.Offset(image, (row + i) / 2, column / 2, channel);
    for (int j = 0; j < columns; j += 2, offset += to.strides.pixel) {
      V best = outputs.at[i][j];
      auto tap = hn::Zero(di);
      const auto take = [&](V other, int32_t number) HWY_ATTR {
        const auto greater = hn::Gt(other, best);
        tap = hn::IfThenElse(hn::RebindMask(di, greater), hn::Set(di, number), tap);
        best = hn::IfThenElse(greater, other, best);
      };
      take(outputs.at[i][j + 1], 1);
      take(outputs.at[i + 1][j], 2);
      take(outputs.at[i + 1][j + 1], 3);
      best = Plus(best, bias);
      const auto on = hn::Gt(best, hn::Zero(d));
      tap = hn::IfThenElse(hn::RebindMask(di, on), tap, hn::Set(di, 4));
      hn::StoreU(hn::Max(hn::Zero(d), best), d, to.data + offset);
      hn::StoreU(hn::DemoteTo(hn::Rebind<uint8_t, D>(), tap), hn::Rebind<uint8_t, D>(),
                 to.argmax + offset);
    }
  }
}

template <class F>
void WriteRun(const ConvolveJob& job, const Run& run, const float* m, int64_t point,
              int64_t channel) {
  const Convolution& conv = job.conv;
  const int row_outputs = run.bottom ? job.tiling.rows.edge_outputs : 4;
  const int64_t row = run.tile_row * kTileOutputs;
  const int rows = static_cast<int>(std::min<int64_t>(row_outputs, conv.out_rows - row));
  for (int t = 0; t < run.full + (run.edge ? 1 : 0); ++t) {
    const bool edge = t == run.full;
    const int column_outputs = edge ? job.tiling.columns.edge_outputs : 4;
    const int64_t column = (run.tile_column + t) * kTileOutputs;
    const int columns =
        static_cast<int>(std::min<int64_t>(column_outputs, conv.out_columns - column));
    Outputs outputs;
    TransformOutput<F>(m + (edge ? run.edge_slot : run.slot + t) * kPanel, point, row_outputs,
                       column_outputs, &outputs);
    if (job.destination.argmax != nullptr) {
      WritePooled(job.destination, run.image, row, column, channel, rows, columns, outputs);
    } else {
      Write(job.destination, run.image, row, column, channel, rows, columns, outputs);
    }
  }
}

int64_t InputPointFloats(const Tiling& tiling, int64_t channels) {
  return tiling.block_size * channels + 32;
}
int64_t OutputPointFloats(const Tiling& tiling) { return tiling.block_size * kPanel + 16; }

template <class F>
void ConvolveTiles(const ConvolveJob& job, int64_t number, float* scratch) {
  constexpr int kPoints = F::kPoints;
  const Convolution& conv = job.conv;
  Block block;
  job.tiling.MakeBlock(number, &block);
  const Points v{.data = scratch,
                 .point = InputPointFloats(job.tiling, conv.in_channels),
                 .slot = conv.in_channels};
  for (int r = 0; r < block.num_runs; ++r)
    TransformInput<F>(job.x, conv, job.tiling, block.runs[r], v);

  float* const m = scratch + kPoints * kPoints * v.point;
  const int64_t m_point = OutputPointFloats(job.tiling);
  const int64_t filter_point = FilterPointFloats(conv.in_channels);
  const float* filter = job.filter;
  for (int64_t k = 0; k < conv.out_channels; k += kPanel) {
    const bool half = conv.out_channels - k < kPanel;
    EST_UNROLL for (int i = 0; i < kPoints; ++i) {
      for (int j = 0; j < kPoints; ++j, filter += filter_point) {
        const bool row_only_full = !F::Uses(job.tiling.rows.edge_outputs, i);
        const bool column_only_full = !F::Uses(job.tiling.columns.edge_outputs, j);
        const int first = block.First(row_only_full);
        const int p = i * kPoints + j;
        Product<Left::kRows, false>(block.End(row_only_full, column_only_full) - first,
                                    conv.in_channels, v.data + p * v.point + first * v.slot, v.slot,
                                    filter, m + p * m_point + first * kPanel, half);
      }
    }
    for (int64_t h = 0; h < (half ? kLanes : kPanel); h += kLanes) {
      for (int r = 0; r < block.num_runs; ++r)
        WriteRun<F>(job, block.runs[r], m + h, m_point, k + h);
    }
  }
}

void ConvolveBlock(const ConvolveJob& job, int64_t number, float* scratch) {
  if (job.conv.taps == 3) return ConvolveTiles<Taps3>(job, number, scratch);
  ConvolveTiles<Taps5>(job, number, scratch);
}

int64_t ScratchFloats(const Convolution& conv, const Tiling& tiling) {
  const int64_t points = conv.taps == 3 ? 36 : 64;
  return points * (InputPointFloats(tiling, conv.in_channels) + OutputPointFloats(tiling)) + 1024;
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

// A multiple of the rows of a product. With 14 to 64 tiles the speed is the same within 10 %; from 64
// channels on, more tiles no longer fit into an L2 cache of 2 MiB beside a panel of the filter.
constexpr int64_t kBlockTiles = 42;

fused::Chunks BlockChunks(const Tiling& tiling) {
  return {tiling.blocks(),
          static_cast<int>(std::min<int64_t>(omp_get_max_threads(), tiling.blocks()))};
}

}  // namespace

size_t FilterFloats(const Convolution& conv) {
  const int64_t points = conv.taps == 3 ? 36 : 64;
  return static_cast<size_t>(Panels(conv) * points *
                             HWY_DYNAMIC_DISPATCH(FilterPointFloats)(conv.in_channels));
}

size_t ConvolveFloats(const Convolution& conv) {
  const Tiling tiling = MakeTiling(conv, kBlockTiles);
  return static_cast<size_t>(BlockChunks(tiling).count *
                             HWY_DYNAMIC_DISPATCH(ScratchFloats)(conv, tiling));
}

void TransformFilter(const Convolution& conv, const float* filter, bool transposed, float* result) {
  const fused::Chunks chunks = fused::MakeChunks(
      Panels(conv), conv.in_channels * conv.taps * conv.taps * HWY_DYNAMIC_DISPATCH(Panel)());
  fused::ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel)
      HWY_DYNAMIC_DISPATCH(TransformFilterPanel)(conv, filter, transposed, panel, result);
  });
}

void Convolve(const Convolution& conv, const Source& x, const float* filter,
              const Destination& destination, float* scratch) {
  const ConvolveJob job{.conv = conv,
                        .tiling = MakeTiling(conv, kBlockTiles),
                        .x = x,
                        .filter = filter,
                        .destination = destination};
  const int64_t floats = HWY_DYNAMIC_DISPATCH(ScratchFloats)(conv, job.tiling);
  fused::ParallelFor(BlockChunks(job.tiling), [&](int chunk, int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block)
      HWY_DYNAMIC_DISPATCH(ConvolveBlock)(job, block, scratch + chunk * floats);
  });
}

}  // namespace estimator::winograd
#endif  // HWY_ONCE
