#include "estimator/runtime/passes/simplify.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/op_def/op_def.h"
#include "estimator/runtime/passes/rewriter.h"

namespace estimator::ir {
namespace {

// A node that matches `from` becomes `to`: the value `x`, or ops that have the type and name of the
// node. x must have the type of the node.
struct Rule {
  Pattern from;
  Pattern to;
};

Pattern Op(const char* op, Pattern x) { return OpOf(op, {std::move(x)}); }
Pattern Op(const char* op, Pattern x, Pattern y) { return OpOf(op, {std::move(x), std::move(y)}); }

bool IsFloat(const Module& module, Value value) {
  const DType dtype = module.spec(value).dtype;
  // In 16-bit floats, each of the new ops would round.
  return dtype == DType::kFloat32 || dtype == DType::kFloat64;
}
// Pow(x, exponent) of floats.
Rule Power(double exponent, Pattern to) {
  return {Op("Pow", Any("x"), AllOf(exponent)).If(IsFloat), std::move(to)};
}

// Whether a Transpose of a Transpose restores the order of the axes.
bool IsInverse(const Module& module, Value value) {
  const Node& node = module.node(value);
  const std::vector<int64_t> perm = ConstantInts(module, node.inputs[1]),
                             first = ConstantInts(module, module.node(node.inputs[0]).inputs[1]);
  if (perm.empty() || first.size() != perm.size()) return false;
  for (size_t i = 0; i < perm.size(); ++i) {
    if (At(first, perm[i]) != static_cast<int64_t>(i)) return false;
  }
  return true;
}

std::vector<Rule> MakeRules() {
  const Pattern x = Any("x");
  std::vector<Rule> rules = {
      {Op("Transpose", Op("Transpose", x)).If(IsInverse), x},
      {Op("Neg", Op("Neg", x)), x},
      {Op("AddV2", x, AllOf(0)), x},
      {Op("Sub", x, AllOf(0)), x},
      {Op("Mul", x, AllOf(1)), x},
      {Op("RealDiv", x, AllOf(1)), x},
      {Op("Pow", x, AllOf(1)), x},
      Power(2, Op("Square", x)),
      Power(3, Op("Mul", Op("Square", x), x)),
      Power(4, Op("Square", Op("Square", x))),
      Power(-1, Op("Reciprocal", x)),
      Power(-2, Op("Square", Op("Reciprocal", x))),  // 1 / Square(x) would overflow earlier
      Power(0.5, Op("Sqrt", x)),
      Power(1.5, Op("Mul", x, Op("Sqrt", x))),
      Power(-0.5, Op("Rsqrt", x)),
      Power(-1.5, Op("RealDiv", Op("Rsqrt", x), x)),
  };
  for (Rule& rule : rules) rule.from = Direct(std::move(rule.from));
  return rules;
}

// Whether the op's gradient is the same if it reads y = op(x) instead of x: it depends only on
// whether x > 0, and for Relu6 also on whether x < 6, which is so if y > 0 and y < 6.
bool GradientMayReadResult(const Node& node) {
  // With a negative alpha, y is positive for a negative x too.
  if (IsOp(node, "LeakyRelu")) return node.attrs.f("alpha") >= 0;
  return IsOp(node, "Relu") || IsOp(node, "Relu6");
}

// Lets the gradients of such activations read y. Then x need not be kept, and can be fused.
void ReadActivations(Module& module) {
  std::map<std::pair<std::string, Value>, Value> results;  // (gradient's op, x) -> y
  for (size_t n = 0; n < module.nodes.size(); ++n) {
    const Node& node = module.nodes[n];
    if (GradientMayReadResult(node))
      results.emplace(std::pair(node.op + "Grad", node.inputs[0]), Value{static_cast<int>(n), 0});
  }
  for (Node& node : module.nodes) {
    if (node.kind != Node::Kind::kOp || node.inputs.size() != 2) continue;
    const auto it = results.find(std::pair(node.op, node.inputs[1]));
    if (it != results.end()) node.inputs[1] = it->second;
  }
  Compact(module);
}

class Simplifier {
 public:
  Simplifier(Module& module, bool single_replica)
      : module_(module), single_replica_(single_replica), rewriter_(module) {}

  void Run() {
    const std::vector<Rule> rules = MakeRules();
    for (int n = 0, size = module_.num_nodes(); n < size; ++n) {
      // The inputs may have been simplified just now, so a chain of any length takes one walk.
      rewriter_.UpdateInputs(n);
      const Node& node = at(n);
      if (node.kind != Node::Kind::kOp || node.inputs.empty()) continue;
      if (node.op == "IdentityN") {
        for (int o = 0; o < static_cast<int>(node.inputs.size()); ++o)
          rewriter_.Replace({n, o}, At(node.inputs, o));
      } else if (node.outputs.size() == 1) {
        Visit(n, rules);
      }
    }
    rewriter_.Finish();
  }

 private:
  Node& at(int n) { return module_.node(n); }
  const TensorSpec& spec(Value value) const { return module_.spec(value); }

  void Visit(int n, const std::vector<Rule>& rules) {
    if (HasElementsOfItsInput(at(n))) return ReplaceBy(n, at(n).inputs[0]);
    if (at(n).op == "AddN" && at(n).inputs.size() == 2)
      at(n).op = "AddV2";  // can be fused, AddN not
    for (const Rule& rule : rules) {
      Match match;
      if (at(n).op != rule.from.ops[0] || !MatchPattern(module_, rule.from, {n, 0}, &match) ||
          !(spec(match["x"]) == at(n).outputs[0]))
        continue;
      if (rule.to.kind == Pattern::Kind::kAny) return ReplaceBy(n, match["x"]);
      return Become(n, rule.to.ops[0], InputsOf(rule.to, match["x"], n));
    }
    if (at(n).op == "Mul") FoldFactors(n);
    if (at(n).op == "Pow") FoldPowerOfZero(n);
  }

  // Whether the only output has the elements of input 0, with their dtype and in their order.
  bool HasElementsOfItsInput(const Node& node) const {
    const TensorSpec &x = spec(node.inputs[0]), &y = node.outputs[0];
    if (node.op == "CrossReplicaSum") return single_replica_;
    if (IsView(node) || node.op == "PreventGradient") return true;
    if (node.op == "Cast" || node.op == "BroadcastTo") return x == y;
    if (node.op == "AddN") return node.inputs.size() == 1;
    if (node.op == "Transpose") return KeepsTheOrder(node);
    return TraitsOf(node.op).reduction && x.dtype == y.dtype &&
           x.shape.num_elements() == y.shape.num_elements();
  }

  // Whether the axes that are larger than 1 keep their order, so that no element moves.
  bool KeepsTheOrder(const Node& transpose) const {
    const Shape& shape = spec(transpose.inputs[0]).shape;
    const std::vector<int64_t> perm = ConstantInts(module_, transpose.inputs[1]);
    if (static_cast<int>(perm.size()) != shape.rank()) return false;
    int64_t last = -1;
    for (const int64_t axis : perm) {
      if (shape.dim(static_cast<int>(axis)) == 1) continue;
      if (axis < last) return false;
      last = axis;
    }
    return true;
  }

  // Replaces node n by `value`, which has the same elements and dtype. If the shape differs, the
  // node becomes a Reshape.
  void ReplaceBy(int n, Value value) {
    Node& node = at(n);
    if (IsOp(module_.node(value), "Reshape")) value = module_.node(value).inputs[0];
    if (spec(value) == node.outputs[0]) {
      rewriter_.Replace({n, 0}, value);
    } else {
      node = MakeReshape(value, node.outputs[0], node.name);
    }
  }

  void Become(int n, const std::string& op, std::vector<Value> inputs) {
    at(n).op = op;
    at(n).inputs = std::move(inputs);
  }

  // Adds the ops that compute the operands of `op`, and returns these.
  std::vector<Value> InputsOf(const Pattern& op, Value x, int n) {
    std::vector<Value> inputs;
    const Node like = at(n);  // AddOp moves the nodes
    for (const Pattern& operand : op.operands) {
      inputs.push_back(operand.kind == Pattern::Kind::kAny
                           ? x
                           : rewriter_.AddOp(operand.ops[0], InputsOf(operand, x, n),
                                             like.outputs[0], like.name, like.attrs));
    }
    return inputs;
  }

  // x^0 = 1
  void FoldPowerOfZero(int n) {
    Match match;
    if (!MatchPattern(module_, Direct(Op("Pow", Any("x"), AllOf(0)).If(IsFloat)), {n, 0}, &match))
      return;
    const TensorSpec y = at(n).outputs[0];
    if (!(spec(match["x"]) == y)) return;
    const Value shape = AddConstant(n, Array::FromSpan<int64_t>({y.shape.rank()}, y.shape.dims()));
    // Not a constant of y's size, which would be stored with the program.
    Become(n, "BroadcastTo", {AddConstant(n, Array::Scalar(1.0f).Cast(y.dtype)), shape});
  }

  // (x * c) * d -> x * (c d), if nothing else reads x * c.
  void FoldFactors(int n) {
    const Pattern pattern =
        OpOf("Mul", {OpOf("Mul", {Any("x"), ScalarOf("c")}, "product"), ScalarOf("d")});
    const TensorSpec y = at(n).outputs[0];
    Match match;
    if (!MatchPattern(module_, Direct(pattern), {n, 0}, &match) || y.dtype != DType::kFloat32 ||
        rewriter_.OnlyReader(match["product"]) != n || !(spec(match["product"]) == y) ||
        !(spec(match["x"]) == y))
      return;
    const float factor = module_.constant(match["c"])->data<float>()[0] *
                         module_.constant(match["d"])->data<float>()[0];
    if (!std::isnormal(factor)) return;  // c * d may overflow or underflow where x * c * d does not
    Become(n, "Mul", {match["x"], AddConstant(n, Array::Scalar(factor))});
  }

  Value AddConstant(int n, Array value) {
    return rewriter_.Add(MakeConstant(std::move(value), absl::StrCat(at(n).name, "/constant")));
  }

  Module& module_;
  const bool single_replica_;
  Rewriter rewriter_;
};

}  // namespace

void Simplify(Module& module, bool single_replica) {
  ReadActivations(module);
  Simplifier(module, single_replica).Run();
}

}  // namespace estimator::ir
