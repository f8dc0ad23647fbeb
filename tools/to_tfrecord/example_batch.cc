#include "tools/to_tfrecord/example_batch.h"

#include <algorithm>

#include "absl/status/status.h"

namespace estimator {

ExampleBatch::ExampleBatch(size_t n, int num_threads,
                           const std::function<absl::StatusOr<std::string>(size_t i)>& make)
    : make_(make), results_(n, absl::UnknownError("not made")) {
  const size_t threads = std::min(n, static_cast<size_t>(std::max(num_threads, 1)));
  for (size_t t = 0; t < threads; ++t) {
    threads_.emplace_back([this] {
      for (size_t i = next_++; i < results_.size(); i = next_++) results_[i] = make_(i);
    });
  }
}

ExampleBatch::~ExampleBatch() { Wait(); }

std::vector<absl::StatusOr<std::string>>& ExampleBatch::Wait() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  return results_;
}

}  // namespace estimator
