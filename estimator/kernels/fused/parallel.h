// Splits work over the process's OpenMP threads. The result depends only on the number of chunks:
// the bounds of a chunk are fixed when the kernel is built, and any thread may run it.
#ifndef ESTIMATOR_KERNELS_FUSED_PARALLEL_H_
#define ESTIMATOR_KERNELS_FUSED_PARALLEL_H_

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace estimator::fused {

// With fewer elements, a second thread costs more (a few microseconds) than it saves.
inline constexpr int64_t kElementsPerThread = 8192;

// Splits [0, items) into `count` contiguous chunks of nearly equal size.
struct Chunks {
  int64_t items = 0;
  int count = 1;

  int64_t begin(int chunk) const { return items * chunk / count; }
  int64_t end(int chunk) const { return items * (chunk + 1) / count; }
};

// One chunk for each thread, or fewer chunks if there is little work.
//   elements_per_item: the approximate cost of an item, as a number of array elements read or
//   written.
inline Chunks MakeChunks(int64_t items, int64_t elements_per_item = 1) {
  const int64_t wanted = items * std::max<int64_t>(1, elements_per_item) / kElementsPerThread;
  const int64_t most = std::min<int64_t>(omp_get_max_threads(), std::max<int64_t>(1, items));
  return {items, static_cast<int>(std::clamp<int64_t>(wanted, 1, most))};
}

// Calls fn(chunk, begin, end) for every chunk, in parallel. fn must not throw.
template <typename Fn>
void ParallelFor(const Chunks& chunks, Fn&& fn) {
  if (chunks.count == 1) {
    fn(0, int64_t{0}, chunks.items);
    return;
  }
  // All threads take part, those without a chunk too: libgomp ends the threads that a smaller team
  // leaves out, and starting them again takes longer than waking them.
#pragma omp parallel for schedule(static, 1)
  for (int chunk = 0; chunk < chunks.count; ++chunk)
    fn(chunk, chunks.begin(chunk), chunks.end(chunk));
}

// Calls fn(chunk, item) for every item of every chunk, the chunks in parallel.
template <typename Fn>
void ForEachItem(const Chunks& chunks, Fn&& fn) {
  ParallelFor(chunks, [&](int chunk, int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) fn(chunk, item);
  });
}

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_PARALLEL_H_
