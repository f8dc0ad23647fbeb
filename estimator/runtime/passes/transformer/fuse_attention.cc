#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/rewriter.h"
#include "estimator/runtime/passes/transformer/fuse_transformer.h"

namespace estimator::ir {
namespace {

// Exchanges the axes of positions and heads.
Pattern Transpose(Pattern operand, const std::string& name) {
  return OpOf("Transpose", {std::move(operand)}, name).If([](const Module& module, Value value) {
    return ConstantInts(module, module.node(value).inputs[1]) == std::vector<int64_t>{0, 2, 1, 3};
  });
}
// [B, S, heads, D] `name` -> [B, heads, S, D] `name`_turned.
Pattern Turned(const std::string& name) { return Transpose(Any(name), name + "_turned"); }

Pattern Product(Pattern x, Pattern y, bool adj_x, bool adj_y, const std::string& name) {
  return OpOf("BatchMatMulV2", {std::move(x), std::move(y)}, name)
      .If([adj_x, adj_y](const Module& module, Value value) {
        const Node& node = module.node(value);
        return HasFlag(node, "adj_x") == adj_x && HasFlag(node, "adj_y") == adj_y;
      });
}

// A match has the names "bias" and "mask" if the attention has these.
//   q: [B, heads, S, D].  Returns the context, of the same shape.
Pattern ContextPattern(Pattern q, const std::string& name) {
  const Pattern scores = Product(std::move(q), Turned("k"), false, true, "scores");
  const Pattern scaled = OpOf("Mul", {scores, ScalarOf("scale")});
  const Pattern biased = EitherOf({OpOf("AddV2", {scaled, Any("bias")}), scaled});
  const Pattern p = OpOf("Softmax", {biased}, "p");
  const Pattern scaled_p = OpOf("Mul", {p, ScalarOf("keep_scale")});
  const Pattern kept = OpOf("SelectV2", {Any("mask"), scaled_p, AllOf(0)}, "kept");
  return Product(EitherOf({kept, p}), Turned("v"), false, false, name);
}
Pattern AttentionPattern() { return Transpose(ContextPattern(Turned("q"), "context"), "y"); }
// A decoder attends from one position. `simplify` has made its transposes views, as they only move
// an axis of size 1.
Pattern OneQueryPattern() {
  const auto has_one_query = [](const Module& module, Value value) {
    const Shape& shape = module.spec(value).shape;
    return shape.rank() == 4 && shape[2] == 1;
  };
  return ContextPattern(Any("q").If(has_one_query), "y");
}

// The gradient of the products of queries and keys.
Pattern ScoresGradient(bool has_mask) {
  const Pattern select = OpOf("SelectV2", {Any("mask"), Any("dkept"), AllOf(0)});
  const Pattern dp = has_mask ? OpOf("Mul", {select, ScalarOf("keep_scale")}, "dp") : Any("dkept");
  const Pattern sum =
      OpOf("Sum", {OpOf("Mul", {dp, Any("p")})}, "sum").If([](const Module& module, Value value) {
        return ReducesOnly(module, value, /*last=*/true);
      });
  return OpOf("Mul", {OpOf("Mul", {OpOf("Sub", {dp, sum}), Any("p")}), ScalarOf("scale")},
              "dscores");
}

// Finds the gradients, and adds their names and nodes to `match`.
bool FindAttentionGradient(const Rewriter& rewriter, Match* match) {
  const bool has_mask = match->has("mask");
  const auto find = [&](const Pattern& pattern, const std::string& operand) {
    return rewriter.FindAbove(pattern, (*match)[operand], match);
  };
  // Each pattern reads names that the ones before it have found, so the order matters.
  return find(Product(Turned("dy"), Any("v_turned"), false, true, "dkept"), "v_turned") &&
         find(Product(Any(has_mask ? "kept" : "p"), Any("dy_turned"), true, false, "dv_turned"),
              "dy_turned") &&
         find(Product(ScoresGradient(has_mask), Any("k_turned"), false, false, "dq_turned"),
              "k_turned") &&
         find(Product(Any("dscores"), Any("q_turned"), true, false, "dk_turned"), "q_turned") &&
         find(Transpose(Any("dq_turned"), "dq"), "dq_turned") &&
         find(Transpose(Any("dk_turned"), "dk"), "dk_turned") &&
         find(Transpose(Any("dv_turned"), "dv"), "dv_turned");
}

}  // namespace

void FuseAttention(Module& module, KernelTier fastest) {
  Rewriter rewriter(module, fastest);
  const auto fuse = [&](const Match& forward) {
    const auto number = [&](const char* name) {
      return forward.has(name) ? static_cast<float>(ScalarValue(module, forward[name])) : 1.0f;
    };
    Node node{.op = "_Attention", .inputs = {forward["q"], forward["k"], forward["v"]}};
    node.attrs = {{"has_bias", forward.has("bias")},
                  {"has_mask", forward.has("mask")},
                  {"scale", number("scale")},
                  {"keep_scale", number("keep_scale")}};
    // The kernel takes the optional operands in this order.
    for (const char* optional : {"bias", "mask"}) {
      if (forward.has(optional)) node.inputs.push_back(forward[optional]);
    }
    std::vector<Fusion> fusions = {{.node = node, .outputs = {forward["y"]}}};
    Match whole = forward;
    if (FindAttentionGradient(rewriter, &whole)) {
      node.op = "_AttentionGrad";
      // The gradient computes the probabilities again, so it has all operands of the forward op.
      node.inputs.insert(node.inputs.begin(), whole["dy"]);
      fusions.push_back({.node = node, .outputs = {whole["dq"], whole["dk"], whole["dv"]}});
    } else {
      // A search that failed may have left names of a part of the gradient.
      whole = forward;
    }
    rewriter.Fuse(whole.nodes, std::move(fusions));
  };
  rewriter.ForEach(AttentionPattern(), fuse);
  rewriter.ForEach(OneQueryPattern(), fuse);
  rewriter.Finish();
}

}  // namespace estimator::ir
