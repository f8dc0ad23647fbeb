#include "estimator/runtime/passes/bfloat16_products.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/kernel_rules.h"
#include "estimator/op_def/op_def.h"
#include "estimator/runtime/passes/rewriter.h"

namespace estimator::ir {
namespace {

// The ops of `node` on its inputs, with bf16 inputs cast to f32 first and f32 in place of bf16
// after that. --check_kernels compares with this, because the node does not round in between.
//   narrows: output 0 is cast to bf16 in the end.
std::shared_ptr<const Origin> OriginInFloat32(const Module& module, const Node& node,
                                              bool narrows = false) {
  auto origin = std::make_shared<Origin>();
  const auto cast = [&](Value from, DType to, const Shape& shape) {
    const DType other = to == DType::kFloat32 ? DType::kBfloat16 : DType::kFloat32;
    origin->steps.push_back({.op = "Cast",
                             .name = node.name,
                             .attrs = CastAttrs(other, to),
                             .inputs = {from},
                             .outputs = {{to, shape}}});
    return Value{static_cast<int>(origin->steps.size()) - 1, 0};
  };
  std::vector<Value> inputs = OwnInputs(node);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorSpec& spec = module.spec(node.inputs[i]);
    if (spec.dtype == DType::kBfloat16) inputs[i] = cast(inputs[i], DType::kFloat32, spec.shape);
  }
  const size_t first = origin->steps.size();
  origin->outputs = AppendSteps(node, inputs, *origin);
  for (size_t s = first; s < origin->steps.size(); ++s) {
    for (TensorSpec& output : origin->steps[s].outputs) {
      if (output.dtype == DType::kBfloat16) output.dtype = DType::kFloat32;
    }
  }
  if (narrows)
    origin->outputs[0] = cast(origin->outputs[0], DType::kBfloat16, node.outputs[0].shape);
  return origin;
}

// Casts the operands of products.
class Narrower {
 public:
  Narrower(Module& module, KernelTier fastest) : module_(module), rewriter_(module, fastest) {}

  void NarrowOperands() {
    for (int n = 0, size = module_.num_nodes(); n < size; ++n) {
      if (!IsCandidate(n)) continue;
      Node narrow = module_.node(n);
      for (const int i : TraitsOf(narrow.op).factors)
        At(narrow.inputs, i) = Narrow(At(narrow.inputs, i));
      if (!IsProductInBfloat16(narrow)) continue;
      narrow.origin = OriginInFloat32(module_, narrow);
      module_.node(n) = std::move(narrow);
    }
    rewriter_.Finish();  // without the views that only read results before they were cast
  }

  // A result that is only cast to bf16 is rounded by its kernel, once as by the cast.
  void NarrowResults() {
    const Pattern cast = Direct(OpOf("Cast", {Any("product").If(IsFloat32Product)}, "cast"));
    rewriter_.ForEach(cast, [&](Match& match) {
      const Value product = match["product"];
      Node narrow = module_.node(product);
      narrow.outputs[0].dtype = DType::kBfloat16;
      if (!(module_.spec(match["cast"]) == narrow.outputs[0]) ||
          rewriter_.OnlyReader(product) != match["cast"].node || !IsProductInBfloat16(narrow))
        return;
      narrow.origin = OriginInFloat32(module_, module_.node(product), /*narrows=*/true);
      module_.node(product) = std::move(narrow);
      rewriter_.Replace(match["cast"], product);
    });
    rewriter_.Finish();
  }

 private:
  static bool IsFloat32Product(const Module& module, Value value) {
    const Node& node = module.node(value);
    return node.kind == Node::Kind::kOp && !TraitsOf(node.op).factors.empty() &&
           value.output == 0 && node.outputs[0].dtype == DType::kFloat32;
  }

  bool IsCandidate(int n) const {
    if (!IsFloat32Product(module_, {n, 0})) return false;
    const Node& node = module_.node(n);
    const std::vector<int>& factors = TraitsOf(node.op).factors;
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

  // Whether a kernel computes a product of bf16 in bf16. The reference tier is not asked: its
  // kernels take the dtype of their first input for that of the result.
  bool IsProductInBfloat16(Node& product) const {
    return rewriter_.Accepts(
        product, TraitsOf(product.op).matrix_product ? KernelTier::kFused : KernelTier::kNative,
        /*widened=*/false);
  }

  // The value in bf16. Finish removes casts that no product reads.
  Value Narrow(Value value) {
    const auto it = narrow_.find(value);
    if (it != narrow_.end()) return it->second;
    const Node producer = module_.node(value);
    Value narrow;
    if (IsView(producer)) {
      // The cast comes before the view, where the op that computes the value may round.
      Node view = producer;
      view.inputs[0] = Narrow(view.inputs[0]);
      view.outputs[0].dtype = DType::kBfloat16;
      narrow = rewriter_.Add(std::move(view));
    } else if (IsOp(producer, "Cast") &&
               module_.spec(producer.inputs[0]).dtype == DType::kBfloat16) {
      narrow = producer.inputs[0];
    } else {
      narrow = rewriter_.AddCast(value, DType::kBfloat16, absl::StrCat(producer.name, "/bfloat16"));
    }
    return narrow_[value] = narrow;
  }

  Module& module_;
  Rewriter rewriter_;
  std::map<Value, Value> narrow_;
};

}  // namespace

void NarrowProducts(Module& module, KernelTier fastest) {
  if (fastest < KernelTier::kOneDnn) return;
  // There are two objects, because a Rewriter knows only the readers from before its first change.
  Narrower(module, fastest).NarrowOperands();
  Narrower(module, fastest).NarrowResults();
}

void WidenResults(Module& module, KernelTier fastest) {
  Rewriter rewriter(module, fastest);
  const auto sums_in_float32 = [](const Module& m, Value value) {
    const Node& node = m.node(value);
    return node.kind == Node::Kind::kOp && TraitsOf(node.op).sums_in_float32 &&
           node.outputs.size() == 1 && node.outputs[0].dtype == DType::kBfloat16;
  };
  const Pattern cast = Direct(OpOf("Cast", {Any("sum").If(sums_in_float32)}, "cast"));
  rewriter.ForEach(cast, [&](const Match& match) {
    const int n = match["cast"].node;
    Node wide = module.node(match["sum"]);
    wide.outputs = module.node(n).outputs;
    // The reference tier is not asked here either: its results have the dtype of the inputs.
    if (wide.outputs[0].dtype != DType::kFloat32 || rewriter.OnlyReader(match["sum"]) != n ||
        !rewriter.Accepts(wide, KernelTier::kFused))
      return;
    wide.origin = OriginInFloat32(module, wide);
    module.node(n) = std::move(wide);
    module.num_fused_nodes += 2;
  });
  rewriter.Finish();
}

}  // namespace estimator::ir
