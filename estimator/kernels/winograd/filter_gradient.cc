#include <algorithm>
#include <cstring>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/winograd/blocks.h"
#include "estimator/kernels/winograd/image_prefetch.h"
#include "estimator/kernels/winograd/winograd.h"

// Highway compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/winograd/filter_gradient.cc"
#include "estimator/kernels/every_target-inl.h"
#include "estimator/kernels/winograd/channels-inl.h"
#include "estimator/kernels/winograd/product-inl.h"
#include "estimator/kernels/winograd/tiles-inl.h"
#include "estimator/kernels/winograd/transforms-inl.h"

#ifndef ESTIMATOR_KERNELS_WINOGRAD_GRADIENT_JOB_
#define ESTIMATOR_KERNELS_WINOGRAD_GRADIENT_JOB_
namespace estimator::winograd {

// The gradient of the transformed filter is a sum over tiles of products at each point. In scratch:
//   per block that is in memory: its Slots, the points of x, [points][slots][in_channels rounded up
//     to whole vectors], then those of dy, [points][panels][slots][panel]
//   sums: [points][panels][in_channels][panel]
struct GradientJob {
  Convolution conv;
  Tiling tiling;
  Source x;
  Source dy;
};

// The floats that a block's Slots take.
constexpr int64_t kSlotsFloats = 16;
static_assert(sizeof(Slots) <= kSlotsFloats * sizeof(float));

}  // namespace estimator::winograd
#endif  // ESTIMATOR_KERNELS_WINOGRAD_GRADIENT_JOB_

HWY_BEFORE_NAMESPACE();
namespace estimator::winograd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

int64_t GradientPanels(const Convolution& conv) {
  return (conv.out_channels + kPanel - 1) / kPanel;
}

int64_t InputPointFloats(const GradientJob& job) {
  return job.tiling.block_size * WholeVectors(job.conv.in_channels) + 32;
}
int64_t PanelFloats(const GradientJob& job) { return job.tiling.block_size * kPanel + 16; }
int64_t GradientPointFloats(const GradientJob& job) {
  return GradientPanels(job.conv) * PanelFloats(job);
}
// Of the points of a block.
int64_t GradientBlockFloats(const GradientJob& job) {
  return kSlotsFloats + PointsOf(job.conv) * (InputPointFloats(job) + GradientPointFloats(job)) +
         1024;
}
int64_t GradientSumFloats(const GradientJob& job) {
  return PointsOf(job.conv) * GradientPanels(job.conv) * job.conv.in_channels * kPanel;
}

// As TransformColumns (tiles-inl.h), for dy. Returns the sum of what it read.
template <class F, int kOut, class Lanes>
HWY_INLINE V GradientColumns(const Source& dy, const Convolution& conv, const Run& run,
                             int64_t channel, const Lanes& lanes, int64_t num_columns, V* columns) {
  const ColumnReader<kOut, Lanes> reader(dy, run.image, run.first_row, conv.out_rows,
                                         conv.out_columns, channel, lanes);
  V sums[kOut];
  EST_UNROLL for (int i = 0; i < kOut; ++i) sums[i] = hn::Zero(D());
  for (int64_t c = 0; c < num_columns; ++c) {
    V d[kOut], y[F::kPoints];
    reader.Read(run.first_column + c, d);
    // The gradient of the bias takes no pass of its own: dy is in registers here. A sum for each
    // row keeps additions from waiting for each other.
    EST_UNROLL for (int i = 0; i < kOut; ++i) sums[i] = Plus(sums[i], d[i]);
    F::template Gradient<kOut>(d, y);
    EST_UNROLL for (int i = 0; i < F::kPoints; ++i) {
      if (F::Uses(kOut, i)) columns[i * kMostColumns + c] = y[i];
    }
  }
  EST_UNROLL for (int i = 1; i < kOut; ++i) sums[0] = Plus(sums[0], sums[i]);
  return sums[0];
}

template <class F, int kOut>
HWY_INLINE void GradientRow(const V* columns, float* to, int64_t point) {
  V y[F::kPoints];
  F::template Gradient<kOut>(columns, y);
  EST_UNROLL for (int j = 0; j < F::kPoints; ++j) {
    if (F::Uses(kOut, j)) hn::StoreU(y[j], D(), to + j * point);
  }
}

// The points of dy for the tiles of a run, all channels. Adds the gradient of the bias to `bias`.
template <class F>
void TransformGradient(const GradientJob& job, const Run& run, float* to, float* bias) {
  const int row_outputs = job.tiling.rows.Outputs(run.bottom);
  const int edge_outputs = job.tiling.columns.edge_outputs;
  const int64_t num_columns = run.full * F::kOutputs + (run.edge ? edge_outputs : 0);
  const int64_t point = GradientPointFloats(job);
  V columns[F::kPoints * kMostColumns];
  for (int64_t k = 0; k < job.conv.out_channels; k += kLanes) {
    WithOutputs<F>(row_outputs, [&](auto outputs) HWY_ATTR {
      WithLanes(job.conv.out_channels - k, [&](const auto& lanes) HWY_ATTR {
        const V sum =
            GradientColumns<F, outputs()>(job.dy, job.conv, run, k, lanes, num_columns, columns);
        hn::StoreU(Plus(hn::LoadU(D(), bias + k), sum), D(), bias + k);
      });
    });
    EST_UNROLL for (int i = 0; i < F::kPoints; ++i) {
      if (!F::Uses(row_outputs, i)) continue;
      const V* row = columns + i * kMostColumns;
      float* const out = to + i * F::kPoints * point + k / kPanel * PanelFloats(job) + k % kPanel;
      for (int t = 0; t < run.full; ++t) {
        GradientRow<F, F::kOutputs>(row + t * F::kOutputs, out + (run.slot + t) * kPanel, point);
      }
      if (!run.edge) continue;
      WithOutputs<F>(edge_outputs, [&](auto outputs) HWY_ATTR {
        GradientRow<F, outputs()>(row + run.full * F::kOutputs, out + run.edge_slot * kPanel,
                                  point);
      });
    }
  }
}

template <class F>
void GradientTiles(const GradientJob& job, int64_t number, float* scratch, float* bias) {
  Block block;
  job.tiling.MakeBlock(number, &block);
  const Slots& slots = block;
  // If the sums are shared, other threads multiply this block later, so its slots are kept beside
  // its points.
  std::memcpy(scratch, &slots, sizeof(slots));
  float* const points = scratch + kSlotsFloats;
  const Points v{
      .data = points, .point = InputPointFloats(job), .slot = WholeVectors(job.conv.in_channels)};
  for (int r = 0; r < block.num_runs; ++r) {
    TransformInput<F>(job.x, job.conv, job.tiling, block.runs[r], v);
    TransformGradient<F>(job, block.runs[r], points + F::kPoints * F::kPoints * v.point, bias);
  }
}

// Writes the slots and points of block `number`, and adds the gradient of the bias to `bias`: whole
// vectors that hold out_channels.
void TransformBlock(const GradientJob& job, int64_t number, float* scratch, float* bias) {
  WithTransforms(job.conv,
                 [&](auto f) HWY_ATTR { GradientTiles<decltype(f)>(job, number, scratch, bias); });
}

// Adds the products of a block for pair number `pair` of a point and a panel to the sums.
//   scratch: what TransformBlock wrote.
//   first: the sums have no value yet.
template <class F>
void MultiplyTiles(const GradientJob& job, int64_t pair, const float* scratch, float* sums,
                   bool first) {
  const int64_t panels = GradientPanels(job.conv);
  const int64_t p = pair / panels, panel = pair % panels;
  Slots block;
  std::memcpy(static_cast<void*>(&block), scratch, sizeof(block));
  const float* const points = scratch + kSlotsFloats;
  const bool row_only_full =
      !F::Uses(job.tiling.rows.edge_outputs, static_cast<int>(p / F::kPoints));
  const bool column_only_full =
      !F::Uses(job.tiling.columns.edge_outputs, static_cast<int>(p % F::kPoints));
  const int begin = block.First(row_only_full);
  const int64_t slots = block.End(row_only_full, column_only_full) - begin;
  const int64_t channels = job.conv.in_channels, slot = WholeVectors(channels);
  const float* const v = points + p * InputPointFloats(job) + begin * slot;
  const float* const d = points + F::kPoints * F::kPoints * InputPointFloats(job) +
                         p * GradientPointFloats(job) + panel * PanelFloats(job) + begin * kPanel;
  float* const c = sums + pair * channels * kPanel;
  // The second half of the last panel may have no channels at all.
  const bool half = job.conv.out_channels - panel * kPanel <= kLanes;
  // The first block sets the sums, so that they need not be cleared.
  if (first) {
    Product<Left::kColumns, false>(channels, slots, v, slot, d, c, half);
  } else {
    Product<Left::kColumns, true>(channels, slots, v, slot, d, c, half);
  }
}

void MultiplyBlock(const GradientJob& job, int64_t pair, const float* scratch, float* sums,
                   bool first) {
  WithTransforms(job.conv, [&](auto f) HWY_ATTR {
    MultiplyTiles<decltype(f)>(job, pair, scratch, sums, first);
  });
}

// The gradient of the filter from the sums of `count` threads, for one input channel and a vector
// of output channels from k on.
template <class F, class Lanes>
void FilterVectorOfPoints(const GradientJob& job, const float* sums, int count, int64_t channel,
                          int64_t k, const Lanes& lanes, float* filter) {
  const D d;
  const int64_t panels = GradientPanels(job.conv), channels = job.conv.in_channels;
  const int64_t total = GradientSumFloats(job);
  V rows[F::kPoints][F::kTaps];
  EST_UNROLL for (int i = 0; i < F::kPoints; ++i) {
    V points[F::kPoints];
    EST_UNROLL for (int j = 0; j < F::kPoints; ++j) {
      const float* const from =
          sums + (((i * F::kPoints + j) * panels + k / kPanel) * channels + channel) * kPanel +
          k % kPanel;
      points[j] = hn::LoadU(d, from);
      // Threads are added in their order, so that equal runs give equal bits.
      for (int t = 1; t < count; ++t) points[j] = Plus(points[j], hn::LoadU(d, from + t * total));
    }
    EST_UNROLL for (int v = 0; v < F::kTaps; ++v) {
      V sum = Times(F::kFilter[0][v], points[0]);
      EST_UNROLL for (int j = 1; j < F::kPoints; ++j) sum = Plus(sum, F::kFilter[j][v], points[j]);
      rows[i][v] = sum;
    }
  }
  EST_UNROLL for (int u = 0; u < F::kTaps; ++u) {
    EST_UNROLL for (int v = 0; v < F::kTaps; ++v) {
      V sum = Times(F::kFilter[0][u], rows[0][v]);
      EST_UNROLL for (int i = 1; i < F::kPoints; ++i) sum = Plus(sum, F::kFilter[i][u], rows[i][v]);
      lanes.Store(sum,
                  filter + ((u * F::kTaps + v) * channels + channel) * job.conv.out_channels + k);
    }
  }
}

void FilterOfSums(const GradientJob& job, const float* sums, int count, int64_t channel,
                  float* filter) {
  for (int64_t k = 0; k < job.conv.out_channels; k += kLanes) {
    WithTransforms(job.conv, [&](auto f) HWY_ATTR {
      WithLanes(job.conv.out_channels - k, [&](const auto& lanes) HWY_ATTR {
        FilterVectorOfPoints<decltype(f)>(job, sums, count, channel, k, lanes, filter);
      });
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::winograd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::winograd {
namespace {

HWY_EXPORT(GradientPanels);
HWY_EXPORT(GradientBlockFloats);
HWY_EXPORT(GradientSumFloats);
HWY_EXPORT(TransformBlock);
HWY_EXPORT(MultiplyBlock);
HWY_EXPORT(FilterOfSums);

// How the work is divided. If the sums are small, each thread has its own and takes blocks of
// tiles. Otherwise the threads share the sums: they transform a group of blocks together, then each
// multiplies for some of the points.
struct Plan {
  GradientJob job;
  int threads = 1;
  bool shared_sums = false;
  int64_t group = 1;  // the blocks that are in memory at the same time
  int64_t block_floats = 0;
  int64_t sum_floats = 0;

  int64_t bias_floats() const { return (job.conv.out_channels + 15) / 16 * 16; }
  int64_t num_sums() const { return shared_sums ? 1 : threads; }
  int64_t floats() const {
    return group * block_floats + num_sums() * sum_floats + threads * bias_floats();
  }
};

Plan MakePlan(const Convolution& conv, const Source& x, const Source& dy) {
  constexpr int64_t kSumBytes = int64_t{1} << 20;  // fits into a common L2 cache beside a block
  const int64_t weights = conv.in_channels * conv.out_channels;
  const bool shared = PointsOf(conv) * weights * 4 > kSumBytes;
  const int64_t size =
      shared ? 42 : 28;  // tiles; with 18 to 42 the speed is the same, 6x6 included
  Plan plan{.job = {.conv = conv, .tiling = MakeTiling(conv, size), .x = x, .dy = dy},
            .shared_sums = shared};
  const int64_t blocks = plan.job.tiling.blocks();
  plan.threads = static_cast<int>(std::min<int64_t>(omp_get_max_threads(), blocks));
  plan.group = plan.threads;
  plan.block_floats = HWY_DYNAMIC_DISPATCH(GradientBlockFloats)(plan.job);
  plan.sum_floats = HWY_DYNAMIC_DISPATCH(GradientSumFloats)(plan.job);
  return plan;
}

}  // namespace

size_t FilterGradientFloats(const Convolution& conv) {
  return static_cast<size_t>(MakePlan(conv, {}, {}).floats());
}

void FilterGradient(const Convolution& conv, const Source& x, const Source& dy, float* filter,
                    float* bias, float* scratch) {
  const Plan plan = MakePlan(conv, x, dy);
  const GradientJob& job = plan.job;
  float* const sums = scratch + plan.group * plan.block_floats;
  float* const biases = sums + plan.num_sums() * plan.sum_floats;
  std::fill_n(biases, plan.threads * plan.bias_floats(), 0.0f);
  const int64_t blocks = job.tiling.blocks();
  const int64_t pairs = PointsOf(conv) * HWY_DYNAMIC_DISPATCH(GradientPanels)(conv);
  if (plan.shared_sums) {
    for (int64_t first = 0; first < blocks; first += plan.group) {
      const int64_t count = std::min(plan.group, blocks - first);
      const int threads = static_cast<int>(std::min<int64_t>(plan.threads, count));
      fused::ForEachItem({count, threads}, [&](int chunk, int64_t b) {
        HWY_DYNAMIC_DISPATCH(TransformBlock)
        (job, first + b, scratch + b * plan.block_floats, biases + chunk * plan.bias_floats());
      });
      fused::ForEachItem({pairs, plan.threads}, [&](int, int64_t pair) {
        for (int64_t b = 0; b < count; ++b) HWY_DYNAMIC_DISPATCH(MultiplyBlock)
        (job, pair, scratch + b * plan.block_floats, sums, first + b == 0);
      });
    }
  } else {
    fused::ParallelFor({blocks, plan.threads}, [&](int chunk, int64_t begin, int64_t end) {
      float* const points = scratch + chunk * plan.block_floats;
      for (int64_t b = begin; b < end; ++b) {
        HWY_DYNAMIC_DISPATCH(TransformBlock)(job, b, points, biases + chunk * plan.bias_floats());
        ImagePrefetch ahead;
        if (b + 1 < end) {
          // The points of a block are multiplied from the L2 cache, so memory is idle and can fetch
          // the images of the next block.
          ahead.Add(job.tiling, b + 1, x, conv.in_rows, conv.in_channels, conv.pad_top,
                    conv.filter_rows - 1 - conv.pad_top);
          ahead.Add(job.tiling, b + 1, dy, conv.out_rows, conv.out_channels, 0, 0);
          ahead.Spread(pairs);
        }
        for (int64_t pair = 0; pair < pairs; ++pair) {
          ahead.Fetch();
          HWY_DYNAMIC_DISPATCH(MultiplyBlock)
          (job, pair, points, sums + chunk * plan.sum_floats, b == begin);
        }
      }
    });
  }
  const fused::Chunks channels =
      fused::MakeChunks(conv.in_channels, PointsOf(conv) * conv.out_channels);
  fused::ForEachItem(channels, [&](int, int64_t c) {
    HWY_DYNAMIC_DISPATCH(FilterOfSums)
    (job, sums, static_cast<int>(plan.num_sums()), c, filter);
  });
  if (bias == nullptr) return;
  for (int64_t k = 0; k < conv.out_channels; ++k) {
    float sum = 0;
    for (int t = 0; t < plan.threads; ++t) sum += biases[t * plan.bias_floats() + k];
    bias[k] = sum;
  }
}

}  // namespace estimator::winograd
#endif  // HWY_ONCE
