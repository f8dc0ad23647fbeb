#include "estimator/data/transforms/joined_spec.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {

absl::StatusOr<JoinedSpec> JoinedSpec::Of(absl::string_view transform,
                                          const std::vector<NodePtr>& parts) {
  if (parts.empty()) return InvalidArgument(transform, ": there are no datasets");
  JoinedSpec joined;
  joined.transform_ = std::string(transform);
  bool all_known = true;
  const auto place = [&parts](size_t i) {
    return absl::StrCat("dataset ", i, " (", DescribeNode(*parts[i]), ")");
  };
  size_t first = 0;  // the first part whose spec is known
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::optional<ElementSpec> spec = parts[i]->element_spec();
    if (!spec) {
      all_known = false;
    } else if (!joined.spec_) {
      joined.spec_ = spec;
      first = i;
    } else {
      const absl::Status status =
          CheckSpec(*joined.spec_, place(first), *spec, place(i), CompareShapes::kNo);
      if (!status.ok()) {
        return InvalidArgument(transform, ": ", status.message(), "; make them equal in Map");
      }
      joined.spec_ = MostGeneral(*joined.spec_, *spec);
    }
  }
  if (!all_known) {
    joined.spec_ = std::nullopt;
    joined.guard_ = std::make_shared<const SpecGuard>(std::nullopt);
  }
  return joined;
}

absl::Status JoinedSpec::Check(const Element& element,
                               const std::function<std::string()>& where) const {
  if (guard_ == nullptr) return absl::OkStatus();
  const absl::Status status = guard_->Check(element);
  if (status.ok()) return status;
  return Annotate(status, absl::StrCat(transform_, ": ", where()));
}

}  // namespace estimator
