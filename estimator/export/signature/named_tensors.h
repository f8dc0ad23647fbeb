// NamedTensors: tensors by name; what receivers and export outputs take where TensorFlow takes a
// tensor or a dict.
#ifndef ESTIMATOR_EXPORT_SIGNATURE_NAMED_TENSORS_H_
#define ESTIMATOR_EXPORT_SIGNATURE_NAMED_TENSORS_H_

#include <map>
#include <string>
#include <utility>

#include "estimator/graph/tensor.h"

namespace estimator {

// In name order. A bare tensor converts to a map of one whose name is "".
class NamedTensors : public std::map<std::string, Tensor> {
 public:
  using std::map<std::string, Tensor>::map;
  NamedTensors() = default;
  NamedTensors(const Tensor& bare) { emplace("", bare); }                           // NOLINT
  NamedTensors(std::map<std::string, Tensor> tensors) : map(std::move(tensors)) {}  // NOLINT

  // The same, a bare tensor under `name`.
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
