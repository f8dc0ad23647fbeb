// NamedTensors: tensors by name. Receivers and export outputs take it where TensorFlow takes a
// tensor or a dict.
#ifndef ESTIMATOR_EXPORT_SIGNATURE_NAMED_TENSORS_H_
#define ESTIMATOR_EXPORT_SIGNATURE_NAMED_TENSORS_H_

#include <map>
#include <string>
#include <utility>

#include "estimator/graph/tensor.h"

namespace estimator {

// Sorted by name. A single tensor converts to a map with the name "".
class NamedTensors : public std::map<std::string, Tensor> {
 public:
  using std::map<std::string, Tensor>::map;
  NamedTensors() = default;
  NamedTensors(const Tensor& bare) { emplace("", bare); }                           // NOLINT
  NamedTensors(std::map<std::string, Tensor> tensors) : map(std::move(tensors)) {}  // NOLINT

  // Returns a copy in which the tensor without a name, if there is one, has the name `name`.
  NamedTensors WithDefaultName(const std::string& name) const {
    NamedTensors named = *this;
    if (const auto bare = named.find(""); bare != named.end()) {
      named.emplace(name, bare->second);
      named.erase("");
    }
    return named;
  }
};

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SIGNATURE_NAMED_TENSORS_H_
