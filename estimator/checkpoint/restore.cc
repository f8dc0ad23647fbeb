#include "estimator/checkpoint/restore.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

bool Widens(const TensorSpec& there, const TensorSpec& here) {
  return there.dtype == DType::kInt32 && here.dtype == DType::kInt64 && here.shape.rank() == 0 &&
         there.shape.rank() == 0;
}

// A name of the checkpoint that nobody wants: one with the same spec, or else any.
std::optional<std::string> NearestFree(const BundleReader& reader, const std::string& name,
                                       const TensorSpec& spec,
                                       const std::map<std::string, TensorSpec>& wanted) {
  std::vector<std::string> same;
  std::vector<std::string> free;
  for (const auto& [other, other_spec] : reader.specs()) {
    if (wanted.count(other) > 0) continue;
    free.push_back(other);
    if (other_spec == spec) same.push_back(other);
  }
  const std::optional<std::string> nearest = NearestName(name, same);
  return nearest ? nearest : NearestName(name, free);
}

std::string CureOfShape(const Shape& here, const Shape& there) {
  std::vector<int64_t> a = here.dims();
  std::vector<int64_t> b = there.dims();
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (a == b) return "transposed: the layouts differ";
  if (here.num_elements() == there.num_elements()) return "reshape it: as many elements";
  return "another size of the network: use its flags, or another model_dir";
}

}  // namespace

absl::Status CheckRestorable(const BundleReader& reader,
                             const std::map<std::string, TensorSpec>& wanted) {
  std::vector<std::vector<std::string>> rows = {
      {"variable", "here", "checkpoint", "nearest", "likely cure"}};
  bool missing = false;
  for (const auto& [name, here] : wanted) {
    const auto found = reader.specs().find(name);
    if (found == reader.specs().end()) {
      missing = true;
      const auto nearest = NearestFree(reader, name, here, wanted);
      rows.push_back({name, here.ToString(), "-", nearest.value_or("-"),
                      nearest ? "renamed: map the one to the other, or use the old name"
                              : "new here: another model_dir, or the settings of that run"});
      continue;
    }
    const TensorSpec& there = found->second;
    if (there == here || Widens(there, here)) continue;
    const bool same_shape = there.shape == here.shape;
    rows.push_back({name, here.ToString(), there.ToString(), name,
                    same_shape ? "another dtype: declare the variable with the checkpoint's"
                               : CureOfShape(here.shape, there.shape)});
  }
  if (rows.size() == 1) return absl::OkStatus();
  const std::string text =
      absl::StrCat("checkpoint ", reader.prefix(), " does not fit: ", rows.size() - 1, " of ",
                   wanted.size(), " variables differ\n", FormatTable(rows));
  return missing ? absl::NotFoundError(text) : absl::InvalidArgumentError(text);
}

absl::Status RestoreInto(const BundleReader& reader, const std::vector<RestoreTarget>& targets) {
  std::map<std::string, TensorSpec> wanted;
  for (const auto& [name, value] : targets) wanted[name] = {value->dtype(), value->shape()};
  EST_RETURN_IF_ERROR(CheckRestorable(reader, wanted));
  for (const auto& [name, value] : targets) {
    if (reader.specs().at(name).dtype == value->dtype()) {
      EST_RETURN_IF_ERROR(reader.ReadInto(name, value));
    } else {  // an i32 scalar for an i64 one
      EST_ASSIGN_OR_RETURN(const Array stored, reader.Read(name));
      value->data<int64_t>()[0] = stored.scalar<int32_t>();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::map<std::string, Array>> RestoreVariables(
    const BundleReader& reader, const std::map<std::string, TensorSpec>& wanted) {
  EST_RETURN_IF_ERROR(CheckRestorable(reader, wanted));
  std::map<std::string, Array> values;
  std::vector<RestoreTarget> targets;
  for (const auto& [name, spec] : wanted) {
    const auto [value, inserted] = values.emplace(name, Array(spec.dtype, spec.shape));
    targets.push_back({.name = name, .value = &value->second});
  }
  EST_RETURN_IF_ERROR(RestoreInto(reader, targets));
  return values;
}

}  // namespace estimator
