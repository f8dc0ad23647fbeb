#include "estimator/runtime/passes/bfloat16_products.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/kernel_rules.h"
#include "estimator/kernels/op_traits.h"

namespace estimator::ir {
namespace {

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
    for (int o = 0; o < static_cast<int>(node.outputs.size()); ++o) inner.outputs.push_back({0, o});
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
bool FindFastKernel(const Module& module, Node& node, KernelTier fastest,
                    KernelTier slowest = KernelTier::kFused) {
  auto kernel = CreateKernel(SpecOf(module, node), fastest, slowest);
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
    Compact(module_);  // without the views that only read results before they were cast
    NarrowResults();
    Compact(module_);
  }

 private:
  bool IsCandidate(int n) const {
    const Node& node = module_.node(n);
    if (node.kind != Node::Kind::kOp) return false;
    const std::vector<int>& factors = TraitsOf(node.op).factors;
    if (factors.empty()) return false;
    const TensorSpec& a = module_.spec(At(node.inputs, factors[0]));
    const TensorSpec& b = module_.spec(At(node.inputs, factors[1]));
    const TensorSpec& c = node.outputs[0];
    for (const TensorSpec* spec : {&a, &b, &c}) {
      if (spec->dtype != DType::kFloat32 || spec->shape.rank() < 2) return false;
    }
    if (!TraitsOf(node.op).matrix_product)
      return ConvolutionsAreFasterInBfloat16({.amx = bfloat16::HasAmx()});
    return IsFasterInBfloat16(a.shape.dim(-2), a.shape.dim(-1), c.shape.dim(-2), c.shape.dim(-1));
  }

  void Visit(int n) {
    Node narrow = module_.node(n);
    narrow.kernel = nullptr;
    for (const int i : TraitsOf(narrow.op).factors)
      At(narrow.inputs, i) = Narrow(At(narrow.inputs, i));
    if (!FindProduct(narrow)) return;
    narrow.origin = OriginInFloat32(module_, narrow);
    module_.node(n) = std::move(narrow);
  }

  // A result that is only cast to bf16 is rounded by its kernel, once as by the cast.
  void NarrowResults() {
    const std::vector<std::vector<int>> readers = Readers(module_);
    Replacements to(module_.nodes.size());
    for (int n = 0; n < static_cast<int>(module_.nodes.size()); ++n) {
      const Node& cast = module_.node(n);
      if (cast.kind != Node::Kind::kOp || cast.op != "Cast") continue;
      const Value value = cast.inputs[0];
      if (cast.outputs[0].dtype != DType::kBfloat16 || value.output != 0) continue;
      if (TraitsOf(module_.node(value).op).factors.empty() || !IsOnlyReadBy(readers, value, n))
        continue;
      if (NarrowResult(module_.node(value))) At(to, n) = {value};
    }
    ReplaceUses(module_, to);
  }

  bool IsOnlyReadBy(const std::vector<std::vector<int>>& readers, Value value, int reader) const {
    for (const int r : At(readers, value.node)) {
      if (r == reader) continue;
      if (r < 0) return false;
      const std::vector<Value>& inputs = module_.node(r).inputs;
      if (std::find(inputs.begin(), inputs.end(), value) != inputs.end()) return false;
    }
    return true;
  }

  // Gives output 0 of `product`, which is f32, in bf16. Returns false if no kernel does.
  bool NarrowResult(Node& product) {
    if (product.outputs[0].dtype != DType::kFloat32) return false;
    Node narrow = product;
    narrow.outputs[0].dtype = DType::kBfloat16;
    if (!FindProduct(narrow)) return false;
    auto origin = std::make_shared<Origin>(*OriginInFloat32(module_, product));
    origin->steps.push_back({.op = "Cast",
                             .name = product.name,
                             .attrs = CastAttrs(DType::kFloat32, DType::kBfloat16),
                             .inputs = {origin->outputs[0]},
                             .outputs = {narrow.outputs[0]}});
    origin->outputs[0] = {static_cast<int>(origin->steps.size()) - 1, 0};
    narrow.origin = std::move(origin);
    product = std::move(narrow);
    return true;
  }

  // Sets the kernel of a product of bf16. Returns false if none computes it in bf16.
  bool FindProduct(Node& product) const {
    const bool matrices = TraitsOf(product.op).matrix_product;
    const KernelTier slowest = matrices ? KernelTier::kFused : KernelTier::kNative;
    return AcceptsUnwidened(SpecOf(module_, product), fastest_, slowest) &&
           FindFastKernel(module_, product, fastest_, slowest);
  }

  // The value in bf16. Compact removes casts that no product reads.
  Value Narrow(Value value) {
    const auto it = narrow_.find(value);
    if (it != narrow_.end()) return it->second;
    if (module_.node(value).kind == Node::Kind::kOp && TraitsOf(module_.node(value).op).view) {
      // The cast comes before the view, where the op that computes the value may round.
      Node view = module_.node(value);
      view.inputs[0] = Narrow(view.inputs[0]);
      view.outputs[0].dtype = DType::kBfloat16;
      module_.nodes.push_back(std::move(view));
      return narrow_[value] = {static_cast<int>(module_.nodes.size()) - 1, 0};
    }
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
    if (producer.kind != Node::Kind::kOp || !TraitsOf(producer.op).sums_in_float32) continue;
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
