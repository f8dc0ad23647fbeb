#include "estimator/graphdef/import/parse_example_node.h"

#include <utility>

#include "estimator/base/status.h"
#include "estimator/graphdef/import/output_numbers.h"
#include "estimator/graphdef/node_attr.h"
#include "estimator/graphdef/tensor_proto.h"

namespace estimator {
namespace {

absl::StatusOr<Array> Constant(const std::vector<Tensor>& inputs, size_t i) {
  if (i < inputs.size() && inputs[i].valid() && inputs[i].node()->op() == "Const")
    return inputs[i].node()->attrs().get<Array>("value");
  return InvalidArgument("input ", i, " is not a constant");
}

// The keys of the dense features, and the number of the first input that is a default value.
absl::StatusOr<std::pair<std::vector<std::string>, size_t>> Keys(
    const proto::NodeDef& node, const std::vector<Tensor>& inputs,
    const ParseExampleOutputs& outputs) {
  std::vector<std::string> keys;
  const auto append = [&](size_t input) -> absl::Status {
    EST_ASSIGN_OR_RETURN(const Array value, Constant(inputs, input));
    if (value.dtype() != DType::kString)
      return InvalidArgument("input ", input, " does not hold keys");
    for (const std::string& key : value.values<std::string>()) keys.push_back(key);
    return absl::OkStatus();
  };
  // The older op has an input for each key; the newer one has vectors of keys.
  if (node.op() == "ParseExampleV2") {  // serialized, names, sparse, dense and ragged keys
    EST_RETURN_IF_ERROR(append(3));
    return std::make_pair(std::move(keys), size_t{5});
  }
  const size_t first = 2 + static_cast<size_t>(outputs.num_sparse);
  const size_t count = static_cast<size_t>(outputs.num_dense);
  if (inputs.size() != first + 2 * count)
    return InvalidArgument("has ", inputs.size(), " inputs; its attributes require ",
                           first + 2 * count);
  for (size_t i = 0; i < count; ++i) EST_RETURN_IF_ERROR(append(first + i));
  return std::make_pair(std::move(keys), first + count);
}

// The fields of a spec, to compare two.
Attrs Fields(const FeatureSpec& spec) {
  if (const auto* const fixed = std::get_if<FixedLenFeature>(&spec)) {
    Attrs fields(
        {{"kind", std::string("fixed")}, {"dtype", fixed->dtype}, {"shape", fixed->shape}});
    if (fixed->default_value) fields.Set("default", *fixed->default_value);
    return fields;
  }
  if (const auto* const rows = std::get_if<FixedLenSequenceFeature>(&spec)) {
    return Attrs({{"kind", std::string("rows")},
                  {"dtype", rows->dtype},
                  {"shape", rows->shape},
                  {"max_length", rows->max_length},
                  {"default", Array::Scalar(rows->default_value)}});
  }
  const auto& values = std::get<VarLenFeature>(spec);
  return Attrs({{"kind", std::string("values")},
                {"dtype", values.dtype},
                {"max_length", values.max_length},
                {"default", Array::Scalar(values.default_value)}});
}

}  // namespace

absl::StatusOr<std::vector<DenseFeature>> DenseFeatures(const proto::NodeDef& node,
                                                        const std::vector<Tensor>& inputs) {
  const ParseExampleOutputs outputs = ParseExampleOutputsOf(node);
  EST_ASSIGN_OR_RETURN(const auto keys_and_defaults, Keys(node, inputs, outputs));
  const auto& [keys, first_default] = keys_and_defaults;
  const proto::AttrValue *const types = FindAttr(node, "Tdense"), *const shapes = FindAttr(
                                                                      node, "dense_shapes");
  const auto count = keys.size();
  if (types == nullptr || shapes == nullptr || count != static_cast<size_t>(outputs.num_dense) ||
      count != static_cast<size_t>(types->list().type_size()) ||
      count != static_cast<size_t>(shapes->list().shape_size())) {
    return InvalidArgument(
        "has ", count, " dense keys, but Ndense, Tdense or dense_shapes differ from that number");
  }
  std::vector<DenseFeature> features;
  for (size_t i = 0; i < count; ++i) {
    const auto& shape_proto = shapes->list().shape(static_cast<int>(i));
    EST_ASSIGN_OR_RETURN(const Shape shape, ReadShapeProto(shape_proto));
    // A feature of variable length is only an obstacle if a fetch needs it (ParsedOutputProblem).
    if (shape_proto.unknown_rank() || !shape.fully_known()) continue;
    const DType dtype = ReadDType(types->list().type(static_cast<int>(i)));
    EST_ASSIGN_OR_RETURN(const Array given, Constant(inputs, first_default + i));
    DenseFeature feature{.key = keys[i],
                         .spec = {.dtype = dtype, .shape = shape},
                         .output = outputs.first_dense() + static_cast<int>(i)};
    // TensorFlow writes an empty default for a feature that every Example must have.
    if (given.num_elements() > 0) {
      if (given.dtype() != dtype || given.num_elements() != shape.num_elements()) {
        return InvalidArgument("feature '", keys[i], "' is ", TensorSpec{dtype, shape}.ToString(),
                               ", but its default value is ", given.TypeString());
      }
      feature.spec.default_value = given.Reshaped(shape);
    }
    features.push_back(std::move(feature));
  }
  return features;
}

absl::Status AddFeatureSpec(const std::string& name, const FeatureSpec& spec, FeatureSpecs* specs) {
  const auto [known, inserted] = specs->emplace(name, spec);
  if (inserted || Fields(known->second) == Fields(spec)) return absl::OkStatus();
  return InvalidArgument("the feature '", name,
                         "' is parsed twice, with different types or defaults");
}

}  // namespace estimator
