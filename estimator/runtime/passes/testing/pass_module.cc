#include "estimator/runtime/passes/testing/pass_module.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/kernels/testing/split_products.h"
#include "glog/logging.h"

namespace estimator::ir {

Value ModuleBuilder::Add(Node node) {
  if (node.name.empty()) node.name = absl::StrCat(node.op, "_", module.nodes.size());
  module.nodes.push_back(std::move(node));
  return {module.num_nodes() - 1, 0};
}

Value ModuleBuilder::Feed(const Shape& shape, DType dtype) {
  Node node;
  node.kind = Node::Kind::kFeed;
  node.op = "Placeholder";
  node.outputs = {{dtype, shape}};
  node.index = static_cast<int>(module.feeds.size());
  module.feeds.push_back({dtype, shape});
  module.feed_names.push_back(absl::StrCat("feed", node.index));
  return Add(std::move(node));
}

Value ModuleBuilder::Variable(const std::string& name, const Shape& shape) {
  Node node;
  node.kind = Node::Kind::kVariable;
  node.op = "VariableV2";
  node.name = name;
  node.outputs = {{DType::kFloat32, shape}};
  node.index = static_cast<int>(module.variables.size());
  module.variables.push_back({name, node.outputs[0]});
  return Add(std::move(node));
}

Value ModuleBuilder::Constant(Array value) { return Add(MakeConstant(std::move(value), "")); }

Value ModuleBuilder::Op(const std::string& op, std::vector<Value> inputs, const Shape& shape,
                        Attrs attrs, DType dtype) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = {{dtype, shape}};
  node.attrs = std::move(attrs);
  return Add(std::move(node));
}

void ModuleBuilder::Update(const std::string& name, Value value) {
  for (size_t v = 0; v < module.variables.size(); ++v) {
    if (module.variables[v].name == name)
      module.updates.push_back({static_cast<int>(v), value, "Assign"});
  }
}

KernelFactory Inert(int alias_input, size_t scratch_bytes) {
  return [=](const KernelSpec&) {
    return MakeKernel([](const KernelArgs&) {}, scratch_bytes, alias_input);
  };
}

int Count(const Module& module, absl::string_view op) {
  int count = 0;
  for (const Node& node : module.nodes) count += node.op == op ? 1 : 0;
  return count;
}

const Node& Only(const Module& module, absl::string_view op) {
  CHECK_EQ(Count(module, op), 1) << op << " in\n" << ToString(module);
  for (const Node& node : module.nodes) {
    if (node.op == op) return node;
  }
  return module.nodes[0];
}

Array Numbers(const Shape& shape, int seed) {
  Array array(DType::kFloat32, shape);
  Philox philox(static_cast<uint64_t>(seed));
  for (float& value : array.values<float>()) value = 2 * UniformFloat(philox.Next4()[0]) - 1;
  return array;
}

std::shared_ptr<Kernel> KernelOf(const Module& module, const Node& node) {
  if (node.kernel != nullptr) return node.kernel;
  auto kernel = CreateKernel(SpecOf(module, node), KernelTier::kNative, node.slowest);
  CHECK(kernel.ok()) << kernel.status();
  return *std::move(kernel);
}

namespace {

absl::StatusOr<std::vector<Array>> RunKernelOf(const Module& module, const Node& node,
                                               const std::vector<Array>& inputs) {
  const std::shared_ptr<Kernel> kernel = KernelOf(module, node);
  std::vector<const void*> in;
  for (const Array& input : inputs) in.push_back(input.raw());
  std::vector<Array> outputs;
  std::vector<void*> out;
  for (const TensorSpec& output : node.outputs) {
    outputs.emplace_back(output.dtype, output.shape);
    out.push_back(outputs.back().raw());
  }
  Array scratch(DType::kUint8, Shape{static_cast<int64_t>(kernel->scratch_bytes())});
  EST_RETURN_IF_ERROR(
      kernel->Run({.inputs = in, .outputs = out, .scratch = scratch.raw(), .step = {}}));
  return outputs;
}

}  // namespace

absl::StatusOr<std::vector<Array>> Interpret(const Module& module,
                                             const std::vector<Array>& feeds) {
  std::vector<std::vector<Array>> values;
  for (const Node& node : module.nodes) {
    std::vector<Array> inputs;
    for (const Value& input : node.inputs) {
      inputs.push_back(At(values, input));
    }
    if (node.kind == Node::Kind::kFeed) {
      values.push_back({At(feeds, node.index)});
    } else if (node.kind == Node::Kind::kConstant) {
      values.push_back({node.constant});
    } else if (node.kind == Node::Kind::kVariable) {
      values.push_back({Numbers(node.outputs[0].shape, 100 + node.index)});
    } else if (IsView(node)) {
      values.push_back({inputs[0].Reshaped(node.outputs[0].shape)});
    } else if (node.kernel != nullptr || node.origin != nullptr || node.op[0] == '_' ||
               node.slowest != KernelTier::kReference) {
      // What a pass has made runs with the kernel that a program would take.
      EST_ASSIGN_OR_RETURN(std::vector<Array> outputs, RunKernelOf(module, node, inputs));
      values.push_back(std::move(outputs));
    } else {
      EST_ASSIGN_OR_RETURN(std::vector<Array> outputs,
                           RunReferenceKernel(SpecOf(module, node), inputs));
      values.push_back(std::move(outputs));
    }
  }
  std::vector<Array> results;
  const auto add = [&](Value value) { results.push_back(At(values, value)); };
  for (const Value& fetch : module.fetches) add(fetch);
  for (const ir::Update& update : module.updates) add(update.value);
  return results;
}

std::string DifferenceOf(const Module& before, const Module& after,
                         const std::vector<Array>& feeds) {
  const auto expected = Interpret(before, feeds), actual = Interpret(after, feeds);
  if (!expected.ok()) return expected.status().ToString();
  if (!actual.ok()) return actual.status().ToString();
  if (actual->size() != expected->size()) return "the number of fetches and updates differs";
  for (size_t i = 0; i < actual->size(); ++i) {
    // Tanh makes the results smaller than those of the product, and the error of those near 0 not.
    const double absolute = 1e-5 + 2 * testing::ErrorOfSplitProducts((*expected)[i]);
    const Difference difference =
        Compare((*actual)[i], (*expected)[i], {.relative = 1e-5, .absolute = absolute});
    if (!difference.equal) return absl::StrCat(i, ": ", difference.report, "\n", ToString(after));
  }
  return "";
}

}  // namespace estimator::ir
