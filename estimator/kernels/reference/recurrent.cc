// BlockLSTM, _BlockGRU and their gradients, step by step. ops/recurrent.h has the operands,
// nn/rnn/cells.h the formulas. 16-bit floats are computed in f32, and stored after each step.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/recurrent/sizes.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

using recurrent::CheckedLength;
using recurrent::Sizes;
using recurrent::SizesOf;

// A row of numbers of type T, read in the type C that is computed in.
template <typename T, typename C = Compute<T>>
class Row {
 public:
  Row(T* row) : row_(row) {}  // NOLINT
  C operator[](int64_t i) const { return static_cast<C>(row_[i]); }
  void Set(int64_t i, C value) const { row_[i] = static_cast<std::remove_const_t<T>>(value); }
  void Add(int64_t i, C value) const { Set(i, (*this)[i] + value); }
  Row operator+(int64_t offset) const { return row_ + offset; }

 private:
  T* row_;
};
template <typename T>
using ConstRow = Row<const T, Compute<T>>;

template <typename C>
C Sigmoid(C x) {
  return 1 / (1 + std::exp(-x));
}
template <typename C>
C SigmoidGrad(C g, C y) {
  return g * y * (1 - y);
}
template <typename C>
C TanhGrad(C g, C y) {
  return g * (1 - y * y);
}

// The gates of an example: sums[j] = bias[j] + sum_i x[i] w[i,j] + sum_k h[k] w[inputs + k, j].
template <typename T, typename C, typename H>
void GateSums(const Sizes& s, ConstRow<T> x, H h, ConstRow<T> w, ConstRow<T> bias, int64_t gates,
              C* sums) {
  for (int64_t j = 0; j < gates; ++j) {
    C sum = bias[j];
    for (int64_t i = 0; i < s.inputs; ++i) sum += x[i] * w[i * gates + j];
    for (int64_t k = 0; k < s.units; ++k) sum += h[k] * w[(s.inputs + k) * gates + j];
    sums[j] = sum;
  }
}
// Backward: adds to the gradients of x, h, w and the bias.
template <typename T, typename C, typename H>
void AddGateGrads(const Sizes& s, ConstRow<T> x, H h, ConstRow<T> w, int64_t gates, const C* sums,
                  Row<T> x_grad, C* h_grad, C* w_grad, C* bias_grad) {
  for (int64_t i = 0; i < s.inputs + s.units; ++i) {
    const C from = i < s.inputs ? x[i] : h[i - s.inputs];
    C grad = 0;
    for (int64_t j = 0; j < gates; ++j) {
      grad += sums[j] * w[i * gates + j];
      w_grad[i * gates + j] += from * sums[j];
    }
    if (i < s.inputs)
      x_grad.Add(i, grad);
    else
      h_grad[i - s.inputs] += grad;
  }
  for (int64_t j = 0; j < gates; ++j) bias_grad[j] += sums[j];
}

// The operands of a kernel as rows.
template <typename T>
struct Operands {
  const KernelArgs& args;
  ConstRow<T> in(int i) const { return args.in<T>(i); }
  Row<T> out(int i) const { return args.out<T>(i); }
  // Writes sums that were added up in C.
  template <typename C>
  void Store(int i, const C* from, int64_t count) const {
    for (int64_t n = 0; n < count; ++n) out(i).Set(n, from[n]);
  }
  void Clear(int i, int64_t begin, int64_t end) const {
    for (int64_t n = begin; n < end; ++n) out(i).Set(n, 0);
  }
};

template <typename T, typename C = Compute<T>>
KernelPlan BlockLstm(const KernelSpec& spec) {
  const Sizes s = SizesOf(spec, 1);
  const auto forget_bias = static_cast<C>(spec.attrs.f("forget_bias"));
  return MakeKernel(
      [=](const KernelArgs& args) -> absl::Status {
        EST_ASSIGN_OR_RETURN(const int64_t length, CheckedLength(*args.in<int64_t>(0), s.steps));
        const Operands<T> o{args};
        C* const sums = static_cast<C*>(args.scratch);
        const int64_t step = s.batch * s.units;
        for (int64_t row = 0; row < length * s.batch; ++row) {
          const int64_t at = row * s.units, before = at - step;
          const ConstRow<T> cs = before < 0 ? o.in(2) + at : ConstRow<T>(args.out<T>(1) + before);
          const ConstRow<T> h = before < 0 ? o.in(3) + at : ConstRow<T>(args.out<T>(6) + before);
          GateSums<T>(s, o.in(1) + row * s.inputs, h, o.in(4), o.in(8), 4 * s.units, sums);
          for (int64_t u = 0; u < s.units; ++u) {
            const C i = Sigmoid(sums[u]), ci = std::tanh(sums[s.units + u]);
            const C f = Sigmoid(sums[2 * s.units + u] + forget_bias);
            const C out = Sigmoid(sums[3 * s.units + u]);
            const C memory = ci * i + cs[u] * f, co = std::tanh(memory);
            const C values[] = {i, memory, f, out, ci, co, out * co};
            for (int n = 0; n < 7; ++n) o.out(n).Set(at + u, values[n]);
          }
        }
        for (int n = 0; n < 7; ++n) o.Clear(n, length * step, s.steps * step);
        return absl::OkStatus();
      },
      static_cast<size_t>(4 * s.units) * sizeof(C));
}

template <typename T, typename C = Compute<T>>
KernelPlan BlockLstmGrad(const KernelSpec& spec) {
  const Sizes s = SizesOf(spec, 1);
  const int64_t gates = 4 * s.units, step = s.batch * s.units;
  const int64_t weights = (s.inputs + s.units) * gates, total = weights + 2 * gates + 2 * step;
  return MakeKernel(
      [=](const KernelArgs& args) -> absl::Status {
        EST_ASSIGN_OR_RETURN(const int64_t length, CheckedLength(*args.in<int64_t>(0), s.steps));
        const Operands<T> o{args};
        C *const w = static_cast<C*>(args.scratch), *const bias = w + weights;
        C *const sums = bias + gates, *const dcs = sums + gates, *const dh = dcs + step;
        std::fill(w, w + total, C(0));
        o.Clear(0, 0, s.rows() * s.inputs);
        for (int64_t row = length * s.batch - 1; row >= 0; --row) {
          const int64_t at = row * s.units, before = at - step;
          const int64_t example = row % s.batch * s.units;
          const ConstRow<T> cs = before < 0 ? o.in(2) + at : o.in(10) + before;
          const ConstRow<T> h = before < 0 ? o.in(3) + at : o.in(15) + before;
          for (int64_t u = 0; u < s.units; ++u) {
            const C i = o.in(9)[at + u], f = o.in(11)[at + u], out = o.in(12)[at + u];
            const C ci = o.in(13)[at + u], co = o.in(14)[at + u];
            const C h_grad = o.in(17)[at + u] + dh[example + u];
            const C memory = o.in(16)[at + u] + dcs[example + u] + TanhGrad(h_grad * out, co);
            sums[u] = SigmoidGrad(memory * ci, i);
            sums[s.units + u] = TanhGrad(memory * i, ci);
            sums[2 * s.units + u] = SigmoidGrad(memory * cs[u], f);
            sums[3 * s.units + u] = SigmoidGrad(h_grad * co, out);
            dcs[example + u] = memory * f;
            dh[example + u] = 0;
          }
          AddGateGrads<T>(s, o.in(1) + row * s.inputs, h, o.in(4), gates, sums,
                          o.out(0) + row * s.inputs, dh + example, w, bias);
        }
        o.Store(1, dcs, step);
        o.Store(2, dh, step);
        o.Store(3, w, weights);
        for (int n = 4; n < 7; ++n) o.Clear(n, 0, s.units);
        o.Store(7, bias, gates);
        return absl::OkStatus();
      },
      static_cast<size_t>(total) * sizeof(C));
}

template <typename T, typename C = Compute<T>>
KernelPlan BlockGru(const KernelSpec& spec) {
  const Sizes s = SizesOf(spec, 0);
  return MakeKernel(
      [=](const KernelArgs& args) {
        const Operands<T> o{args};
        C *const gates = static_cast<C*>(args.scratch), *const candidate = gates + 2 * s.units;
        C* const reset = candidate + s.units;  // r h
        const int64_t step = s.batch * s.units;
        for (int64_t row = 0; row < s.rows(); ++row) {
          const int64_t at = row * s.units, before = at - step;
          const ConstRow<T> x = o.in(0) + row * s.inputs;
          const ConstRow<T> h = before < 0 ? o.in(1) + at : ConstRow<T>(args.out<T>(3) + before);
          GateSums<T>(s, x, h, o.in(2), o.in(4), 2 * s.units, gates);
          for (int64_t u = 0; u < 2 * s.units; ++u) gates[u] = Sigmoid(gates[u]);
          for (int64_t u = 0; u < s.units; ++u) reset[u] = gates[u] * h[u];
          GateSums<T>(s, x, reset, o.in(3), o.in(5), s.units, candidate);
          for (int64_t u = 0; u < s.units; ++u) {
            const C update = gates[s.units + u], c = std::tanh(candidate[u]);
            o.out(0).Set(at + u, gates[u]);
            o.out(1).Set(at + u, update);
            o.out(2).Set(at + u, c);
            o.out(3).Set(at + u, update * h[u] + (1 - update) * c);
          }
        }
      },
      static_cast<size_t>(4 * s.units) * sizeof(C));
}

template <typename T, typename C = Compute<T>>
KernelPlan BlockGruGrad(const KernelSpec& spec) {
  const Sizes s = SizesOf(spec, 0);
  const int64_t step = s.batch * s.units, depth = s.inputs + s.units;
  const int64_t total = depth * 3 * s.units + 8 * s.units + step;
  return MakeKernel(
      [=](const KernelArgs& args) {
        const Operands<T> o{args};
        C *const w_ru = static_cast<C*>(args.scratch), *const w_c = w_ru + depth * 2 * s.units;
        C *const bias = w_c + depth * s.units, *const gates = bias + 3 * s.units;
        C *const candidate = gates + 2 * s.units, *const reset = candidate + s.units;
        C *const reset_grad = reset + s.units, *const dh = reset_grad + s.units;
        std::fill(w_ru, w_ru + total, C(0));
        o.Clear(0, 0, s.rows() * s.inputs);
        for (int64_t row = s.rows() - 1; row >= 0; --row) {
          const int64_t at = row * s.units, before = at - step;
          const int64_t example = row % s.batch * s.units;
          const ConstRow<T> x = o.in(0) + row * s.inputs;
          const ConstRow<T> h = before < 0 ? o.in(1) + at : o.in(9) + before;
          const ConstRow<T> r = o.in(6) + at, update = o.in(7) + at, c = o.in(8) + at;
          for (int64_t u = 0; u < s.units; ++u) {
            const C grad = o.in(10)[at + u] + dh[example + u];
            gates[s.units + u] = SigmoidGrad(grad * (h[u] - c[u]), update[u]);
            candidate[u] = TanhGrad(grad * (1 - update[u]), c[u]);
            dh[example + u] = grad * update[u];
            reset[u] = r[u] * h[u];
            reset_grad[u] = 0;
          }
          const Row<T> x_grad = o.out(0) + row * s.inputs;
          AddGateGrads<T>(s, x, reset, o.in(3), s.units, candidate, x_grad, reset_grad, w_c,
                          bias + 2 * s.units);
          for (int64_t u = 0; u < s.units; ++u) {
            gates[u] = SigmoidGrad(reset_grad[u] * h[u], r[u]);
            dh[example + u] += reset_grad[u] * r[u];
          }
          AddGateGrads<T>(s, x, h, o.in(2), 2 * s.units, gates, x_grad, dh + example, w_ru, bias);
        }
        o.Store(1, dh, step);
        o.Store(2, w_ru, depth * 2 * s.units);
        o.Store(3, w_c, depth * s.units);
        o.Store(4, bias, 2 * s.units);
        o.Store(5, bias + 2 * s.units, s.units);
      },
      static_cast<size_t>(total) * sizeof(C));
}

EST_REGISTER_KERNEL("BlockLSTM", KernelTier::kReference, [](const KernelSpec& spec) {
  return VisitFloating(spec.inputs[1].dtype,
                       [&](auto tag) { return BlockLstm<decltype(tag)>(spec); });
});
EST_REGISTER_KERNEL("BlockLSTMGrad", KernelTier::kReference, [](const KernelSpec& spec) {
  return VisitFloating(spec.inputs[1].dtype,
                       [&](auto tag) { return BlockLstmGrad<decltype(tag)>(spec); });
});
EST_REGISTER_KERNEL("_BlockGRU", KernelTier::kReference, [](const KernelSpec& spec) {
  return VisitFloating(spec.inputs[0].dtype,
                       [&](auto tag) { return BlockGru<decltype(tag)>(spec); });
});
EST_REGISTER_KERNEL("_BlockGRUGrad", KernelTier::kReference, [](const KernelSpec& spec) {
  return VisitFloating(spec.inputs[0].dtype,
                       [&](auto tag) { return BlockGruGrad<decltype(tag)>(spec); });
});

}  // namespace
}  // namespace estimator
