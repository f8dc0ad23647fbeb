#include "estimator/ops/building/shape_checks.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {

absl::Status CheckRank(const TensorSpec& spec, int rank, absl::string_view what,
                       absl::string_view hint) {
  if (spec.shape.rank() == rank) return absl::OkStatus();
  return InvalidArgument(what, " has rank ", spec.shape.rank(), ", expected ", rank,
                         hint.empty() ? "" : " ", hint);
}

absl::Status CheckRankAtLeast(const TensorSpec& spec, int rank, absl::string_view what) {
  if (spec.shape.rank() >= rank) return absl::OkStatus();
  return InvalidArgument(what, " has rank ", spec.shape.rank(), ", expected ", rank, " or more");
}

absl::Status CheckSameDType(const ShapeContext& c, const std::vector<int>& inputs) {
  const auto check = [&c](int i) {
    if (c.input(i).dtype == c.input(0).dtype) return absl::OkStatus();
    return InvalidArgument("input ", i, " is ", DTypeName(c.input(i).dtype), ", input 0 is ",
                           DTypeName(c.input(0).dtype), ": Cast one of them");
  };
  if (inputs.empty()) {
    for (int i = 1; i < c.num_inputs(); ++i) EST_RETURN_IF_ERROR(check(i));
  }
  for (const int i : inputs) EST_RETURN_IF_ERROR(check(i));
  return absl::OkStatus();
}

absl::Status CheckFloating(const TensorSpec& spec, absl::string_view what) {
  if (IsFloating(spec.dtype)) return absl::OkStatus();
  return InvalidArgument(what, " is ", DTypeName(spec.dtype),
                         ", expected a floating type: Cast it to float32");
}

absl::Status CheckShape(const TensorSpec& spec, const Shape& expected, absl::string_view what) {
  if (spec.shape == expected) return absl::OkStatus();
  return InvalidArgument(what, " is ", spec.shape.ToString(), ", expected ", expected.ToString());
}

OutputSpecs SameFloating(const ShapeContext& c) {
  EST_RETURN_IF_ERROR(CheckFloating(c.input(0), "input 0"));
  EST_RETURN_IF_ERROR(CheckSameDType(c));
  for (int i = 1; i < c.num_inputs(); ++i) {
    EST_RETURN_IF_ERROR(CheckShape(c.input(i), c.input(0).shape, absl::StrCat("input ", i)));
  }
  return std::vector<TensorSpec>{c.input(0)};
}

}  // namespace estimator
