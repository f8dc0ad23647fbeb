// Makes a batch of rows that are added one by one.
#ifndef ESTIMATOR_DATA_TRANSFORMS_ROW_STACKER_H_
#define ESTIMATOR_DATA_TRANSFORMS_ROW_STACKER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

// StackRows, with each row copied when it is added. The thread that has made a row copies it while
// it is in the cache of its core, several threads copy at a time, and the memory of a row is used
// again for the next one.
class RowStacker {
 public:
  // max_rows: at least the number of rows of the batch. Memory for all of them is allocated at the
  // first row, if it is less than kMaxEarlyBytes.
  explicit RowStacker(int64_t max_rows) : max_rows_(max_rows) {}
  RowStacker(const RowStacker&) = delete;
  RowStacker& operator=(const RowStacker&) = delete;

  // Thread-safe for different rows. REQUIRES: index is in [0, max_rows).
  void Add(int64_t index, Element row);
  // The batch of the rows [0, num_rows). Call it once, after Add returned for all of them.
  // REQUIRES: num_rows > 0.
  // Errors: those of StackRows; where(i) is the origin of row i.
  absl::StatusOr<Element> Finish(int64_t num_rows, const std::function<std::string(size_t)>& where);

 private:
  // The memory of rows that do not come is never written. The limit keeps the system from refusing
  // the allocation.
  static constexpr int64_t kMaxEarlyBytes = int64_t{1} << 30;

  // Makes batch_ for rows like `row`, if its size allows it.
  void Start(const Element& row);

  const int64_t max_rows_;
  std::mutex mutex_;  // guards all below. After Start, batch_ changes only in the row that is added
  bool started_ = false;
  std::optional<Element> batch_;
  std::vector<std::optional<Element>> kept_;  // the rows that are not in batch_
  bool keeps_rows_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_TRANSFORMS_ROW_STACKER_H_
