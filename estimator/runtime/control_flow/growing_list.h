// GrowingList: what a loop stacks when nobody knows how many trips it will run. Another loop reads
// it. Internal to runtime.
#ifndef ESTIMATOR_RUNTIME_CONTROL_FLOW_GROWING_LIST_H_
#define ESTIMATOR_RUNTIME_CONTROL_FLOW_GROWING_LIST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "absl/status/status.h"

namespace estimator {

// Rows of equal size, one after the other. It keeps its memory when it becomes shorter, so that
// only the first steps allocate. Not thread-safe.
class GrowingList {
 public:
  explicit GrowingList(size_t row_bytes) : row_bytes_(std::max<size_t>(row_bytes, 1)) {}

  int64_t rows() const { return rows_; }
  // The first one is 64-byte aligned. REQUIRES: 0 <= row < rows().
  char* row(int64_t row) const { return data_.get() + static_cast<size_t>(row) * row_bytes_; }
  // Changes the number of rows; new ones have no values yet. Moves rows in memory if it grows, so
  // that n calls for one more row take time in proportion to n.
  // Errors: RESOURCE_EXHAUSTED if more memory is needed than is available
  // (base/available_memory.h).
  absl::Status Resize(int64_t rows);

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  size_t row_bytes_;
  int64_t rows_ = 0;
  size_t capacity_ = 0;  // in bytes
  std::unique_ptr<char, Free> data_;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_CONTROL_FLOW_GROWING_LIST_H_
