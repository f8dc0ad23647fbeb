// Counts the damaged elements that IgnoreErrors skips, and limits their number.
#ifndef ESTIMATOR_DATA_PIPELINE_SKIPPED_ERRORS_H_
#define ESTIMATOR_DATA_PIPELINE_SKIPPED_ERRORS_H_

#include <cstdint>
#include <mutex>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/iterator_state.h"

namespace estimator {

// An element is known by its origin, such as "record 2 of train-0 at byte 40". It counts once, even
// if it is read in every epoch, or again after a resume. Thread-safe.
class SkippedErrors {
 public:
  // REQUIRES: max_errors >= 1.
  explicit SkippedErrors(int64_t max_errors) : max_errors_(max_errors) {}

  // Returns OK if the element is to be skipped, and logs the error the first time. Otherwise
  // returns an error: `error` if it is not of the data, such as a file that cannot be read, or with
  // the limit if max_errors other elements were skipped.
  //   error: DATA_LOSS and INVALID_ARGUMENT are errors of the data.
  //   where: the origin of the element.
  //   note: is added to the log line, such as "; the rest of the file is skipped as well".
  absl::Status Skip(const absl::Status& error, absl::string_view where,
                    absl::string_view note = "");

  // State: the number of elements; a 64-bit hash of the origin of each. On disk: do not change.
  void Save(StateWriter& state) const;
  absl::Status Restore(StateReader& state);

 private:
  const int64_t max_errors_;
  mutable std::mutex mutex_;
  std::set<uint64_t> skipped_;  // hashes of origins
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_SKIPPED_ERRORS_H_
