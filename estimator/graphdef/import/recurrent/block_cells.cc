#include "estimator/graphdef/import/recurrent/block_cells.h"

#include <utility>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graphdef/import/op_conversions.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/bias.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/reduction.h"

namespace estimator {
namespace {

Tensor SigmoidGrad(const Tensor& g, const Tensor& y) { return g * y * (1 - y); }
Tensor TanhGrad(const Tensor& g, const Tensor& y) { return g * (1 - y * y); }

absl::Status CheckMatrices(const ImportNode& node, const std::vector<size_t>& inputs) {
  for (const size_t k : inputs) {
    if (node.inputs[k].rank() != 2)
      return InvalidArgument("input ", k, " is ", node.inputs[k].spec().ToString(),
                             ", not a matrix");
  }
  return absl::OkStatus();
}

// [x, h] w + b, in parts of equal size.
std::vector<Tensor> Gates(const Tensor& x, const Tensor& h, const Tensor& w, const Tensor& b,
                          int parts) {
  return Split(BiasAdd(MatMul(Concat({x, h}, 1), w), b), parts, {.axis = 1});
}

// x [N,C]; cs_prev, h_prev [N,U]; w [C+U,4U]; wci, wcf, wco [U]; b [4U]
//   -> i, cs, f, o, ci, co, h. The columns of w are those of i, ci, f and o.
ImportOutputs ConvertLSTMBlockCell(const ImportNode& node) {
  const NameScope scope(node.name, node.graph);
  const std::vector<Tensor>& in = node.inputs;
  EST_RETURN_IF_ERROR(CheckMatrices(node, {0, 1, 2, 3}));
  const Tensor& cs_prev = in[1];
  const bool peephole = node.attrs.b("use_peephole");
  const auto clip = static_cast<double>(node.attrs.f("cell_clip"));
  std::vector<Tensor> gates = Gates(in[0], in[2], in[3], in[7], 4);
  if (gates.size() != 4) return std::vector<Tensor>(7);
  gates[2] = gates[2] + static_cast<double>(node.attrs.f("forget_bias"));
  if (peephole) gates[0] = gates[0] + cs_prev * in[4];
  if (peephole) gates[2] = gates[2] + cs_prev * in[5];
  const Tensor i = Sigmoid(gates[0]), ci = Tanh(gates[1]), f = Sigmoid(gates[2]);
  Tensor cs = ci * i + cs_prev * f;
  if (clip > 0) cs = Maximum(Minimum(cs, clip), -clip);
  const Tensor o = Sigmoid(peephole ? gates[3] + cs * in[6] : gates[3]), co = Tanh(cs);
  return std::vector<Tensor>{i, cs, f, o, ci, co, o * co};
}

// The inputs and outputs of LSTMBlockCell without h, cs_grad, h_grad
//   -> cs_prev_grad, the gradients of the gates, wci_grad, wcf_grad, wco_grad
ImportOutputs ConvertLSTMBlockCellGrad(const ImportNode& node) {
  const NameScope scope(node.name, node.graph);
  const std::vector<Tensor>& in = node.inputs;
  const Tensor &cs_prev = in[1], &i = in[8], &cs = in[9], &f = in[10], &o = in[11], &ci = in[12];
  const Tensor &co = in[13], &h_grad = in[15];
  const bool peephole = node.attrs.b("use_peephole");
  const Tensor o_grad = SigmoidGrad(h_grad * co, o);
  Tensor sum = TanhGrad(h_grad * o, co) + in[14];
  if (peephole) sum = sum + o_grad * in[6];
  const Tensor ci_grad = TanhGrad(sum * i, ci), f_grad = SigmoidGrad(sum * cs_prev, f);
  const Tensor i_grad = SigmoidGrad(sum * ci, i);
  Tensor cs_prev_grad = sum * f;
  std::vector<Tensor> weights = {ZerosLike(in[4]), ZerosLike(in[5]), ZerosLike(in[6])};
  if (peephole) {
    cs_prev_grad = cs_prev_grad + i_grad * in[4] + f_grad * in[5];
    weights = {ReduceSum(i_grad * cs_prev, {0}), ReduceSum(f_grad * cs_prev, {0}),
               ReduceSum(o_grad * cs, {0})};
  }
  return std::vector<Tensor>{cs_prev_grad, Concat({i_grad, ci_grad, f_grad, o_grad}, 1), weights[0],
                             weights[1], weights[2]};
}

// x [N,C]; h_prev [N,U]; w_ru [C+U,2U]; w_c [C+U,U]; b_ru [2U]; b_c [U] -> r, u, c, h
ImportOutputs ConvertGRUBlockCell(const ImportNode& node) {
  const NameScope scope(node.name, node.graph);
  const std::vector<Tensor>& in = node.inputs;
  EST_RETURN_IF_ERROR(CheckMatrices(node, {0, 1, 2, 3}));
  const std::vector<Tensor> gates = Gates(in[0], in[1], in[2], in[4], 2);
  if (gates.size() != 2) return std::vector<Tensor>(4);
  const Tensor r = Sigmoid(gates[0]), u = Sigmoid(gates[1]);
  const Tensor c = Tanh(BiasAdd(MatMul(Concat({in[0], in[1] * r}, 1), in[3]), in[5]));
  return std::vector<Tensor>{r, u, c, u * in[1] + (1 - u) * c};
}

// The inputs and outputs of GRUBlockCell without h, h_grad
//   -> x_grad, h_prev_grad, the gradient of the candidate, those of the gates r and u
ImportOutputs ConvertGRUBlockCellGrad(const ImportNode& node) {
  const NameScope scope(node.name, node.graph);
  const std::vector<Tensor>& in = node.inputs;
  EST_RETURN_IF_ERROR(CheckMatrices(node, {0, 1, 2, 3}));
  const Tensor &h_prev = in[1], &r = in[6], &u = in[7], &c = in[8], &h_grad = in[9];
  const std::vector<int64_t> sizes = {in[0].dim(1), h_prev.dim(1)};
  const auto input_grads = [&sizes](const Tensor& grad, const Tensor& w) {
    return Split(MatMul(grad, w, {.transpose_b = true}), sizes, {.axis = 1});
  };
  const Tensor c_grad = TanhGrad(h_grad * (1 - u), c);
  const std::vector<Tensor> of_candidate = input_grads(c_grad, in[3]);
  if (of_candidate.size() != 2) return std::vector<Tensor>(4);
  const Tensor gates =
      Concat({SigmoidGrad(of_candidate[1] * h_prev, r), SigmoidGrad(h_grad * (h_prev - c), u)}, 1);
  const std::vector<Tensor> of_gates = input_grads(gates, in[2]);
  if (of_gates.size() != 2) return std::vector<Tensor>(4);
  return std::vector<Tensor>{of_candidate[0] + of_gates[0],
                             of_gates[1] + of_candidate[1] * r + h_grad * u, c_grad, gates};
}

// The columns of i, f, ci and o in the order of BlockLSTM: i, ci, f and o; or back.
Tensor SwapColumns(const Tensor& x) {
  const int axis = x.rank() - 1;
  const std::vector<Tensor> parts = Split(x, 4, {.axis = axis});
  if (parts.size() != 4) return Tensor();
  return Concat({parts[0], parts[2], parts[1], parts[3]}, axis);
}

ImportOutputs ConvertBlockLSTMV2(const ImportNode& node) {
  std::vector<Tensor> inputs = node.inputs;
  for (const size_t k : {4, 8}) inputs[k] = SwapColumns(inputs[k]);
  return AddOutputs(node.graph, "BlockLSTM", std::move(inputs),
                    {{"forget_bias", 0.0f},
                     {"cell_clip", node.attrs.f("cell_clip")},
                     {"use_peephole", node.attrs.b("use_peephole")}},
                    node.name);
}

ImportOutputs ConvertBlockLSTMGradV2(const ImportNode& node) {
  std::vector<Tensor> inputs = node.inputs;
  for (const size_t k : {4, 8}) inputs[k] = SwapColumns(inputs[k]);
  std::vector<Tensor> outputs =
      AddOutputs(node.graph, "BlockLSTMGrad", std::move(inputs),
                 {{"use_peephole", node.attrs.b("use_peephole")}}, node.name);
  if (outputs.size() != 8) return outputs;
  for (const size_t k : {3, 7}) outputs[k] = SwapColumns(outputs[k]);
  return outputs;
}

}  // namespace

void AddBlockCells(ImportRules& rules) {
  rules["LSTMBlockCell"] = {"", "forget_bias:f=1 cell_clip:f=3 use_peephole:b=false",
                            ConvertLSTMBlockCell, 8};
  rules["LSTMBlockCellGrad"] = {"", "use_peephole:b=false", ConvertLSTMBlockCellGrad, 16};
  rules["GRUBlockCell"] = {"", "", ConvertGRUBlockCell, 6};
  rules["GRUBlockCellGrad"] = {"", "", ConvertGRUBlockCellGrad, 10};
  rules["BlockLSTMV2"] = {"", "cell_clip:f=0 use_peephole:b=false!", ConvertBlockLSTMV2, 9};
  rules["BlockLSTMGradV2"] = {"", "use_peephole:b=false!", ConvertBlockLSTMGradV2, 18};
}

}  // namespace estimator
