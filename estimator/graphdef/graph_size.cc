#include "estimator/graphdef/graph_size.h"

#include <cstdint>
#include <variant>

#include "estimator/array/array.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graph/function.h"

namespace estimator {
namespace {

size_t BytesOf(const Array& value) {
  // num_bytes() of strings is 0, because the size of a string is not fixed.
  if (value.dtype() != DType::kString) return value.num_bytes();
  size_t bytes = 0;
  for (const std::string& text : value.values<std::string>()) bytes += text.size();
  return bytes;
}

}  // namespace

ConstantBytes CountConstantBytes(const Graph& graph) {
  ConstantBytes count;
  for (const auto& node : graph.nodes()) {
    for (const auto& function : node->functions()) {
      if (function == nullptr) continue;
      const ConstantBytes inner = CountConstantBytes(function->graph());
      count.total += inner.total;
      if (inner.largest <= count.largest) continue;
      count.largest = inner.largest;
      count.largest_node = inner.largest_node;
    }
    for (const auto& [name, value] : node->attrs().values()) {
      const Array* const array = std::get_if<Array>(&value);
      if (array == nullptr) continue;
      const size_t bytes = BytesOf(*array);
      count.total += bytes;
      if (bytes <= count.largest && !count.largest_node.empty()) continue;
      count.largest = bytes;
      count.largest_node = node->name();
    }
  }
  return count;
}

absl::Status CheckConstantBytes(const Graph& graph, size_t max_bytes, absl::string_view file) {
  const ConstantBytes count = CountConstantBytes(graph);
  if (count.total <= max_bytes) return absl::OkStatus();
  const auto human = [](size_t bytes) { return HumanBytes(static_cast<int64_t>(bytes)); };
  return ResourceExhausted(
      "the graph holds ", human(count.total), " of constants, and ", file, " takes at most ",
      human(max_bytes), "; the largest is '", count.largest_node, "' with ", human(count.largest),
      ". Set such a value in Scaffold::init_fn or restore it from a checkpoint "
      "(warm_start_from, train::InitFromCheckpoint), or leave the graph out with "
      "RunConfig.checkpoint_save_graph_def = false");
}

}  // namespace estimator
