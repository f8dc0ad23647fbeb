// Marks a node of a GraphDef as a parsed feature of variable length, padded to a static size.
//
// tf.io.parse_example gives such features as sparse tensors, or padded to the longest of the batch,
// and further nodes pad them. Their sizes depend on the request, so they cannot be imported. The
// last of these nodes has attributes that say which feature it is, and is imported as a
// placeholder. TensorFlow ignores attributes whose names begin with an underscore. On disk: do not
// change.
//
//   _example_serialized   string   the tensor of the serialized Examples
//   _example_key          string   the name of the feature in the Example
//   _example_kind         string   "FixedLenSequenceFeature", "VarLenFeature", or "length": the
//                                  number of values of a VarLenFeature
//   _example_dtype        type     of the values
//   _example_shape        shape    [max_length, ...row]
//   _example_default      tensor   the padding value, a scalar
#ifndef ESTIMATOR_GRAPHDEF_PARSED_FEATURE_H_
#define ESTIMATOR_GRAPHDEF_PARSED_FEATURE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/data/parsing/parse_example.h"

namespace estimator {

namespace proto {
class NodeDef;
}  // namespace proto

struct ParsedFeature {
  std::string serialized;
  std::string key;
  FeatureSpec spec;        // with a max_length; no FixedLenFeature
  bool is_length = false;  // int32 [n] instead of the values

  // The name in the result of ParseSingleExample.
  std::string result_name() const { return is_length ? LengthName(key) : key; }
  // The result for one Example.
  TensorSpec result() const;
};

// REQUIRES: a spec with max_length >= 0 and without an error of CheckFeatureSpec.
void WriteParsedFeature(const ParsedFeature& feature, proto::NodeDef* node);

// nullopt if the node has no such attributes.
// Errors: INVALID_ARGUMENT if they are not those of a feature.
absl::StatusOr<std::optional<ParsedFeature>> ReadParsedFeature(const proto::NodeDef& node);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_PARSED_FEATURE_H_
