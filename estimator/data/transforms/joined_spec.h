// The element specs of datasets that one transform joins, such as Concatenate.
#ifndef ESTIMATOR_DATA_TRANSFORMS_JOINED_SPEC_H_
#define ESTIMATOR_DATA_TRANSFORMS_JOINED_SPEC_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/dataset_node.h"
#include "estimator/data/pipeline/element_spec.h"

namespace estimator {

class JoinedSpec {
 public:
  // Compares the specs that are known when the pipeline is built.
  //   transform: its name, for messages.
  // Errors: INVALID_ARGUMENT if there are no parts, or with the first component whose name or dtype
  // differs, and both types.
  static absl::StatusOr<JoinedSpec> Of(absl::string_view transform,
                                       const std::vector<NodePtr>& parts);

  // The spec that covers all parts; nullopt if that of a part is not known.
  const std::optional<ElementSpec>& spec() const { return spec_; }
  // Checks an element of a part, if not all specs were known. Thread-safe.
  //   where: the origin of the element.
  absl::Status Check(const Element& element, const std::function<std::string()>& where) const;

 private:
  std::string transform_;
  std::optional<ElementSpec> spec_;
  std::shared_ptr<const SpecGuard> guard_;  // null if spec_ is known
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_TRANSFORMS_JOINED_SPEC_H_
