// Elements as bytes, for files. For the features, then for the labels:
//   count         integer: number of arrays
//   each array, sorted by name:
//     name        bytes
//     dtype       integer: TensorFlow's DataType
//     rank        integer, then each size as an integer
//     values      numbers: bytes, little-endian; strings: bytes for each
// Integers and bytes are those of iterator_state.h. On disk: do not change.
#ifndef ESTIMATOR_DATA_PIPELINE_ELEMENT_BYTES_H_
#define ESTIMATOR_DATA_PIPELINE_ELEMENT_BYTES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

std::string ElementToBytes(const Element& element);

// Errors: DATA_LOSS if the bytes are not a result of ElementToBytes.
absl::StatusOr<Element> ElementFromBytes(absl::string_view bytes);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_ELEMENT_BYTES_H_
