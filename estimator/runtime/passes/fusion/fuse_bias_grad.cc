#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/rewriter.h"

namespace estimator::ir {
namespace {

constexpr char kChainWithSumOp[] = "_FusedElementwiseSum";

// The chain that computes `source` computes the BiasAddGrad `sum` of it too, and does not write it.
void SumInChain(const Module& module, Value sum, Value source, Rewriter& rewriter) {
  const Node chain = module.node(source);
  const TensorSpec written = chain.outputs[0], summed = module.spec(sum);
  // So that the sums are over the same elements, whatever view of the value is summed.
  if (rewriter.is_replaced(source.node) || chain.outputs.size() == 1 ||
      written.shape[-1] != summed.shape[0])
    return;
  Node fused{.op = kChainWithSumOp, .attrs = chain.attrs, .inputs = chain.inputs};
  std::vector<int64_t> operands = chain.attrs.ints("outputs");
  // The kernel sums the operand instead of writing it.
  const auto place = operands.begin() + source.output;
  fused.attrs.Set("sum", *place);
  operands.erase(place);
  fused.attrs.Set("outputs", std::move(operands));
  std::vector<Value> outputs;
  for (int o = 0; o < static_cast<int>(chain.outputs.size()); ++o) {
    if (o != source.output) outputs.push_back({source.node, o});
  }
  outputs.push_back(sum);
  // Made here, because a view in between has a shape that the kernel takes no input for.
  if (chain.origin != nullptr) {
    auto origin = std::make_shared<Origin>(*chain.origin);
    const auto summed_step = origin->outputs.begin() + source.output;
    const std::vector<Value> sums = AppendSteps(module.node(sum), {*summed_step}, *origin);
    origin->outputs.erase(summed_step);
    origin->outputs.push_back(sums[0]);
    fused.origin = std::move(origin);
  }
  rewriter.Fuse({source.node, sum.node},
                {{.node = std::move(fused), .outputs = std::move(outputs)}});
}

// The Cast `c`, which reads the same value as the BiasAddGrad `sum` of x, computes both.
bool SumInCast(const Module& module, Value sum, Value x, int c, Rewriter& rewriter) {
  const Node cast = module.node(c);
  if (rewriter.is_replaced(c) || HasFlag(cast, "Truncate")) return false;  // the kernel rounds
  // The cast may read another view, whose shape the fused node cannot write.
  const Value own = rewriter.AddCast(x, cast.outputs[0].dtype, cast.name);
  Node fused{.op = kChainWithSumOp, .inputs = {x}};
  fused.attrs = {{"ops", std::vector<std::string>{"Cast"}},
                 {"args", std::vector<int64_t>{0, -1, -1}},
                 {"outputs", std::vector<int64_t>{1}},
                 {"sum", int64_t{0}}};
  if (!rewriter.Fuse({own.node, sum.node}, {{.node = std::move(fused), .outputs = {own, sum}}}))
    return false;
  rewriter.Replace({c, 0}, rewriter.Add(MakeReshape(own, cast.outputs[0], cast.name)));
  return true;
}

}  // namespace

void FuseBiasGrad(Module& module, KernelTier fastest) {
  Rewriter rewriter(module, fastest);
  rewriter.ForEach(OpOf("BiasAddGrad", {Any("x")}, "sum"), [&](const Match& match) {
    const Value sum = match["sum"], x = match["x"], source = Root(module, x);
    if (!IsPlain(module.node(sum)) || module.spec(x).shape.rank() > 3) return;
    if (module.node(source).op == "_FusedElementwise")
      return SumInChain(module, sum, source, rewriter);
    for (const int reader : rewriter.readers(source)) {
      if (reader >= 0 && module.node(reader).op == "Cast" &&
          SumInCast(module, sum, x, reader, rewriter))
        return;
    }
  });
  rewriter.Finish();
}

}  // namespace estimator::ir
