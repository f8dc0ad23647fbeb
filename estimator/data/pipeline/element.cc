#include "estimator/data/pipeline/element.h"

#include <stdexcept>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

std::vector<std::string> QuotedNames(const ArrayMap& arrays) {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) names.push_back(absl::StrCat("\"", name, "\""));
  return names;
}

void AppendTypes(const ArrayMap& arrays, absl::string_view bare_name,
                 std::vector<std::string>* parts) {
  for (const auto& [name, array] : arrays) {
    parts->push_back(absl::StrCat(name.empty() ? bare_name : name, " ", array.TypeString()));
  }
}

}  // namespace

absl::StatusOr<Array> ArrayMap::Get(StringArg name) const {
  if (const auto found = find(std::string(name)); found != end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [key, array] : *this) names.push_back(key);
  return NotFound("no array is named \"", name, "\"; there ", names.size() == 1 ? "is " : "are ",
                  names.empty() ? "none" : JoinSome(QuotedNames(*this), kShownNames),
                  DidYouMean(name, names));
}

const Array& ArrayMap::at(const std::string& name) const {
  if (const auto found = find(name); found != end()) return found->second;
  throw std::out_of_range(std::string(Get(name).status().message()));
}

Array& ArrayMap::at(const std::string& name) {
  return const_cast<Array&>(std::as_const(*this).at(name));
}

absl::StatusOr<Array> ArrayMap::Only() const {
  if (size() == 1) return begin()->second;
  return FailedPrecondition(empty() ? "expected one array, but there is none"
                                    : absl::StrCat("expected one array, but there are ", size(),
                                                   ": ", JoinSome(QuotedNames(*this), kShownNames),
                                                   "; use Get(name)"));
}

std::string Element::ToString() const {
  std::vector<std::string> parts;
  AppendTypes(features, "features", &parts);
  AppendTypes(labels, "labels", &parts);
  return JoinSome(parts, kShownNames);
}

}  // namespace estimator
