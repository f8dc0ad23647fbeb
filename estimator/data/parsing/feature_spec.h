// What a feature of a tf.train.Example is parsed as.
#ifndef ESTIMATOR_DATA_PARSING_FEATURE_SPEC_H_
#define ESTIMATOR_DATA_PARSING_FEATURE_SPEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"

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
  // Whether a missing feature has no rows. With false it is an error. TensorFlow's default is
  // false, which tf.io.parse_example does not take.
  bool allow_missing = true;
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
// Checks all specs. Further errors: INVALID_ARGUMENT if the number of values of a VarLenFeature has
// the name of another feature.
absl::Status CheckFeatureSpecs(const FeatureSpecs& specs);
// The name of the number of values of a VarLenFeature: "<name>_length".
std::string LengthName(StringArg name);

// The list that a dtype needs, in TensorFlow's words: "string", "float", "int64". "" for a dtype
// that Examples do not have.
absl::string_view FeatureKindName(DType dtype);

// An INVALID_ARGUMENT error of a feature, as TensorFlow writes it: "Key: <name>.  <what>".
absl::Status FeatureError(absl::string_view name, absl::string_view what);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PARSING_FEATURE_SPEC_H_
