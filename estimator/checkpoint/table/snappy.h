// Decompresses snappy's raw format, which blocks of some published checkpoints have.
//   varint length of the result, then elements; the low two bits of an element's first byte say:
//   0 literal: length - 1 in the upper six bits, or, from 60 on, in the next 1 to 4 bytes
//   1 copy: length - 4 in bits 2 to 4, offset in bits 5 to 7 and the next byte
//   2, 3 copy: length - 1 in the upper six bits, offset in the next 2 or 4 bytes
// Source: snappy's format_description.txt.
#ifndef ESTIMATOR_CHECKPOINT_TABLE_SNAPPY_H_
#define ESTIMATOR_CHECKPOINT_TABLE_SNAPPY_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace estimator {

// nullopt if it is not such bytes, whole.
std::optional<std::string> SnappyUncompress(absl::string_view compressed);

}  // namespace estimator

#endif  // ESTIMATOR_CHECKPOINT_TABLE_SNAPPY_H_
