// The number of elements that Prefetch reads ahead. With kAutotune it begins with 1. It doubles
// when the consumer finds the buffer empty that was full since the last change: the input is fast
// enough on average, but not at every moment. If the input is always slower, a larger buffer is no
// help.
// Source: TF 2.15 tensorflow/core/kernels/data/prefetch_autotuner.h.
#ifndef ESTIMATOR_DATA_TRANSFORMS_PREFETCH_BUFFER_SIZE_H_
#define ESTIMATOR_DATA_TRANSFORMS_PREFETCH_BUFFER_SIZE_H_

#include <cstdint>

#include "estimator/data/pipeline/element.h"

namespace estimator {

// Not thread-safe.
class PrefetchBufferSize {
 public:
  // The bytes of elements that kAutotune does not exceed.
  static constexpr int64_t kMostBytes = int64_t{512} << 20;
  // From this size on, kAutotune adds it instead of doubling.
  static constexpr int64_t kLinearGrowth = 128;

  //   buffer_size: at least 1, or kAutotune.
  explicit PrefetchBufferSize(int64_t buffer_size);
  int64_t value() const { return value_; }
  // Call this before the consumer takes an element.
  //   buffered: number of elements in the buffer.  next: the first of them; null if there is none.
  void BeforeTake(int64_t buffered, const Element* next);

 private:
  const bool tuned_;
  int64_t value_;
  bool was_full_ = false;
  int64_t last_bytes_ = 0;  // of the element that was taken last
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_TRANSFORMS_PREFETCH_BUFFER_SIZE_H_
