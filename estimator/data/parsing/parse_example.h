// Parses serialized tf.train.Examples and SequenceExamples into named arrays. ParseExample is a map
// function:
//   TFRecordDataset(files).Map(ParseExample({
//       {"image/encoded", FixedLenFeature{.dtype = DType::kString}},
//       {"image/class/label", FixedLenFeature{.dtype = DType::kInt32}},
//       {"boxes", VarLenFeature{.dtype = DType::kFloat32, .max_length = 100}}}));
#ifndef ESTIMATOR_DATA_PARSING_PARSE_EXAMPLE_H_
#define ESTIMATOR_DATA_PARSING_PARSE_EXAMPLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/base/string_arg.h"
#include "estimator/data/parsing/feature_spec.h"  // IWYU pragma: export
#include "estimator/data/pipeline/dataset.h"

namespace estimator {

// A map function for elements with one string array: a serialized Example (string []), or a batch
// of them (string [n]). The arrays of a batch have an axis 0 of size n; parsing after Batch is
// faster than before it. With max_length = -1 the rows of a batch are padded to the longest of
// them.
//   labels: the names of the features that become labels. A single label has the name "".
// The spec of the results is known when the pipeline is built, without output_signature.
// Errors (of MakeIterator): as CheckFeatureSpec; the elements are no such strings; a label is not
// among the features.
// Errors of the function: as CheckFeatureSpec. INVALID_ARGUMENT, in TensorFlow's words, if the
// bytes are not an Example, a required feature is missing, the type or number of values is wrong,
// or there are more rows than max_length.
// Source: TF 2.15 tf.io.parse_example.
MapFunction ParseExample(FeatureSpecs specs, std::vector<std::string> labels = {});

// Parses one Example without a Dataset.
// Source: TF 2.15 tf.io.parse_single_example.
absl::StatusOr<ArrayMap> ParseSingleExample(StringArg serialized, const FeatureSpecs& specs);

// A map function for elements with one serialized SequenceExample (string []). The results of both
// specs are features of the element.
//   context: as the specs of ParseExample.
//   sequences: a FixedLenSequenceFeature gives the steps of a list: [steps, ...shape]; each step
//     has exactly shape.num_elements() values. A VarLenFeature gives padded steps [steps,
//     max_length], where max_length = -1 is the longest step, and the number of values of each step
//     as i32 [steps] with the name "<name>_length".
//   labels: as those of ParseExample.
// The spec of the results is known when the pipeline is built, as that of ParseExample.
// Errors of the function: as ParseExample. INVALID_ARGUMENT if both specs have a name, for a
// FixedLenFeature in `sequences`, and for a missing list without allow_missing.
// Source: TF 2.15 tf.io.parse_single_sequence_example.
MapFunction ParseSequenceExample(FeatureSpecs context, FeatureSpecs sequences,
                                 std::vector<std::string> labels = {});

// Parses one SequenceExample without a Dataset.
absl::StatusOr<ArrayMap> ParseSingleSequenceExample(StringArg serialized,
                                                    const FeatureSpecs& context,
                                                    const FeatureSpecs& sequences);

// Decodes the bytes of a string array as little-endian numbers of `dtype`. The result has the shape
// [...strings, n].
// Errors: INVALID_ARGUMENT if a length is not a multiple of the dtype's size, or if the lengths of
// the strings differ.
absl::StatusOr<Array> DecodeRaw(const Array& strings, DType dtype);
// The reverse: the numbers of an array, row by row, as one string of little-endian bytes. NumPy's
// tobytes gives the same. For a bytes feature of an Example:
//   ExampleBuilder().Bytes("x", {*EncodeRaw(x)})
// Errors: INVALID_ARGUMENT for strings, or an array without a dtype.
absl::StatusOr<std::string> EncodeRaw(const Array& numbers);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PARSING_PARSE_EXAMPLE_H_
