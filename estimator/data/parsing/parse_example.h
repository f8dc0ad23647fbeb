// ParseExample: a map function from serialized tf.train.Examples to named arrays of static shapes.
//
//   TFRecordDataset(files).Map(ParseExample({
//       {"image/encoded", FixedLenFeature{.dtype = DType::kString}},
//       {"image/class/label", FixedLenFeature{.dtype = DType::kInt32}},
//       {"boxes", VarLenFeature{.dtype = DType::kFloat32, .max_length = 100}}}));
#ifndef ESTIMATOR_DATA_PARSING_PARSE_EXAMPLE_H_
#define ESTIMATOR_DATA_PARSING_PARSE_EXAMPLE_H_

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {

// Dtypes: kFloat32, kInt64 and kString, as Examples hold them; kInt32 is read from int64 values.

// Always `shape.num_elements()` values. Gives an array of that shape.
struct FixedLenFeature {
  DType dtype = DType::kFloat32;
  Shape shape = {};
  // Of `dtype`, with as many values. None: the feature is required.
  std::optional<Array> default_value = std::nullopt;
};
// Any number of rows of `shape`, none if the feature is missing. Gives [max_length, ...shape].
struct FixedLenSequenceFeature {
  DType dtype = DType::kFloat32;
  Shape shape = {};
  int64_t max_length = -1;   // rows; -1: as many as there are, for PaddedBatch
  double default_value = 0;  // of the padding; strings are padded with ""
};
// Any number of values. Gives [max_length], padded, and the number of values as i32 [] under
// "<name>_length". TensorFlow gives a SparseTensor, which programs pad straight away.
struct VarLenFeature {
  DType dtype = DType::kFloat32;
  int64_t max_length = -1;
  double default_value = 0;
};

using FeatureSpec = std::variant<FixedLenFeature, FixedLenSequenceFeature, VarLenFeature>;
using FeatureSpecs = std::map<std::string, FeatureSpec>;

// Errors: INVALID_ARGUMENT for a dtype that Examples do not hold, a shape that is not fully known,
// and a default_value of another dtype or number of values; both specs are named.
absl::Status CheckFixedLenFeature(absl::string_view name, const FixedLenFeature& spec);

// Takes elements with one string scalar: an Example. `labels` are the names that become labels.
// Errors: INVALID_ARGUMENT in TensorFlow's words for bytes that are no Example, a required feature
// that is missing, a wrong type or number of values, and more rows than max_length; as
// CheckFixedLenFeature.
MapFn ParseExample(FeatureSpecs specs, std::vector<std::string> labels = {});

// One Example without a Dataset.
absl::StatusOr<ArrayMap> ParseSingleExample(absl::string_view serialized,
                                            const FeatureSpecs& specs);

// The bytes of a string array as numbers of `dtype`, little-endian: shape [...strings, n].
// Errors: a length that is not a multiple of the dtype's size, or that differs between strings.
absl::StatusOr<Array> DecodeRaw(const Array& strings, DType dtype);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PARSING_PARSE_EXAMPLE_H_
