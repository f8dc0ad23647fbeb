// The operands of CTCLoss, checked and arranged by example, for its kernels.
#ifndef ESTIMATOR_KERNELS_CTC_LABELS_H_
#define ESTIMATOR_KERNELS_CTC_LABELS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

// A path emits a blank or a label in each step. It visits the states of an example in order: a
// blank, label 0, a blank, label 1, ..., a blank. State s is label s / 2 if s is odd.
struct CtcSizes {
  int64_t steps = 0, batch = 0, classes = 0;
  int64_t num_labels = 0;  // of all examples, with padding
  int64_t max_labels = 0;  // the largest number of labels of an example that has a path
  bool collapse = false;   // preprocess_collapse_repeated
  bool merge = true;       // ctc_merge_repeated
  bool ignore_longer = false;

  explicit CtcSizes(const KernelSpec& spec);

  int64_t blank() const { return classes - 1; }
  int64_t max_states() const { return 2 * max_labels + 1; }
  // The memory that CtcLabels takes.
  size_t scratch_bytes() const;
};

struct CtcExample {
  int64_t steps = 0;                      // its sequence_length
  absl::Span<const int32_t> labels = {};  // without padding
  bool ignored = false;                   // its loss is 0
};

// The examples of a step.
class CtcLabels {
 public:
  //   memory: sizes.scratch_bytes() bytes.
  CtcLabels(const CtcSizes& sizes, void* memory);
  // Reads labels_indices, labels_values and sequence_length: inputs 1, 2 and 3.
  // Errors: INVALID_ARGUMENT naming the example, the value and the range.
  absl::Status Read(const KernelArgs& args);
  CtcExample example(int64_t b) const;

 private:
  const CtcSizes& sizes_;
  int32_t* const values_;  // [num_labels], by example
  int64_t* const begins_;  // [batch + 1]
  bool* const ignored_;    // [batch]
  const int32_t* steps_ = nullptr;
};

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_CTC_LABELS_H_
