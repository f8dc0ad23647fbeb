// Moves the rows or columns of a variable from the indices of its words in an old vocabulary to
// their indices in a new vocabulary.
#ifndef ESTIMATOR_TRAINING_WARM_START_VOCAB_REMAP_H_
#define ESTIMATOR_TRAINING_WARM_START_VOCAB_REMAP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/training/warm_start/warm_start_settings.h"

namespace estimator {

struct VocabRemapping {
  std::vector<int64_t> old_index;  // of each new word: its index among the old words, or -1
  int64_t old_size = 0;            // number of old words in use
};

// Reads both vocabularies and compares them.
// Errors: those of the files; INVALID_ARGUMENT if a file has fewer words than its size option, or
// has a word twice (naming both lines).
// Source: TF 2.15 GenerateVocabRemapping.
absl::StatusOr<VocabRemapping> ReadVocabRemapping(const VocabInfo& info);

// Copies the rows (axis 0) or columns (axis 1) of words that both vocabularies have from
// `old_value` to `value`. Others in `value` do not change.
// REQUIRES: equal dtypes, and equal sizes except along `axis`; every old_index is below that size.
void RemapAxis(const Array& old_value, const VocabRemapping& remapping, int axis, Array* value);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_WARM_START_VOCAB_REMAP_H_
