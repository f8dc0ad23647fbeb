#include "estimator/runtime/passes/bfloat16_products.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/kernels/widened.h"

namespace estimator::ir {
namespace {

constexpr int64_t kSmallestSide = 32;

bool IsMatMul(const std::string& op) {
  return op == "MatMul" || op == "_FusedMatMul" || op == "BatchMatMulV2";
}

bool SumsInFloat32(const std::string& op) {
  return IsMatMul(op) || op == "Conv2DBackpropFilter" || op == "BiasAddGrad" || op == "Sum" ||
         op == "Mean";
}

Attrs CastAttrs(DType from, DType to) {
  return {{"SrcT", from}, {"DstT", to}, {"Truncate", false}};
}

// The ops of `node` on its inputs, with bf16 inputs cast to f32 first and f32 in place of bf16
// after that. --check_kernels compares with this, because the node does not round in between.
std::shared_ptr<const Origin> OriginInFloat32(const Module& module, const Node& node) {
  const int num_inputs = static_cast<int>(node.inputs.size());
  Origin inner;
  if (node.origin != nullptr) {
    inner = *node.origin;
  } else {
    Origin::Step step = StepOf(node, {});
    for (int i = 0; i < num_inputs; ++i) step.inputs.push_back({-1, i});
    inner.steps = {std::move(step)};
    inner.outputs = {{0, 0}};
  }
  auto origin = std::make_shared<Origin>();
  std::vector<Value> operands;
  for (int i = 0; i < num_inputs; ++i) {
    const TensorSpec& spec = module.spec(At(node.inputs, i));
    operands.push_back({-1, i});
    if (spec.dtype != DType::kBfloat16) continue;
    origin->steps.push_back({.op = "Cast",
                             .name = node.name,
                             .attrs = CastAttrs(DType::kBfloat16, DType::kFloat32),
                             .inputs = {{-1, i}},
                             .outputs = {{DType::kFloat32, spec.shape}}});
    operands.back() = {static_cast<int>(origin->steps.size()) - 1, 0};
  }
  const int offset = static_cast<int>(origin->steps.size());
  for (Origin::Step& step : inner.steps) {
    for (Value& input : step.inputs) {
      input =
          input.node < 0 ? At(operands, input.output) : Value{input.node + offset, input.output};
    }
    for (TensorSpec& output : step.outputs) {
      if (output.dtype == DType::kBfloat16) output.dtype = DType::kFloat32;
    }
    origin->steps.push_back(std::move(step));
  }
  for (const Value& output : inner.outputs)
    origin->outputs.push_back({output.node + offset, output.output});
  return origin;
}

// Sets the kernel of `node`. The reference tier is not asked: its kernels take the dtype of their
// first input for that of the result.
bool FindFastKernel(const Module& module, Node& node, KernelTier fastest) {
  auto kernel = CreateKernel(SpecOf(module, node), fastest, KernelTier::kFused);
  if (!kernel.ok()) return false;
  node.kernel = *std::move(kernel);
  return true;
}

class Narrower {
 public:
  Narrower(Module& module, KernelTier fastest) : module_(module), fastest_(fastest) {}

  void Run() {
    const int size = static_cast<int>(module_.nodes.size());
    for (int n = 0; n < size; ++n) {
      if (IsCandidate(n)) Visit(n);
    }
    Compact(module_);
  }

 private:
  bool IsCandidate(int n) const {
    const Node& node = module_.node(n);
    if (node.kind != Node::Kind::kOp || !IsMatMul(node.op)) return false;
    const TensorSpec &a = module_.spec(node.inputs[0]), &b = module_.spec(node.inputs[1]);
    const TensorSpec& c = node.outputs[0];
    for (const TensorSpec* spec : {&a, &b, &c}) {
      if (spec->dtype != DType::kFloat32 || spec->shape.rank() < 2) return false;
    }
    const auto sides = {a.shape.dim(-1), a.shape.dim(-2), c.shape.dim(-1), c.shape.dim(-2)};
    return std::min(sides) >= kSmallestSide;
  }

  void Visit(int n) {
    Node narrow = module_.node(n);
    for (const int i : {0, 1}) At(narrow.inputs, i) = Narrow(At(narrow.inputs, i));
    if (!FindFastKernel(module_, narrow, fastest_) || IsWidened(*narrow.kernel)) return;
    narrow.origin = OriginInFloat32(module_, narrow);
    module_.node(n) = std::move(narrow);
  }

  // The value in bf16. Compact removes casts that no product reads.
  Value Narrow(Value value) {
    const auto it = narrow_.find(value);
    if (it != narrow_.end()) return it->second;
    const Node& producer = module_.node(value);
    if (producer.kind == Node::Kind::kOp && producer.op == "Cast" &&
        module_.spec(producer.inputs[0]).dtype == DType::kBfloat16) {
      return narrow_[value] = producer.inputs[0];
    }
    Node cast;
    cast.op = "Cast";
    cast.name = absl::StrCat(producer.name, "/bfloat16");
    cast.attrs = CastAttrs(DType::kFloat32, DType::kBfloat16);
    cast.inputs = {value};
    cast.outputs = {{DType::kBfloat16, module_.spec(value).shape}};
    module_.nodes.push_back(std::move(cast));
    return narrow_[value] = {static_cast<int>(module_.nodes.size()) - 1, 0};
  }

  Module& module_;
  const KernelTier fastest_;
  std::map<Value, Value> narrow_;
};

}  // namespace

void NarrowProducts(Module& module, KernelTier fastest) {
  if (fastest >= KernelTier::kOneDnn) Narrower(module, fastest).Run();
}

void WidenResults(Module& module, KernelTier fastest) {
  if (fastest == KernelTier::kReference) return;
  const std::vector<std::vector<int>> readers = Readers(module);
  for (int n = 0; n < static_cast<int>(module.nodes.size()); ++n) {
    const Node& cast = module.node(n);
    if (cast.kind != Node::Kind::kOp || cast.op != "Cast") continue;
    if (cast.outputs[0].dtype != DType::kFloat32) continue;
    const int p = cast.inputs[0].node;
    const Node& producer = module.node(p);
    if (producer.kind != Node::Kind::kOp || !SumsInFloat32(producer.op)) continue;
    if (producer.outputs.size() != 1 || producer.outputs[0].dtype != DType::kBfloat16) continue;
    if (OnlyReader(readers, p) != n) continue;
    Node wide = producer;
    wide.outputs = cast.outputs;
    if (!FindFastKernel(module, wide, fastest)) continue;
    wide.origin = OriginInFloat32(module, wide);
    module.node(n) = std::move(wide);
    module.num_fused_nodes += 2;
  }
  Compact(module);
}

}  // namespace estimator::ir
