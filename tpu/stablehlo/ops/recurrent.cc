// BlockLSTM, _BlockGRU and their gradients: the plain ops of each time step (UnrollRecurrent), each
// by its own lowering. XLA removes the outputs that nothing reads.
#include "estimator/ops/recurrent.h"

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/runtime/neutral_module.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

LoweringResult LowerUnrolled(Writer& w, const LoweringArgs& args) {
  Graph graph;
  const GraphScope scope(graph);
  ProgramSpec program;
  Tensors operands;
  Values fed;
  for (int i = 0; i < args.num_inputs(); ++i) {
    if (const Array* const value = args.constant(i); value != nullptr) {
      operands.push_back(Constant(*value));
      continue;
    }
    const TensorSpec& spec = args.spec.inputs[static_cast<size_t>(i)];
    operands.push_back(Placeholder(spec.dtype, spec.shape));
    program.feeds.push_back(operands.back());
    fed.push_back(args.input(i));
  }
  program.fetches = UnrollRecurrent(args.spec.op, args.spec.attrs, operands);
  EST_ASSIGN_OR_RETURN(const ir::Module module, ir::BuildNeutralModule(graph, program));
  std::vector<Values> values;
  for (const ir::Node& node : module.nodes) {
    if (node.kind == ir::Node::Kind::kConstant) {
      values.push_back({w.Constant(node.constant)});
    } else if (node.kind == ir::Node::Kind::kFeed) {
      values.push_back({fed[static_cast<size_t>(node.index)]});
    } else {
      const OpLowering* const lowering = FindLowering(node.op);
      if (lowering == nullptr) return NotLowerable(node.op + " has no StableHLO form here");
      const KernelSpec spec = ir::SpecOf(module, node);
      Values inputs;
      for (const ir::Value& input : node.inputs) inputs.push_back(ir::At(values, input));
      EST_ASSIGN_OR_RETURN(Values outputs, (*lowering)(w, LoweringArgs{spec, inputs, args.step}));
      values.push_back(std::move(outputs));
    }
  }
  Values results;
  for (const ir::Value& fetch : module.fetches) results.push_back(ir::At(values, fetch));
  return results;
}

EST_REGISTER_STABLEHLO("BlockLSTM", Guarded(LowerUnrolled));
EST_REGISTER_STABLEHLO("BlockLSTMGrad", Guarded(LowerUnrolled));
EST_REGISTER_STABLEHLO("_BlockGRU", Guarded(LowerUnrolled));
EST_REGISTER_STABLEHLO("_BlockGRUGrad", Guarded(LowerUnrolled));

}  // namespace
}  // namespace estimator::tpu::stablehlo
