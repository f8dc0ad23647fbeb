#include "models/common/graph_flops.h"

#include <optional>
#include <string>
#include <vector>

namespace estimator {
namespace {

double Elements(const Shape& shape) { return static_cast<double>(shape.num_elements()); }

// The multiply-adds of a convolution: each output element needs the elements of a filter that lead
// to it, and those are all axes but the last one; of a depthwise filter, the first two.
double ConvProducts(const Shape& output, const Shape& filter, bool depthwise) {
  const auto rows_and_columns = static_cast<double>(filter.dim(0) * filter.dim(1));
  return Elements(output) * rows_and_columns *
         (depthwise ? 1.0 : static_cast<double>(filter.dim(2)));
}

// The multiply-adds of a node; nullopt if it is no product.
std::optional<double> Products(const Node& node) {
  const std::string& op = node.op();
  const auto input = [&](int i) -> const Shape& { return node.input(i).shape(); };
  if (op == "MatMul" || op == "BatchMatMulV2") {
    const bool transposed = node.attrs().b(op == "MatMul" ? "transpose_a" : "adj_x");
    return Elements(node.outputs()[0].shape) *
           static_cast<double>(input(0).dim(transposed ? -2 : -1));
  }
  const bool depthwise = op.rfind("DepthwiseConv2dNative", 0) == 0;
  if (!depthwise && op.rfind("Conv2D", 0) != 0) return std::nullopt;
  const bool to_input = op.find("BackpropInput") != std::string::npos;
  const bool to_filter = op.find("BackpropFilter") != std::string::npos;
  // The gradients have as many products as the forward convolution, whose output has the shape of
  // the incoming gradient (input 2).
  const Shape& output = to_input || to_filter ? input(2) : node.outputs()[0].shape;
  return ConvProducts(output, to_filter ? node.outputs()[0].shape : input(1), depthwise);
}

}  // namespace

double ProductFlops(const Graph& graph) {
  // Inputs have smaller ids, so that one pass from the last node to the first finds what is used.
  // An unused node that is no product is taken for an update.
  const auto& nodes = graph.nodes();
  std::vector<bool> read(nodes.size(), false), used(nodes.size(), false);
  double products = 0;
  for (size_t i = nodes.size(); i-- > 0;) {
    const Node& node = *nodes[i];
    const std::optional<double> of_node = Products(node);
    const auto id = static_cast<size_t>(node.id());
    used[id] = used[id] || (!read[id] && !of_node.has_value());
    const auto mark = [&](const Node* from) {
      if (from == nullptr) return;
      read[static_cast<size_t>(from->id())] = true;
      if (used[id]) used[static_cast<size_t>(from->id())] = true;
    };
    for (const Tensor& from : node.inputs()) mark(from.node());
    for (const Operation& from : node.control_inputs()) mark(from.node());
    if (used[id]) products += of_node.value_or(0);
  }
  return 2 * products;
}

}  // namespace estimator
