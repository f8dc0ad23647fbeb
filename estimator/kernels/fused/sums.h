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
  size_t bytes() const {
    return static_cast<size_t>(chunks_.count * planes_.channels() * kSums) * sizeof(double) +
           static_cast<size_t>(chunks_.count * planes_.width * kSums) * sizeof(float);
  }
  // add_rows(begin, end, first_channel, sums) adds the elements [begin * width, end * width) to
  // sums, float [kSums, width]. They belong to the channels from first_channel on.
  template <typename AddRows>
  void Run(void* scratch, AddRows&& add_rows) const {
    constexpr int64_t kRun = 64;
    const int64_t width = planes_.width, channels = planes_.channels();
    double* const totals = static_cast<double*>(scratch);
    float* const runs = reinterpret_cast<float*>(totals + chunks_.count * channels * kSums);
    ParallelFor(chunks_, [&](int chunk, int64_t begin, int64_t end) {
      double* const total = totals + chunk * channels * kSums;
      float* const run = runs + chunk * width * kSums;
      std::fill(total, total + channels * kSums, 0.0);
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
    });
    for (int chunk = 1; chunk < chunks_.count; ++chunk) {
      for (int64_t c = 0; c < channels * kSums; ++c)
        totals[c] += totals[chunk * channels * kSums + c];
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
  ChannelPlanes planes_;
  Chunks chunks_;
};

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_SUMS_H_
