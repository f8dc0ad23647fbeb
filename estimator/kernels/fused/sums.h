// Sums over many floats. They are fast, exact to a few units in the last place of float32, and
// added in an order that depends only on the number of chunks: short runs are summed in float32
// (vectorised), and the sums of the runs in float64.
#ifndef ESTIMATOR_KERNELS_FUSED_SUMS_H_
#define ESTIMATOR_KERNELS_FUSED_SUMS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/layout.h"

namespace estimator::fused {

// The sum of term(i) for i in [begin, end).
template <typename Term>
double SumRange(int64_t begin, int64_t end, Term&& term) {
  constexpr int64_t kRun = 1024;
  double total = 0;
  for (int64_t i = begin; i < end; i += kRun) {
    const int64_t stop = std::min(end, i + kRun);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = i; j < stop; ++j) sum += term(j);
    total += static_cast<double>(sum);
  }
  return total;
}

// The planes of images x of an op with these attributes. They have width 0 if this tier does not
// support the dtype or the layout.
inline ChannelPlanes ImagePlanes(const Attrs& attrs, const TensorSpec& x) {
  if (x.dtype != DType::kFloat32 && x.dtype != DType::kBfloat16) return {};
  if (x.shape.rank() < 2 || x.shape.num_elements() == 0) return {};
  const bool blocked = IsBlocked(attrs);
  if (blocked && x.shape.rank() != 5) return {};
  if (!blocked && attrs.has("data_format") && attrs.s("data_format") != kPlainFormat) return {};
  return PlanesOf(x.shape, blocked);
}

// Calls fn(std::integral_constant<int64_t, w>) with w = width if it is 8 or 16, a block of
// channels, so that the compiler unrolls loops over it. Otherwise w = 0.
template <typename Fn>
void WithWidth(int64_t width, Fn&& fn) {
  if (width == 16) return fn(std::integral_constant<int64_t, 16>());
  if (width == 8) return fn(std::integral_constant<int64_t, 8>());
  fn(std::integral_constant<int64_t, 0>());
}

// Sums over the elements of each channel, kSums of them at once; each chunk of rows has its own
// thread. To use it, reserve bytes() of scratch in the kernel and call Run; then
// total(scratch, s)[channel] is sum s of a channel.
template <int kSums>
class ChannelSums {
 public:
  ChannelSums() = default;
  explicit ChannelSums(const ChannelPlanes& planes)
      : planes_(planes), chunks_(MakeChunks(planes.planes() * planes.rows, planes.width)) {}

  const Chunks& chunks() const { return chunks_; }  // over the rows of all planes
  // Over the blocks of channels, for RunBlock. A kernel that needs the sums of a channel before its
  // second pass over the channel works on one block at a time, which is then still in the cache.
  // No items if the blocks cannot be shared out evenly.
  Chunks blocks() const {
    const int64_t most = (planes_.blocks + chunks_.count - 1) / chunks_.count;
    const bool even = 4 * most * chunks_.count <= 5 * planes_.blocks;
    return {planes_.blocks > 1 && even ? planes_.blocks : 0, chunks_.count};
  }
  size_t bytes() const {
    return static_cast<size_t>(chunks_.count * planes_.channels() * kSums) * sizeof(double) +
           static_cast<size_t>(chunks_.count * planes_.width * kSums) * sizeof(float);
  }
  // add_rows(begin, end, first_channel, sums) adds the elements [begin * width, end * width) to
  // sums, float [kSums, width]. They belong to the channels from first_channel on.
  template <typename AddRows>
  void Run(void* scratch, AddRows&& add_rows) const {
    RunInChunks(scratch, [&](int, int64_t begin, int64_t end, int64_t channel, float* sums) {
      add_rows(begin, end, channel, sums);
    });
  }
  // The same, with the number of the chunk: add_rows(chunk, begin, end, first_channel, sums).
  template <typename AddRows>
  void RunInChunks(void* scratch, AddRows&& add_rows) const {
    const int64_t channels = planes_.channels();
    double* const totals = static_cast<double*>(scratch);
    ParallelFor(chunks_, [&](int chunk, int64_t begin, int64_t end) {
      double* const total = totals + chunk * channels * kSums;
      std::fill(total, total + channels * kSums, 0.0);
      const auto add = [&](int64_t first, int64_t last, int64_t channel, float* sums) {
        add_rows(chunk, first, last, channel, sums);
      };
      AddRange(begin, end, RunOf(scratch, chunk), total, add);
    });
    for (int chunk = 1; chunk < chunks_.count; ++chunk) {
      for (int64_t c = 0; c < channels * kSums; ++c)
        totals[c] += totals[chunk * channels * kSums + c];
    }
  }
  // The sums of one block of channels, on the calling thread, which runs `chunk` of blocks(). Their
  // order does not depend on the number of chunks.
  template <typename AddRows>
  void RunBlock(void* scratch, int chunk, int64_t block, AddRows&& add_rows) const {
    double* const totals = static_cast<double*>(scratch);
    for (int s = 0; s < kSums; ++s) {
      double* const sum = totals + s * planes_.channels() + block * planes_.width;
      std::fill(sum, sum + planes_.width, 0.0);
    }
    for (int64_t image = 0; image < planes_.images; ++image) {
      const int64_t first = (image * planes_.blocks + block) * planes_.rows;
      AddRange(first, first + planes_.rows, RunOf(scratch, chunk), totals, add_rows);
    }
  }
  const double* total(const void* scratch, int sum = 0) const {
    return static_cast<const double*>(scratch) + sum * planes_.channels();
  }

  // Splits the rows [begin, end) into pieces, each in one plane and with at most `most` rows. Calls
  // fn(first row, end row, first channel) for each.
  template <typename Fn>
  static void ForEachPiece(const ChannelPlanes& planes, int64_t begin, int64_t end, int64_t most,
                           Fn&& fn) {
    for (int64_t row = begin; row < end;) {
      const int64_t plane = row / planes.rows;
      const int64_t stop = std::min({end, (plane + 1) * planes.rows, row + most});
      fn(row, stop, planes.first_channel(plane));
      row = stop;
    }
  }

 private:
  // The float32 sums of a chunk's current run.
  float* RunOf(void* scratch, int chunk) const {
    double* const totals = static_cast<double*>(scratch);
    float* const runs =
        reinterpret_cast<float*>(totals + chunks_.count * planes_.channels() * kSums);
    return runs + chunk * planes_.width * kSums;
  }
  // Adds the rows [begin, end) to total, [kSums, channels].
  template <typename AddRows>
  void AddRange(int64_t begin, int64_t end, float* run, double* total,
                const AddRows& add_rows) const {
    constexpr int64_t kRun = 64;
    const int64_t width = planes_.width, channels = planes_.channels();
    ForEachPiece(planes_, begin, end, kRun, [&](int64_t first, int64_t last, int64_t channel) {
      std::fill(run, run + width * kSums, 0.0f);
      add_rows(first, last, channel, run);
      for (int s = 0; s < kSums; ++s) {
        double* const sum = total + s * channels + channel;
        const float* const from = run + s * width;
#pragma omp simd
        for (int64_t c = 0; c < width; ++c) sum[c] += static_cast<double>(from[c]);
      }
    });
  }

  ChannelPlanes planes_;
  Chunks chunks_;
};

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_SUMS_H_
