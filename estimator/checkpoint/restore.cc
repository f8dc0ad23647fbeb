#include "estimator/checkpoint/restore.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

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
std::optional<std::string> NearestFree(const BundleReader& reader, const WantedVariable& variable,
                                       const std::set<std::string>& taken) {
  std::vector<std::string> same;
  std::vector<std::string> free;
  for (const auto& [other, other_spec] : reader.specs()) {
    if (taken.count(other) > 0) continue;
    free.push_back(other);
    if (other_spec == variable.spec) same.push_back(other);
  }
  const std::optional<std::string> nearest = NearestName(variable.stored_name, same);
  return nearest ? nearest : NearestName(variable.stored_name, free);
}

// Whether it is state that an optimizer keeps of a variable which the checkpoint has.
bool IsSlot(const BundleReader& reader, absl::string_view name,
            const std::set<std::string>& taken) {
  const size_t slash = name.rfind('/');
  if (slash == absl::string_view::npos) return false;
  const std::string variable(name.substr(0, slash));
  return taken.count(variable) > 0 && reader.specs().count(variable) > 0;
}

std::string CureOfShape(const Shape& here, const Shape& there, const RestoreAdvice& advice) {
  std::vector<int64_t> a = here.dims();
  std::vector<int64_t> b = there.dims();
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (a == b) return "transposed: the layouts differ";
  if (here.num_elements() == there.num_elements()) return "reshape it: as many elements";
  return advice.other_size;
}

}  // namespace

absl::Status CheckRestorable(const BundleReader& reader, const std::vector<WantedVariable>& wanted,
                             const RestoreAdvice& advice) {
  std::vector<std::vector<std::string>> rows = {
      {"variable", "here", "checkpoint", "nearest", "likely cure"}};
  std::set<std::string> taken;
  for (const WantedVariable& variable : wanted) taken.insert(variable.stored_name);
  bool missing = false;
  for (const WantedVariable& variable : wanted) {
    const TensorSpec& here = variable.spec;
    const std::string label =
        variable.stored_name == variable.name
            ? variable.name
            : absl::StrCat(variable.name, " (there ", variable.stored_name, ")");
    const auto found = reader.specs().find(variable.stored_name);
    if (found == reader.specs().end()) {
      missing = true;
      if (IsSlot(reader, variable.stored_name, taken)) {
        rows.push_back({label, here.ToString(), "-", "-", advice.slot});
        continue;
      }
      const auto nearest = NearestFree(reader, variable, taken);
      rows.push_back({label, here.ToString(), "-", nearest.value_or("-"),
                      nearest ? advice.renamed : advice.missing});
      continue;
    }
    const TensorSpec& there = found->second;
    if (there == here || Widens(there, here)) continue;
    const bool same_shape = there.shape == here.shape;
    rows.push_back({label, here.ToString(), there.ToString(), variable.stored_name,
                    same_shape ? "another dtype: declare the variable with the checkpoint's"
                               : CureOfShape(here.shape, there.shape, advice)});
  }
  if (rows.size() == 1) return absl::OkStatus();
  const std::string text =
      absl::StrCat("checkpoint ", reader.prefix(), " does not fit: ", rows.size() - 1, " of ",
                   wanted.size(), " variables differ\n", FormatTable(rows), advice.closing);
  return missing ? absl::NotFoundError(text) : absl::InvalidArgumentError(text);
}

absl::Status RestoreInto(const BundleReader& reader, const WantedVariable& wanted, Array* value) {
  const auto found = reader.specs().find(wanted.stored_name);
  if (found == reader.specs().end() || !Widens(found->second, wanted.spec)) {
    return reader.ReadInto(wanted.stored_name, value);
  }
  EST_ASSIGN_OR_RETURN(const Array narrow, reader.Read(wanted.stored_name));
  value->data<int64_t>()[0] = narrow.scalar<int32_t>();
  return absl::OkStatus();
}

}  // namespace estimator
