// Moves the rows (or columns) of a variable from the places of its words in an old vocabulary to
// those in a new one.
#ifndef ESTIMATOR_TRAINING_WARM_START_VOCAB_REMAP_H_
#define ESTIMATOR_TRAINING_WARM_START_VOCAB_REMAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/training/warm_start/warm_start_settings.h"

namespace estimator {

// For each of the new_vocab_size words its index among the old ones, or -1.
struct VocabRemapping {
  std::vector<int64_t> old_index;
  int64_t old_size = 0;  // words of the old vocabulary that count
};

// Errors: those of the files; INVALID_ARGUMENT if a file has fewer words than are to be used, or
// one twice (with both lines). Source: TF 2.15 GenerateVocabRemapping.
absl::StatusOr<VocabRemapping> ReadVocabRemapping(const VocabInfo& info);

// Copies what `remapping` has of `old_value` along `axis` into `value`, which keeps the rest.
// REQUIRES: equal dtypes and sizes but for that axis; old_index < the sizes there.
void RemapAxis(const Array& old_value, const VocabRemapping& remapping, int axis, Array* value);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_WARM_START_VOCAB_REMAP_H_
