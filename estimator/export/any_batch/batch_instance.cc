#include "estimator/export/any_batch/batch_instance.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/function.h"
#include "estimator/graph/needed_nodes.h"
#include "glog/logging.h"

namespace estimator {
namespace {

std::vector<int64_t> AsInts(const Array& array) {
  const Array wide = array.Cast(DType::kInt64);
  const auto values = wide.values<int64_t>();
  return {values.begin(), values.end()};
}

// Returns slope * batch + intercept for each element.
std::vector<int64_t> At(const BatchConstant& line, int64_t batch_size) {
  std::vector<int64_t> values = AsInts(line.slope);
  const std::vector<int64_t> intercepts = AsInts(line.intercept);
  for (size_t i = 0; i < values.size(); ++i) values[i] = values[i] * batch_size + intercepts[i];
  return values;
}

absl::StatusOr<Array> ValueAt(const Array& at_first, const BatchConstant& constant,
                              int64_t batch_size) {
  const std::vector<int64_t> values = At(constant, batch_size);
  const DType dtype = at_first.dtype();
  switch (constant.kind) {
    case BatchConstant::Kind::kReshape: {
      if (values[0] % constant.divisor != 0) {
        return InvalidArgument("one of its sizes would be ", values[0], " / ", constant.divisor);
      }
      std::vector<int64_t> dims = AsInts(at_first);
      dims[static_cast<size_t>(constant.index)] = values[0] / constant.divisor;
      return Array::FromSpan<int64_t>(at_first.shape(), dims).Cast(dtype);
    }
    case BatchConstant::Kind::kAffine:
      return Array::FromSpan<int64_t>(at_first.shape(), values).Cast(dtype);
    case BatchConstant::Kind::kFill: {
      for (const int64_t size : values) {
        if (size < 0) return InvalidArgument("one of its sizes would be ", size);
      }
      Array all(dtype, Shape(values));
      const size_t bytes = DTypeSize(dtype);
      auto* to = static_cast<char*>(all.raw());
      for (int64_t i = 0; i < all.num_elements(); ++i, to += bytes)
        std::copy_n(static_cast<const char*>(constant.value.raw()), bytes, to);
      return all;
    }
  }
  return absl::InternalError("no such kind");
}

// The functions of a node whose operands have new sizes. Sets the capacity of a loop.
std::vector<std::shared_ptr<Function>> FunctionsOf(const Node& node,
                                                   const std::vector<Tensor>& inputs,
                                                   Attrs* attrs) {
  std::vector<std::shared_ptr<Function>> functions;
  if (node.functions().empty()) return functions;
  const bool is_loop = node.op() == "While";
  const size_t num_carried = is_loop ? static_cast<size_t>(node.attrs().i("num_carried")) : 0;
  size_t next = 1;  // the operand of the next captured tensor
  if (is_loop) {
    next += num_carried + static_cast<size_t>(node.attrs().i("num_scanned"));
    const std::optional<Array> trips = ConstantValue(inputs[0]);
    const int64_t capacity = node.attrs().i("capacity");
    const std::optional<Array> before = ConstantValue(node.input(0));
    if (trips.has_value() && before.has_value() &&
        before->AsDouble() == static_cast<double>(capacity))
      attrs->Set("capacity", static_cast<int64_t>(trips->AsDouble()));
  }
  for (const std::shared_ptr<Function>& function : node.functions()) {
    if (function == nullptr) {
      functions.push_back(nullptr);
      continue;
    }
    std::vector<TensorSpec> specs;
    for (size_t k = 0; k < function->parameters().size(); ++k) {
      TensorSpec spec = inputs[1 + k].spec();
      // An element of a scanned operand is a row.
      if (k >= num_carried) spec.shape = spec.shape.Row();
      specs.push_back(std::move(spec));
    }
    const auto build = [&](const Tensors& parameters) {
      std::map<const Node*, Tensor> outer;
      for (const Tensor& captured : function->captured())
        outer[captured.node()] = Graph::Current().Inside(inputs[next++]);
      std::map<const Node*, Node*> made;
      const auto of = [&](const Tensor& tensor) {
        const auto captured = outer.find(tensor.node());
        if (captured != outer.end()) return captured->second;
        return Tensor(&Graph::Current(), made.at(tensor.node()), tensor.output());
      };
      for (size_t k = 0; k < parameters.size(); ++k)
        made[function->parameters()[k].node()] = const_cast<Node*>(parameters[k].node());
      for (const Node* inner : NeededNodes(function->graph(), function->results())) {
        if (made.count(inner) > 0 || outer.count(inner) > 0) continue;
        std::vector<Tensor> operands;
        for (const Tensor& input : inner->inputs()) operands.push_back(of(input));
        Attrs inner_attrs = inner->attrs();
        std::vector<std::shared_ptr<Function>> nested = FunctionsOf(*inner, operands, &inner_attrs);
        made[inner] =
            Graph::Current().AddNode(inner->op(), std::move(operands), std::move(inner_attrs),
                                     inner->name(), {}, std::move(nested));
        if (made[inner] == nullptr) return Tensors();
      }
      Tensors results;
      for (const Tensor& result : function->results()) results.push_back(of(result));
      return results;
    };
    functions.push_back(Function::Build(*inputs[0].graph(), function->name(), specs, build));
    if (functions.back() == nullptr) return {};
  }
  return functions;
}

}  // namespace

Tensor BatchInstance::Of(const Tensor& tensor) const {
  const auto found = nodes.find(tensor.node());
  CHECK(found != nodes.end()) << tensor.name();
  return Tensor(graph.get(), found->second, tensor.output());
}

absl::StatusOr<BatchInstance> InstantiateForBatch(const BatchAnalysis& analysis,
                                                  const std::vector<Tensor>& roots,
                                                  int64_t batch_size) {
  BatchInstance made;
  made.graph = std::make_unique<Graph>();
  const GraphScope scope(*made.graph);
  // There is no graph to ask without a root.
  if (roots.empty()) return made;
  for (const Node* node : NeededNodes(*roots[0].graph(), roots)) {
    std::vector<Tensor> inputs;
    for (const Tensor& input : node->inputs()) inputs.push_back(made.Of(input));
    std::vector<Operation> control_inputs;
    for (const Operation& control : node->control_inputs())
      control_inputs.emplace_back(made.graph.get(), made.nodes.at(control.node()));
    Attrs attrs = node->attrs();
    const auto constant = analysis.constants.find(node->name());
    const auto placeholder = analysis.placeholders.find(node->name());
    if (constant != analysis.constants.end()) {
      absl::StatusOr<Array> value =
          ValueAt(attrs.get<Array>("value"), constant->second, batch_size);
      if (!value.ok()) {
        return Annotate(value.status(), absl::StrCat("the model does not take a batch of ",
                                                     batch_size, ": '", node->name(), "'"));
      }
      attrs.Set("value", *std::move(value));
    } else if (placeholder != analysis.placeholders.end()) {
      attrs.Set("shape", Shape(At(placeholder->second, batch_size)));
      // Its attribute repeats the shape of its input, which has the new size already.
    } else if (node->op() == "EnsureShape" && analysis.output_shapes.count(node->name()) > 0) {
      attrs.Set("shape", inputs[0].shape());
    }
    std::vector<std::shared_ptr<Function>> functions = FunctionsOf(*node, inputs, &attrs);
    Node* const added =
        made.graph->AddNode(node->op(), std::move(inputs), std::move(attrs), node->name(),
                            std::move(control_inputs), std::move(functions));
    if (added == nullptr) {
      return Annotate(made.graph->status(),
                      absl::StrCat("the model does not take a batch of ", batch_size));
    }
    made.nodes[node] = added;
  }
  return made;
}

int64_t LargestConstantBytes(const BatchAnalysis& analysis, int64_t batch_size) {
  int64_t largest = 0;
  for (const auto& [name, constant] : analysis.constants) {
    if (constant.kind != BatchConstant::Kind::kFill) continue;
    double bytes = static_cast<double>(DTypeSize(constant.value.dtype()));
    for (const int64_t size : At(constant, batch_size)) bytes *= static_cast<double>(size);
    // A double cannot overflow, but its conversion to int64 can.
    largest = std::max(largest, static_cast<int64_t>(std::min(bytes, 1e18)));
  }
  return largest;
}

}  // namespace estimator
