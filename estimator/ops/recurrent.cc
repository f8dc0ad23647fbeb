#include "estimator/ops/recurrent.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/constant.h"

namespace estimator {
namespace {

struct Expected {
  const char* name;
  Shape shape;
};

// Whether inputs `first` and on have these shapes, and the dtype of input `first`.
absl::Status CheckInputs(const ShapeContext& context, int first,
                         const std::vector<Expected>& expected) {
  for (int i = 0; i < static_cast<int>(expected.size()); ++i) {
    const TensorSpec& input = context.input(first + i);
    EST_RETURN_IF_ERROR(CheckSameDType(context.input(first), input));
    const auto& [name, shape] = expected[static_cast<size_t>(i)];
    EST_RETURN_IF_ERROR(CheckShape(input, shape, name));
  }
  return absl::OkStatus();
}

// x [T, N, C], and the first state [N, U] after it.
struct Sizes {
  int64_t batch, inputs, units;
  Shape outputs;  // [T, N, U]
};
absl::StatusOr<Sizes> CheckSizes(const ShapeContext& context, int x) {
  EST_RETURN_IF_ERROR(CheckFloating(context.input(x), "x"));
  EST_RETURN_IF_ERROR(CheckRank(context.input(x), 3, "x", "(time steps, batch, inputs)"));
  EST_RETURN_IF_ERROR(CheckRank(context.input(x + 1), 2, "the state", "(batch, units)"));
  const Shape &from = context.input(x).shape, &state = context.input(x + 1).shape;
  return Sizes{from[1], from[2], state[1], {from[0], from[1], state[1]}};
}

OutputSpecs BlockLSTMRule(const ShapeContext& context, bool gradient) {
  EST_ASSIGN_OR_RETURN(const Sizes sizes, CheckSizes(context, 1));
  const int64_t units = sizes.units;
  EST_RETURN_IF_ERROR(CheckShape(context.input(0), Shape{}, "seq_len_max"));
  if (context.input(0).dtype != DType::kInt64)
    return InvalidArgument("seq_len_max must be int64, not ", DTypeName(context.input(0).dtype));
  if (context.attrs.b("use_peephole"))
    return InvalidArgument("use_peephole is not supported: use rnn_cell::LSTMCell");
  if (!gradient && context.attrs.f("cell_clip") > 0) {
    return InvalidArgument("cell_clip is ", context.attrs.f("cell_clip"),
                           ", but clipping is not supported: use rnn_cell::LSTMCell, or -1");
  }
  std::vector<Expected> expected = {{"x", context.input(1).shape},
                                    {"cs_prev", {sizes.batch, units}},
                                    {"h_prev", {sizes.batch, units}},
                                    {"w", {sizes.inputs + units, 4 * units}},
                                    {"wci", {units}},
                                    {"wcf", {units}},
                                    {"wco", {units}},
                                    {"b", {4 * units}}};
  if (gradient) {
    for (const char* name : {"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"})
      expected.push_back({name, sizes.outputs});
  }
  EST_RETURN_IF_ERROR(CheckInputs(context, 1, expected));
  const DType dtype = context.input(1).dtype;
  if (!gradient) return std::vector<TensorSpec>(7, {dtype, sizes.outputs});
  std::vector<TensorSpec> specs;
  for (int i = 1; i < 9; ++i) specs.push_back(context.input(i));
  return specs;
}

OutputSpecs BlockGRURule(const ShapeContext& context, bool gradient) {
  EST_ASSIGN_OR_RETURN(const Sizes sizes, CheckSizes(context, 0));
  const int64_t units = sizes.units, depth = sizes.inputs + units;
  std::vector<Expected> expected = {{"x", context.input(0).shape}, {"h_prev", {sizes.batch, units}},
                                    {"w_ru", {depth, 2 * units}},  {"w_c", {depth, units}},
                                    {"b_ru", {2 * units}},         {"b_c", {units}}};
  if (gradient) {
    for (const char* name : {"r", "u", "c", "h", "h_grad"})
      expected.push_back({name, sizes.outputs});
  }
  EST_RETURN_IF_ERROR(CheckInputs(context, 0, expected));
  if (!gradient) return std::vector<TensorSpec>(4, {context.input(0).dtype, sizes.outputs});
  std::vector<TensorSpec> specs;
  for (int i = 0; i < 6; ++i) specs.push_back(context.input(i));
  return specs;
}

// The operands of a gradient op: the inputs and outputs of the node.
Tensors InputsAndOutputs(const Node& node) {
  Tensors operands;
  for (int i = 0; i < node.num_inputs(); ++i) operands.push_back(node.input(i));
  for (int o = 0; o < node.num_outputs(); ++o) operands.push_back(ResultOf(node, o));
  return operands;
}

Tensor OrZeros(const Tensor& grad, const Tensor& like) {
  return grad.valid() ? grad : ZerosLike(like);
}

Tensors BlockLSTMGradient(const Node& node, const Tensors& grads) {
  constexpr int kMemory = 1, kOutput = 6;
  if (!grads[kMemory].valid() && !grads[kOutput].valid()) return Tensors(9);
  Tensors operands = InputsAndOutputs(node);
  for (const int output : {kMemory, kOutput})
    operands.push_back(OrZeros(grads[static_cast<size_t>(output)], ResultOf(node, output)));
  Tensors result = AddOpN("BlockLSTMGrad", 8, operands, {{"use_peephole", false}});
  result.insert(result.begin(), Tensor());
  for (size_t peephole = 5; peephole < 8; ++peephole) result[peephole] = Tensor();
  return result;
}

Tensors BlockGRUGradient(const Node& node, const Tensors& grads) {
  if (!grads[3].valid()) return Tensors(6);
  Tensors operands = InputsAndOutputs(node);
  operands.push_back(grads[3]);
  return AddOpN("_BlockGRUGrad", 6, operands, {}, "BlockGRUGrad");
}

EST_REGISTER_OP(
    "BlockLSTM", [](const ShapeContext& context) { return BlockLSTMRule(context, false); },
    BlockLSTMGradient);
EST_REGISTER_OP("BlockLSTMGrad",
                [](const ShapeContext& context) { return BlockLSTMRule(context, true); });
EST_REGISTER_OP(
    "_BlockGRU", [](const ShapeContext& context) { return BlockGRURule(context, false); },
    BlockGRUGradient);
EST_REGISTER_OP("_BlockGRUGrad",
                [](const ShapeContext& context) { return BlockGRURule(context, true); });

}  // namespace

BlockLSTMResult BlockLSTM(const Tensor& x, const Tensor& cs_prev, const Tensor& h_prev,
                          const Tensor& w, const Tensor& b, float forget_bias, StringArg name) {
  if (!x.valid() || x.rank() == 0 || !cs_prev.valid() || cs_prev.rank() == 0) {
    const Tensor invalid = AddOpN("BlockLSTM", 7, Tensors(9, x), {}, name)[0];
    return {invalid, invalid};
  }
  const Array no_peephole = Array(x.dtype(), {cs_prev.dim(-1)});
  const std::vector<Tensor> outputs = OpBuilder("BlockLSTM", name)
                                          .Const("seq_len_max", Array::Of<int64_t>({}, {x.dim(0)}))
                                          .Inputs({x, cs_prev, h_prev, w})
                                          .Const("wci", no_peephole)
                                          .Const("wcf", no_peephole)
                                          .Const("wco", no_peephole)
                                          .Input(b)
                                          .Attr("forget_bias", forget_bias)
                                          .Attr("cell_clip", -1.0f)
                                          .Attr("use_peephole", false)
                                          .BuildN(7);
  return {outputs[1], outputs[6]};
}

Tensor BlockGRU(const Tensor& x, const Tensor& h_prev, const Tensor& w_ru, const Tensor& w_c,
                const Tensor& b_ru, const Tensor& b_c, StringArg name) {
  return AddOpN("_BlockGRU", 4, {x, h_prev, w_ru, w_c, b_ru, b_c}, {}, name)[3];
}

}  // namespace estimator
