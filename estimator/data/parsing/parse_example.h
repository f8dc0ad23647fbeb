// ParseExample is a map function. It parses serialized tf.train.Examples into named arrays of
// static shapes.
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
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {

// The dtypes of features are kFloat32, kInt64 and kString, as Examples store them, and kInt32,
// which is converted from int64 values.

// A feature with exactly shape.num_elements() values. The result is an array of that shape.
struct FixedLenFeature {
  DType dtype = DType::kFloat32;
  Shape shape = {};
  // The value of a missing feature, of dtype `dtype` and with the same number of values. Without a
  // default the feature is required.
  std::optional<Array> default_value = std::nullopt;
};
// A feature with any number of rows of `shape`; a missing feature has none. The result is an array
// [max_length, ...shape].
struct FixedLenSequenceFeature {
  DType dtype = DType::kFloat32;
  Shape shape = {};
  int64_t max_length = -1;   // in rows; -1 does not pad, for PaddedBatch
  double default_value = 0;  // the padding value; strings are padded with ""
};
// A feature with any number of values. The result is a padded array [max_length], and the number of
// values as i32 [] with the name "<name>_length". TensorFlow returns a SparseTensor, which programs
// usually pad at once.
struct VarLenFeature {
  DType dtype = DType::kFloat32;
  int64_t max_length = -1;   // in values; -1 does not pad, for PaddedBatch
  double default_value = 0;  // the padding value; strings are padded with ""
};

using FeatureSpec = std::variant<FixedLenFeature, FixedLenSequenceFeature, VarLenFeature>;
using FeatureSpecs = std::map<std::string, FeatureSpec>;

// Checks a spec.
// Errors: INVALID_ARGUMENT for a dtype that Examples do not have, for a shape that is not fully
// known, and for a default_value of another dtype or number of values (with both types).
absl::Status CheckFixedLenFeature(StringArg name, const FixedLenFeature& spec);
// The same for any spec. Further errors: INVALID_ARGUMENT for a row whose sizes are not positive,
// and for a padding value that the dtype cannot represent.
absl::Status CheckFeatureSpec(StringArg name, const FeatureSpec& spec);
// The name of the number of values of a VarLenFeature: "<name>_length".
std::string LengthName(StringArg name);

// A map function for elements with one string scalar, a serialized Example.
//   labels: the names of the features that become labels. A single label has the name "".
// Errors of the function: as CheckFixedLenFeature. INVALID_ARGUMENT, in TensorFlow's words, if the
// bytes are not an Example, a required feature is missing, the type or number of values is wrong,
// or there are more rows than max_length.
MapFn ParseExample(FeatureSpecs specs, std::vector<std::string> labels = {});

// Parses one Example without a Dataset.
absl::StatusOr<ArrayMap> ParseSingleExample(StringArg serialized, const FeatureSpecs& specs);

// Decodes the bytes of a string array as little-endian numbers of `dtype`. The result has the shape
// [...strings, n].
// Errors: INVALID_ARGUMENT if a length is not a multiple of the dtype's size, or if the lengths of
// the strings differ.
absl::StatusOr<Array> DecodeRaw(const Array& strings, DType dtype);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PARSING_PARSE_EXAMPLE_H_
