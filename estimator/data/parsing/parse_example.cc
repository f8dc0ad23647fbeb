#include "estimator/data/parsing/parse_example.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/padding_value.h"
#include "estimator/proto/example.pb.h"
#include "estimator/proto/serialize.h"

namespace estimator {
namespace {

// The type of a list in an Example, or the type of list that a dtype needs.
absl::string_view KindName(const proto::Feature& feature) {
  switch (feature.kind_case()) {
    case proto::Feature::kBytesList:
      return "string";
    case proto::Feature::kFloatList:
      return "float";
    case proto::Feature::kInt64List:
      return "int64";
    case proto::Feature::KIND_NOT_SET:
      break;
  }
  return "none";
}
absl::string_view KindName(DType dtype) {
  switch (dtype) {
    case DType::kString:
      return "string";
    case DType::kFloat32:
      return "float";
    case DType::kInt32:
    case DType::kInt64:
      return "int64";
    default:
      return "";
  }
}

int64_t NumValues(const proto::Feature& feature) {
  return feature.bytes_list().value_size() + feature.float_list().value_size() +
         feature.int64_list().value_size();
}

absl::Status NotInExamples(absl::string_view name, DType dtype) {
  return absl::InvalidArgumentError(
      absl::StrCat("Key: ", name, ".  Examples hold float32, int64 (also read as int32) and ",
                   "string, not ", DTypeName(dtype)));
}

absl::Status CheckKind(const std::string& name, const proto::Feature& feature, DType dtype) {
  if (KindName(feature) == KindName(dtype)) return absl::OkStatus();
  if (KindName(dtype).empty()) return NotInExamples(name, dtype);
  return absl::InvalidArgumentError(
      absl::StrCat("Key: ", name, ".  Data types don't match. Expected type: ", KindName(dtype),
                   ", got ", KindName(feature)));
}

// Copies all values to the beginning of `out`. REQUIRES: CheckKind succeeded and `out` is large
// enough.
absl::Status CopyValues(const std::string& name, const proto::Feature& feature, Array* out) {
  switch (out->dtype()) {
    case DType::kString:
      std::copy(feature.bytes_list().value().begin(), feature.bytes_list().value().end(),
                out->data<std::string>());
      return absl::OkStatus();
    case DType::kFloat32:
      std::copy(feature.float_list().value().begin(), feature.float_list().value().end(),
                out->data<float>());
      return absl::OkStatus();
    case DType::kInt64:
      std::copy(feature.int64_list().value().begin(), feature.int64_list().value().end(),
                out->data<int64_t>());
      return absl::OkStatus();
    default:
      break;
  }
  int32_t* to = out->data<int32_t>();
  for (const int64_t value : feature.int64_list().value()) {
    if (value < std::numeric_limits<int32_t>::min() ||
        value > std::numeric_limits<int32_t>::max()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Key: ", name, ".  The value ", value, " does not fit int32; read the feature as int64"));
    }
    *to++ = static_cast<int32_t>(value);
  }
  return absl::OkStatus();
}

absl::StatusOr<Array> ParseFixed(const std::string& name, const proto::Feature* feature,
                                 const FixedLenFeature& spec) {
  EST_RETURN_IF_ERROR(CheckFixedLenFeature(name, spec));
  if (feature == nullptr) {
    if (spec.default_value) return spec.default_value->Reshaped(spec.shape);
    return absl::InvalidArgumentError(absl::StrCat("Feature: ", name,
                                                   " (data type: ", KindName(spec.dtype),
                                                   ") is required but could not be found."));
  }
  EST_RETURN_IF_ERROR(CheckKind(name, *feature, spec.dtype));
  if (NumValues(*feature) != spec.shape.num_elements()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Key: ", name, ".  Number of ", KindName(spec.dtype), " values != expected.  Values size: ",
        NumValues(*feature), " but output shape: ", spec.shape.ToString()));
  }
  Array array(spec.dtype, spec.shape);
  EST_RETURN_IF_ERROR(CopyValues(name, *feature, &array));
  return array;
}

absl::Status CheckRow(absl::string_view name, const Shape& row) {
  if (row.fully_known() && row.num_elements() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Key: ", name, ".  A row is ", row.ToString(),
                                                 "; its sizes must be known and positive"));
}

absl::Status CheckPadding(absl::string_view name, double padding, DType dtype) {
  if (padding == 0) return absl::OkStatus();
  const absl::Status status = PaddingValue(padding, dtype).status();
  return status.ok() ? status : Annotate(status, absl::StrCat("Key: ", name, ".  default_value"));
}

// Parses a feature of any number of rows.
//   num_rows: set to the number of rows without the padding.
absl::StatusOr<Array> ParseRows(const std::string& name, const proto::Feature* feature, DType dtype,
                                const Shape& row, int64_t max_length, double padding,
                                int64_t* num_rows) {
  int64_t num_values = 0;
  if (feature != nullptr) {
    EST_RETURN_IF_ERROR(CheckKind(name, *feature, dtype));
    num_values = NumValues(*feature);
  }
  EST_RETURN_IF_ERROR(CheckRow(name, row));
  const int64_t row_size = row.num_elements();
  if (num_values % row_size != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Key: ", name, ".  Number of ", KindName(dtype), " values is ", num_values,
                     ", not a multiple of a row's ", row_size, " (", row.ToString(), ")"));
  }
  *num_rows = num_values / row_size;
  if (max_length >= 0 && *num_rows > max_length) {
    return absl::InvalidArgumentError(absl::StrCat("Key: ", name, ".  It has ", *num_rows,
                                                   " rows, but max_length is ", max_length,
                                                   "; raise max_length"));
  }
  std::vector<int64_t> dims = {max_length >= 0 ? max_length : *num_rows};
  dims.insert(dims.end(), row.dims().begin(), row.dims().end());
  Array array(dtype, Shape(std::move(dims)));
  if (padding != 0) {
    const absl::StatusOr<Array> value = PaddingValue(padding, dtype);
    if (!value.ok())
      return Annotate(value.status(), absl::StrCat("Key: ", name, ".  default_value"));
    VisitNumeric(dtype, [&](auto tag) {
      using T = decltype(tag);
      std::fill_n(array.data<T>(), array.num_elements(), value->scalar<T>());
    });
  }
  if (feature != nullptr) EST_RETURN_IF_ERROR(CopyValues(name, *feature, &array));
  return array;
}

}  // namespace

absl::Status CheckFixedLenFeature(StringArg name, const FixedLenFeature& spec) {
  if (KindName(spec.dtype).empty()) return NotInExamples(name, spec.dtype);
  const std::string type = absl::StrCat(DTypeShortName(spec.dtype), " ", spec.shape.ToString());
  if (!spec.shape.fully_known()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Key: ", name, ".  The sizes of a FixedLenFeature must be known; this one is ", type));
  }
  const std::optional<Array>& value = spec.default_value;
  if (!value.has_value() ||
      (value->dtype() == spec.dtype && value->num_elements() == spec.shape.num_elements())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "Key: ", name, ".  default_value is ", value->TypeString(), ", but the feature is ", type,
      "; give a default of this dtype with ", spec.shape.num_elements(), " values"));
}

absl::Status CheckFeatureSpec(StringArg name, const FeatureSpec& spec) {
  if (const auto* fixed = std::get_if<FixedLenFeature>(&spec))
    return CheckFixedLenFeature(name, *fixed);
  const auto* rows = std::get_if<FixedLenSequenceFeature>(&spec);
  const auto* values = std::get_if<VarLenFeature>(&spec);
  const DType dtype = rows != nullptr ? rows->dtype : values->dtype;
  if (KindName(dtype).empty()) return NotInExamples(name, dtype);
  if (rows != nullptr) EST_RETURN_IF_ERROR(CheckRow(name, rows->shape));
  return CheckPadding(name, rows != nullptr ? rows->default_value : values->default_value, dtype);
}

std::string LengthName(StringArg name) { return absl::StrCat(name, "_length"); }

absl::StatusOr<ArrayMap> ParseSingleExample(StringArg serialized, const FeatureSpecs& specs) {
  proto::Example example;
  if (!ParseWithinLimit(serialized, &example)) {
    return absl::InvalidArgumentError(absl::StrCat("Could not parse example input: its ",
                                                   serialized.size(),
                                                   " bytes are not a serialized tf.train.Example"));
  }
  ArrayMap out;
  for (const auto& [name, spec] : specs) {
    const auto found = example.features().feature().find(name);
    const proto::Feature* feature = nullptr;
    if (found != example.features().feature().end() &&
        found->second.kind_case() != proto::Feature::KIND_NOT_SET) {
      feature = &found->second;
    }
    int64_t num_rows = 0;
    if (const auto* fixed = std::get_if<FixedLenFeature>(&spec)) {
      EST_ASSIGN_OR_RETURN(out[name], ParseFixed(name, feature, *fixed));
    } else if (const auto* rows = std::get_if<FixedLenSequenceFeature>(&spec)) {
      EST_ASSIGN_OR_RETURN(out[name], ParseRows(name, feature, rows->dtype, rows->shape,
                                                rows->max_length, rows->default_value, &num_rows));
    } else {
      const auto& values = std::get<VarLenFeature>(spec);
      EST_ASSIGN_OR_RETURN(out[name], ParseRows(name, feature, values.dtype, {}, values.max_length,
                                                values.default_value, &num_rows));
      out[LengthName(name)] = Array::Scalar<int32_t>(static_cast<int32_t>(num_rows));
    }
  }
  return out;
}

MapFn ParseExample(FeatureSpecs specs, std::vector<std::string> labels) {
  return [specs = std::move(specs),
          labels = std::move(labels)](const Element& element) -> absl::StatusOr<Element> {
    EST_ASSIGN_OR_RETURN(const Array serialized, element.features.Only());
    if (serialized.dtype() != DType::kString || serialized.num_elements() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("ParseExample takes one serialized Example (string []), not ",
                       serialized.TypeString(), "; map before Batch"));
    }
    Element parsed;
    EST_ASSIGN_OR_RETURN(parsed.features,
                         ParseSingleExample(serialized.data<std::string>()[0], specs));
    for (const std::string& name : labels) {
      EST_ASSIGN_OR_RETURN(Array label, parsed.features.Get(name));
      parsed.features.erase(name);
      parsed.labels[labels.size() == 1 ? "" : name] = std::move(label);
    }
    return parsed;
  };
}

absl::StatusOr<Array> DecodeRaw(const Array& strings, DType dtype) {
  const size_t size = DTypeSize(dtype);
  if (strings.dtype() != DType::kString || size == 0) {
    return absl::InvalidArgumentError(absl::StrCat("DecodeRaw reads strings as numbers, not ",
                                                   strings.TypeString(), " as ", DTypeName(dtype)));
  }
  const absl::Span<const std::string> values = strings.values<std::string>();
  const size_t bytes = values.empty() ? 0 : values[0].size();
  if (bytes % size != 0) {
    return absl::InvalidArgumentError(absl::StrCat("DecodeRaw: input of ", bytes,
                                                   " bytes is not a multiple of ", size,
                                                   ", the size of ", DTypeName(dtype)));
  }
  Shape shape = strings.shape();
  shape.push_back(static_cast<int64_t>(bytes / size));
  Array out(dtype, std::move(shape));
  char* to = static_cast<char*>(out.raw());
  for (const std::string& value : values) {
    if (value.size() != bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("DecodeRaw: the strings have different lengths: ", bytes, " and ",
                       value.size(), " bytes"));
    }
    if (bytes > 0) std::memcpy(to, value.data(), bytes);
    to += bytes;
  }
  return out;
}

}  // namespace estimator
