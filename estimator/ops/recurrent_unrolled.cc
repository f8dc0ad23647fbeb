// UnrollRecurrent: the ops of recurrent.h by plain ops.
#include <algorithm>
#include <vector>

#include "estimator/graph/graph.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/bias.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/recurrent.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// [x, h] w + b, in parts of equal size.
std::vector<Tensor> Gates(const Tensor& x, const Tensor& h, const Tensor& w, const Tensor& b,
                          int parts) {
  return Split(BiasAdd(MatMul(Concat({x, h}, 1), w), b), parts, {.axis = 1});
}

// The outputs of all time steps from lists of those of each step.
Tensors StackAll(const std::vector<Tensors>& lists) {
  Tensors stacked;
  for (const Tensors& list : lists) stacked.push_back(Stack(list));
  return stacked;
}

// The state before each time step: first, then all but the last of `states`.
Tensors Previous(const Tensor& first, const Tensor& states) {
  Tensors all = Unstack(states);
  all.insert(all.begin(), first);
  all.pop_back();
  return all;
}

Tensor SigmoidGrad(const Tensor& g, const Tensor& y) { return g * y * (1 - y); }
Tensor TanhGrad(const Tensor& g, const Tensor& y) { return g * (1 - y * y); }

// The gradients of the two parts of [x, h], from that of [x, h] w.
std::vector<Tensor> InputGrads(const Tensor& grad, const Tensor& w, const Tensor& x) {
  return Split(MatMul(grad, w, {.transpose_b = true}), {x.dim(1), w.dim(0) - x.dim(1)},
               {.axis = 1});
}

// The gradients of w and b, from those of [x, h] w + b in each time step.
Tensors WeightGrads(const Tensors& x, const Tensors& h, const Tensors& grads) {
  Tensors inputs;
  for (size_t t = 0; t < x.size(); ++t) inputs.push_back(Concat({x[t], h[t]}, 1));
  const Tensor all = Concat(grads, 0);
  return {MatMul(Concat(inputs, 0), all, {.transpose_a = true}), ReduceSum(all, {0})};
}

// x [T, N, U], with 0 from time step `length` on. All time steps are computed, because their number
// is static.
Tensor UpTo(const Tensor& length, const Tensor& x) {
  std::vector<int64_t> steps;
  for (int64_t t = 0; t < x.dim(0); ++t) steps.push_back(t);
  const Array numbers = Array::FromSpan<int64_t>({x.dim(0), 1, 1}, steps);
  return Where(Less(ConstantIn(*x.graph(), numbers), length), x, 0);
}

Tensors UnrollLSTM(const Attrs& attrs, const Tensors& in) {
  const double forget_bias = static_cast<double>(attrs.f("forget_bias"));
  Tensor cs = in[2], h = in[3];
  std::vector<Tensors> steps(7);
  for (const Tensor& x : Unstack(in[1])) {
    const std::vector<Tensor> gates = Gates(x, h, in[4], in[8], 4);
    const Tensor i = Sigmoid(gates[0]), ci = Tanh(gates[1]);
    const Tensor f = Sigmoid(gates[2] + forget_bias), o = Sigmoid(gates[3]);
    cs = ci * i + cs * f;
    const Tensor co = Tanh(cs);
    h = o * co;
    const Tensor outputs[] = {i, cs, f, o, ci, co, h};
    for (size_t n = 0; n < 7; ++n) steps[n].push_back(outputs[n]);
  }
  Tensors outputs = StackAll(steps);
  for (Tensor& output : outputs) output = UpTo(in[0], output);
  return outputs;
}

Tensors UnrollLSTMGrad(const Tensors& in) {
  // Where i, f and o are 0, all gradients are.
  const Tensors x = Unstack(in[1]), i = Unstack(UpTo(in[0], in[9]));
  const Tensors f = Unstack(UpTo(in[0], in[11])), o = Unstack(UpTo(in[0], in[12]));
  const Tensors ci = Unstack(in[13]), co = Unstack(in[14]), cs_grad = Unstack(in[16]);
  const Tensors h_grad = Unstack(in[17]);
  const Tensors cs_prev = Previous(in[2], in[10]), h_prev = Previous(in[3], in[15]);
  Tensor dcs = ZerosLike(in[2]), dh = ZerosLike(in[3]);
  Tensors x_grads(x.size()), gates(x.size());
  for (size_t t = x.size(); t-- > 0;) {
    const Tensor h = h_grad[t] + dh, cs = cs_grad[t] + dcs + TanhGrad(h * o[t], co[t]);
    gates[t] = Concat({SigmoidGrad(cs * ci[t], i[t]), TanhGrad(cs * i[t], ci[t]),
                       SigmoidGrad(cs * cs_prev[t], f[t]), SigmoidGrad(h * co[t], o[t])},
                      1);
    const std::vector<Tensor> grads = InputGrads(gates[t], in[4], x[t]);
    x_grads[t] = grads[0];
    dh = grads[1];
    dcs = cs * f[t];
  }
  const Tensors weights = WeightGrads(x, h_prev, gates);
  const Tensor none = ZerosLike(in[5]);
  return {Stack(x_grads), dcs, dh, weights[0], none, none, none, weights[1]};
}

Tensors UnrollGRU(const Tensors& in) {
  Tensor h = in[1];
  std::vector<Tensors> steps(4);
  for (const Tensor& x : Unstack(in[0])) {
    const std::vector<Tensor> gates = Gates(x, h, in[2], in[4], 2);
    const Tensor r = Sigmoid(gates[0]), u = Sigmoid(gates[1]);
    const Tensor c = Tanh(Gates(x, r * h, in[3], in[5], 1)[0]);
    h = u * h + (1 - u) * c;
    const Tensor outputs[] = {r, u, c, h};
    for (size_t n = 0; n < 4; ++n) steps[n].push_back(outputs[n]);
  }
  return StackAll(steps);
}

Tensors UnrollGRUGrad(const Tensors& in) {
  const Tensors x = Unstack(in[0]), r = Unstack(in[6]), u = Unstack(in[7]), c = Unstack(in[8]);
  const Tensors h_grad = Unstack(in[10]), h_prev = Previous(in[1], in[9]);
  Tensor dh = ZerosLike(in[1]);
  Tensors x_grads(x.size()), gates(x.size()), candidates(x.size()), reset(x.size());
  for (size_t t = x.size(); t-- > 0;) {
    const Tensor h = h_grad[t] + dh;
    candidates[t] = TanhGrad(h * (1 - u[t]), c[t]);
    const std::vector<Tensor> of_candidate = InputGrads(candidates[t], in[3], x[t]);
    reset[t] = r[t] * h_prev[t];
    gates[t] = Concat(
        {SigmoidGrad(of_candidate[1] * h_prev[t], r[t]), SigmoidGrad(h * (h_prev[t] - c[t]), u[t])},
        1);
    const std::vector<Tensor> of_gates = InputGrads(gates[t], in[2], x[t]);
    x_grads[t] = of_candidate[0] + of_gates[0];
    dh = h * u[t] + of_candidate[1] * r[t] + of_gates[1];
  }
  const Tensors w_ru = WeightGrads(x, h_prev, gates), w_c = WeightGrads(x, reset, candidates);
  return {Stack(x_grads), dh, w_ru[0], w_c[0], w_ru[1], w_c[1]};
}

}  // namespace

Tensors UnrollRecurrent(absl::string_view op, const Attrs& attrs, const Tensors& inputs) {
  if (op == "BlockLSTM") return UnrollLSTM(attrs, inputs);
  if (op == "BlockLSTMGrad") return UnrollLSTMGrad(inputs);
  if (op == "_BlockGRU") return UnrollGRU(inputs);
  CHECK_EQ(op, "_BlockGRUGrad");
  return UnrollGRUGrad(inputs);
}

}  // namespace estimator
