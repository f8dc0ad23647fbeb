#include "estimator/data/parsing/feature_spec.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/padding_value.h"

namespace estimator {
namespace {

absl::Status NotInExamples(absl::string_view name, DType dtype) {
  return FeatureError(
      name, absl::StrCat("Examples hold float32, int64 (also read as int32) and string, not ",
                         DTypeName(dtype)));
}

absl::Status CheckRow(absl::string_view name, const Shape& row) {
  if (row.fully_known() && row.num_elements() > 0) return absl::OkStatus();
  return FeatureError(
      name, absl::StrCat("A row is ", row.ToString(), "; its sizes must be known and positive"));
}

absl::Status CheckPadding(absl::string_view name, double padding, DType dtype) {
  if (padding == 0) return absl::OkStatus();
  const absl::Status status = PaddingValue(padding, dtype).status();
  return status.ok() ? status : Annotate(status, absl::StrCat("Key: ", name, ".  default_value"));
}

}  // namespace

absl::string_view FeatureKindName(DType dtype) {
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

absl::Status CheckFixedLenFeature(StringArg name, const FixedLenFeature& spec) {
  if (FeatureKindName(spec.dtype).empty()) return NotInExamples(name, spec.dtype);
  const auto type = [&spec] {
    return absl::StrCat(DTypeShortName(spec.dtype), " ", spec.shape.ToString());
  };
  if (!spec.shape.fully_known()) {
    return FeatureError(
        name, absl::StrCat("The sizes of a FixedLenFeature must be known; this one is ", type()));
  }
  const std::optional<Array>& value = spec.default_value;
  if (!value.has_value() ||
      (value->dtype() == spec.dtype && value->num_elements() == spec.shape.num_elements())) {
    return absl::OkStatus();
  }
  return FeatureError(
      name,
      absl::StrCat("default_value is ", value->TypeString(), ", but the feature is ", type(),
                   "; give a default of this dtype with ", spec.shape.num_elements(), " values"));
}

absl::Status CheckFeatureSpec(StringArg name, const FeatureSpec& spec) {
  if (const auto* fixed = std::get_if<FixedLenFeature>(&spec))
    return CheckFixedLenFeature(name, *fixed);
  const auto* rows = std::get_if<FixedLenSequenceFeature>(&spec);
  const auto* values = std::get_if<VarLenFeature>(&spec);
  const DType dtype = rows != nullptr ? rows->dtype : values->dtype;
  if (FeatureKindName(dtype).empty()) return NotInExamples(name, dtype);
  if (rows != nullptr) EST_RETURN_IF_ERROR(CheckRow(name, rows->shape));
  return CheckPadding(name, rows != nullptr ? rows->default_value : values->default_value, dtype);
}

std::string LengthName(StringArg name) { return absl::StrCat(name, "_length"); }

absl::Status FeatureError(absl::string_view name, absl::string_view what) {
  return InvalidArgument("Key: ", name, ".  ", what);
}

absl::Status CheckFeatureSpecs(const FeatureSpecs& specs) {
  for (const auto& [name, spec] : specs) {
    EST_RETURN_IF_ERROR(CheckFeatureSpec(name, spec));
    const std::string length = LengthName(name);
    if (!std::holds_alternative<VarLenFeature>(spec) || specs.count(length) == 0) continue;
    return FeatureError(name, absl::StrCat("Its number of values is the result \"", length,
                                           "\", which is the name of another feature as well"));
  }
  return absl::OkStatus();
}

}  // namespace estimator
