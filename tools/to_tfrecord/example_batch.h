// Reads images and builds their Examples on several threads.
#ifndef TOOLS_TO_TFRECORD_EXAMPLE_BATCH_H_
#define TOOLS_TO_TFRECORD_EXAMPLE_BATCH_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"

namespace estimator {

// Calls a function for the numbers 0 to n - 1 on threads. The results do not depend on the number
// of threads. While it runs, the caller can do other work, such as writing the batch before.
class ExampleBatch {
 public:
  // make: thread-safe; lives as long as this object.
  ExampleBatch(size_t n, int num_threads,
               const std::function<absl::StatusOr<std::string>(size_t i)>& make);
  ~ExampleBatch();  // waits
  ExampleBatch(const ExampleBatch&) = delete;
  ExampleBatch& operator=(const ExampleBatch&) = delete;

  // Waits for the end. The results are in order.
  std::vector<absl::StatusOr<std::string>>& Wait();

 private:
  const std::function<absl::StatusOr<std::string>(size_t i)> make_;
  std::vector<absl::StatusOr<std::string>> results_;
  std::atomic<size_t> next_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace estimator

#endif  // TOOLS_TO_TFRECORD_EXAMPLE_BATCH_H_
