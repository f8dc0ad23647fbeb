// Sums over many floats that are fast, exact to a few units in the last place of float32, and in an
// order that depends on the number of chunks only: short runs in float32 (vectorised), runs
// together in float64.
#ifndef ESTIMATOR_KERNELS_FUSED_SUMS_H_
#define ESTIMATOR_KERNELS_FUSED_SUMS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "estimator/kernels/fused/parallel.h"

namespace estimator::fused {

// Sum of term(i) for i in [begin, end).
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

// Sums over the rows of matrices [rows, columns], kSums of them at once, each chunk of rows by its
// own thread. Usage: scratch of bytes() in the kernel; Run; then total(scratch, s)[column].
template <int kSums>
class ColumnSums {
 public:
  ColumnSums() = default;
  ColumnSums(int64_t rows, int64_t columns)
      : chunks_(MakeChunks(rows, columns)), columns_(columns) {}

  const Chunks& chunks() const { return chunks_; }
  size_t bytes() const {
    return static_cast<size_t>(chunks_.count * columns_ * kSums) * (sizeof(double) + sizeof(float));
  }
  // add_row(row, sums) adds row `row` to sums: float [kSums, columns].
  template <typename AddRow>
  void Run(void* scratch, AddRow&& add_row) const {
    constexpr int64_t kRun = 64;
    const int64_t width = columns_ * kSums;
    double* const totals = static_cast<double*>(scratch);
    float* const runs = reinterpret_cast<float*>(totals + chunks_.count * width);
    ParallelFor(chunks_, [&](int chunk, int64_t begin, int64_t end) {
      double* const total = totals + chunk * width;
      float* const run = runs + chunk * width;
      std::fill(total, total + width, 0.0);
      for (int64_t row = begin; row < end; row += kRun) {
        std::fill(run, run + width, 0.0f);
        const int64_t stop = std::min(end, row + kRun);
        for (int64_t r = row; r < stop; ++r) add_row(r, run);
#pragma omp simd
        for (int64_t c = 0; c < width; ++c) total[c] += static_cast<double>(run[c]);
      }
    });
    for (int chunk = 1; chunk < chunks_.count; ++chunk) {
      for (int64_t c = 0; c < width; ++c) totals[c] += totals[chunk * width + c];
    }
  }
  const double* total(const void* scratch, int sum = 0) const {
    return static_cast<const double*>(scratch) + sum * columns_;
  }

 private:
  Chunks chunks_;
  int64_t columns_ = 0;
};

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_SUMS_H_
