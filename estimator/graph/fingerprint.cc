#include "estimator/graph/fingerprint.h"

#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "estimator/base/crc32c.h"
#include "estimator/graph/function.h"

namespace estimator {

uint32_t GraphFingerprint(const Graph& graph) {
  uint32_t crc = 0;
  for (const auto& node : graph.nodes()) {
    std::string text = absl::StrCat(node->name(), "\n", node->op(), "\n");
    for (const Tensor& input : node->inputs()) absl::StrAppend(&text, input.name(), "\n");
    for (const Operation& input : node->control_inputs())
      absl::StrAppend(&text, "^", input.node()->name(), "\n");
    for (const TensorSpec& output : node->outputs())
      absl::StrAppend(&text, output.ToString(), "\n");
    crc = ExtendCrc32c(crc, text);
    for (const auto& [name, value] : node->attrs().values()) {
      crc = ExtendCrc32c(crc, absl::StrCat(name, "=", AttrToString(value), "\n"));
      const Array* const array = std::get_if<Array>(&value);
      if (array != nullptr && array->dtype() != DType::kString)
        crc = ExtendCrc32c(crc, array->raw(), array->num_bytes());
    }
    for (const auto& function : node->functions()) {
      const uint32_t body = function == nullptr ? 0 : GraphFingerprint(function->graph());
      crc = ExtendCrc32c(crc, absl::StrCat(body, "\n"));
    }
  }
  return crc;
}

}  // namespace estimator
