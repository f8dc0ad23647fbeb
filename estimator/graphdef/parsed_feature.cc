#include "estimator/graphdef/parsed_feature.h"

#include <utility>
#include <variant>
#include <vector>

#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/padding_value.h"
#include "estimator/graphdef/node_attr.h"
#include "estimator/graphdef/tensor_proto.h"

namespace estimator {
namespace {

constexpr char kSerialized[] = "_example_serialized", kKey[] = "_example_key",
               kKind[] = "_example_kind", kDType[] = "_example_dtype", kShape[] = "_example_shape",
               kDefault[] = "_example_default";
constexpr char kSequence[] = "FixedLenSequenceFeature", kVarLen[] = "VarLenFeature",
               kLength[] = "length";
constexpr int64_t kMaxScalarBytes = 1 << 10;
constexpr int64_t kMaxExampleElements = int64_t{1} << 31;  // of one Example

// What the two kinds of features have in common.
struct Padded {
  DType dtype = DType::kInvalid;
  Shape shape;  // [max_length, ...row]
  double default_value = 0;
};

Padded PaddedOf(const FeatureSpec& spec) {
  if (const auto* values = std::get_if<VarLenFeature>(&spec))
    return {values->dtype, {values->max_length}, values->default_value};
  const auto& rows = std::get<FixedLenSequenceFeature>(spec);
  std::vector<int64_t> dims = {rows.max_length};
  dims.insert(dims.end(), rows.shape.dims().begin(), rows.shape.dims().end());
  return {rows.dtype, Shape(std::move(dims)), rows.default_value};
}

std::string Text(const proto::NodeDef& node, const char* name) {
  const proto::AttrValue* const value = FindAttr(node, name);
  return value == nullptr ? "" : value->s();
}

}  // namespace

TensorSpec ParsedFeature::result() const {
  if (is_length) return {DType::kInt32, {}};
  const Padded padded = PaddedOf(spec);
  return {padded.dtype, padded.shape};
}

void WriteParsedFeature(const ParsedFeature& feature, proto::NodeDef* node) {
  const Padded padded = PaddedOf(feature.spec);
  auto& attrs = *node->mutable_attr();
  attrs[kSerialized].set_s(feature.serialized);
  attrs[kKey].set_s(feature.key);
  attrs[kKind].set_s(feature.is_length                                     ? kLength
                     : std::holds_alternative<VarLenFeature>(feature.spec) ? kVarLen
                                                                           : kSequence);
  attrs[kDType].set_type(static_cast<proto::DataType>(padded.dtype));
  WriteShapeProto(padded.shape, attrs[kShape].mutable_shape());
  WriteTensorProto(*PaddingValue(padded.default_value, padded.dtype), /*contents=*/true,
                   attrs[kDefault].mutable_tensor());
}

absl::StatusOr<std::optional<ParsedFeature>> ReadParsedFeature(const proto::NodeDef& node) {
  const std::string kind = Text(node, kKind);
  const proto::AttrValue *const dtype_attr = FindAttr(node, kDType),
                                *const shape_attr = FindAttr(node, kShape),
                                *const default_attr = FindAttr(node, kDefault);
  if (kind.empty() || dtype_attr == nullptr || shape_attr == nullptr || default_attr == nullptr)
    return std::nullopt;
  const DType dtype = ReadDType(dtype_attr->type());
  EST_ASSIGN_OR_RETURN(const Shape shape, ReadShapeProto(shape_attr->shape()));
  EST_ASSIGN_OR_RETURN(const Array value, ReadTensorProto(default_attr->tensor(), kMaxScalarBytes));
  // A file may have been edited; what comes next relies on all of this.
  const bool known_kind = kind == kSequence || kind == kVarLen || kind == kLength;
  if (!known_kind || !shape.fully_known() || shape.rank() < 1 || shape.dim(0) < 0 ||
      !HasElementsAtMost(shape, kMaxExampleElements) || (kind != kSequence && shape.rank() != 1) ||
      value.dtype() != dtype || value.num_elements() != 1) {
    return InvalidArgument("the attributes _example_* are not those of a feature: kind '", kind,
                           "', ", TensorSpec{dtype, shape}.ToString(), ", default ",
                           value.TypeString());
  }
  // Strings are padded with empty ones, whatever the default value is.
  const double padding = dtype == DType::kString ? 0 : value.AsDouble();
  ParsedFeature feature{.serialized = Text(node, kSerialized),
                        .key = Text(node, kKey),
                        .spec = {},
                        .is_length = kind == kLength};
  if (kind == kSequence) {
    const std::vector<int64_t> row(shape.dims().begin() + 1, shape.dims().end());
    feature.spec = FixedLenSequenceFeature{
        .dtype = dtype, .shape = Shape(row), .max_length = shape.dim(0), .default_value = padding};
  } else {
    feature.spec =
        VarLenFeature{.dtype = dtype, .max_length = shape.dim(0), .default_value = padding};
  }
  EST_RETURN_IF_ERROR(CheckFeatureSpec(feature.key, feature.spec));
  return feature;
}

}  // namespace estimator
