#include "estimator/kernels/recurrent/gates.h"

// Highway compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/recurrent/gates.cc"
// The order matters: each header needs what the one before it defined.
// clang-format off
#include "estimator/kernels/every_target-inl.h"
#include "hwy/contrib/math/math-inl.h"
#include "estimator/kernels/fused/tile_functions-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace estimator::recurrent {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using fused::HWY_NAMESPACE::D;
using fused::HWY_NAMESPACE::Sigmoid;
using fused::HWY_NAMESPACE::Tanh;
using fused::HWY_NAMESPACE::V;

// A whole vector of a row.
struct Whole {
  V Load(const float* from) const { return hn::LoadU(D(), from); }
  void Store(V value, float* to) const { hn::StoreU(value, D(), to); }
};
// The last numbers of a row, fewer than a vector has.
struct Rest {
  hn::Mask<D> mask;
  V Load(const float* from) const { return hn::MaskedLoad(mask, D(), from); }
  void Store(V value, float* to) const { hn::BlendedStore(value, mask, D(), to); }
};

// Calls step(part, u) for each vector of a row.
template <typename Step>
HWY_INLINE void ForEachVector(int64_t units, Step&& step) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t u = 0;
  for (; u + lanes <= units; u += lanes) step(Whole(), u);
  if (u < units) step(Rest{hn::FirstN(D(), static_cast<size_t>(units - u))}, u);
}

// g y (1 - y) for y = Sigmoid(x), and g (1 - y^2) for y = Tanh(x).
HWY_INLINE V SigmoidGrad(V g, V y) { return hn::Mul(g, hn::NegMulAdd(y, y, y)); }
HWY_INLINE V TanhGrad(V g, V y) { return hn::NegMulAdd(hn::Mul(g, y), y, g); }

template <typename Part>
HWY_INLINE V Sum(Part part, const float* a, const float* b) {
  return hn::Add(part.Load(a), part.Load(b));
}
// Stores a gradient and adds it to that of the bias.
template <typename Part>
HWY_INLINE void StoreGrad(Part part, V grad, float* to, float* bias_grad) {
  part.Store(grad, to);
  part.Store(hn::Add(part.Load(bias_grad), grad), bias_grad);
}

void LstmGates(int64_t units, float forget_bias, const float* sums, const float* bias,
               const float* cs_prev, const LstmRows<float>& out) {
  ForEachVector(units, [&](auto part, int64_t at) HWY_ATTR {
    const auto sum = [&](int gate) HWY_ATTR {
      return Sum(part, sums + gate * units + at, bias + gate * units + at);
    };
    const V i = Sigmoid(sum(0)), ci = Tanh(sum(1));
    const V f = Sigmoid(hn::Add(sum(2), hn::Set(D(), forget_bias))), o = Sigmoid(sum(3));
    const V cs = hn::MulAdd(f, part.Load(cs_prev + at), hn::Mul(i, ci)), co = Tanh(cs);
    part.Store(i, out.i + at);
    part.Store(cs, out.cs + at);
    part.Store(f, out.f + at);
    part.Store(o, out.o + at);
    part.Store(ci, out.ci + at);
    part.Store(co, out.co + at);
    part.Store(hn::Mul(o, co), out.h + at);
  });
}

void LstmGatesGrad(int64_t units, const LstmRows<const float>& rows, const float* cs_prev,
                   const float* h_grad, const float* cs_grad, const float* dh, float* dcs,
                   float* sums_grad, float* bias_grad) {
  ForEachVector(units, [&](auto part, int64_t at) HWY_ATTR {
    const V i = part.Load(rows.i + at), ci = part.Load(rows.ci + at), f = part.Load(rows.f + at);
    const V o = part.Load(rows.o + at), co = part.Load(rows.co + at);
    const V h = Sum(part, h_grad + at, dh + at);
    const V cs = hn::Add(Sum(part, cs_grad + at, dcs + at), TanhGrad(hn::Mul(h, o), co));
    part.Store(hn::Mul(cs, f), dcs + at);
    const auto store = [&](int gate, V grad) HWY_ATTR {
      StoreGrad(part, grad, sums_grad + gate * units + at, bias_grad + gate * units + at);
    };
    store(0, SigmoidGrad(hn::Mul(cs, ci), i));
    store(1, TanhGrad(hn::Mul(cs, i), ci));
    store(2, SigmoidGrad(hn::Mul(cs, part.Load(cs_prev + at)), f));
    store(3, SigmoidGrad(hn::Mul(h, co), o));
  });
}

void GruGates(int64_t units, const float* sums, const float* bias, const float* h_prev, float* r,
              float* u, float* reset) {
  ForEachVector(units, [&](auto part, int64_t at) HWY_ATTR {
    const V gate = Sigmoid(Sum(part, sums + at, bias + at));
    part.Store(gate, r + at);
    part.Store(hn::Mul(gate, part.Load(h_prev + at)), reset + at);
    part.Store(Sigmoid(Sum(part, sums + units + at, bias + units + at)), u + at);
  });
}

void GruOutput(int64_t units, const float* sums, const float* bias, const float* h_prev,
               const float* u, float* c, float* h) {
  ForEachVector(units, [&](auto part, int64_t at) HWY_ATTR {
    const V candidate = Tanh(Sum(part, sums + at, bias + at)), update = part.Load(u + at);
    const V kept = hn::Mul(update, part.Load(h_prev + at));
    part.Store(candidate, c + at);
    part.Store(hn::MulAdd(hn::Sub(hn::Set(D(), 1.0f), update), candidate, kept), h + at);
  });
}

void GruOutputGrad(int64_t units, const float* h_prev, const float* u, const float* c,
                   const float* h_grad, float* dh, float* u_sums_grad, float* c_sums_grad,
                   float* u_bias_grad, float* c_bias_grad) {
  ForEachVector(units, [&](auto part, int64_t at) HWY_ATTR {
    const V update = part.Load(u + at), candidate = part.Load(c + at);
    const V h = Sum(part, h_grad + at, dh + at);
    const V kept = hn::Mul(h, update);
    part.Store(kept, dh + at);
    StoreGrad(part, SigmoidGrad(hn::Mul(h, hn::Sub(part.Load(h_prev + at), candidate)), update),
              u_sums_grad + at, u_bias_grad + at);
    StoreGrad(part, TanhGrad(hn::Sub(h, kept), candidate), c_sums_grad + at, c_bias_grad + at);
  });
}

void GruGatesGrad(int64_t units, const float* h_prev, const float* r, const float* reset_grad,
                  float* dh, float* r_sums_grad, float* r_bias_grad) {
  ForEachVector(units, [&](auto part, int64_t at) HWY_ATTR {
    const V gate = part.Load(r + at), grad = part.Load(reset_grad + at);
    part.Store(hn::MulAdd(grad, gate, part.Load(dh + at)), dh + at);
    StoreGrad(part, SigmoidGrad(hn::Mul(grad, part.Load(h_prev + at)), gate), r_sums_grad + at,
              r_bias_grad + at);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::recurrent
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::recurrent {
HWY_EXPORT(LstmGates);
HWY_EXPORT(LstmGatesGrad);
HWY_EXPORT(GruGates);
HWY_EXPORT(GruOutput);
HWY_EXPORT(GruOutputGrad);
HWY_EXPORT(GruGatesGrad);

void LstmGates(int64_t units, float forget_bias, const float* sums, const float* bias,
               const float* cs_prev, const LstmRows<float>& out) {
  HWY_DYNAMIC_DISPATCH(LstmGates)(units, forget_bias, sums, bias, cs_prev, out);
}
void LstmGatesGrad(int64_t units, const LstmRows<const float>& rows, const float* cs_prev,
                   const float* h_grad, const float* cs_grad, const float* dh, float* dcs,
                   float* sums_grad, float* bias_grad) {
  HWY_DYNAMIC_DISPATCH(LstmGatesGrad)
  (units, rows, cs_prev, h_grad, cs_grad, dh, dcs, sums_grad, bias_grad);
}
void GruGates(int64_t units, const float* sums, const float* bias, const float* h_prev, float* r,
              float* u, float* reset) {
  HWY_DYNAMIC_DISPATCH(GruGates)(units, sums, bias, h_prev, r, u, reset);
}
void GruOutput(int64_t units, const float* sums, const float* bias, const float* h_prev,
               const float* u, float* c, float* h) {
  HWY_DYNAMIC_DISPATCH(GruOutput)(units, sums, bias, h_prev, u, c, h);
}
void GruOutputGrad(int64_t units, const float* h_prev, const float* u, const float* c,
                   const float* h_grad, float* dh, float* u_sums_grad, float* c_sums_grad,
                   float* u_bias_grad, float* c_bias_grad) {
  HWY_DYNAMIC_DISPATCH(GruOutputGrad)
  (units, h_prev, u, c, h_grad, dh, u_sums_grad, c_sums_grad, u_bias_grad, c_bias_grad);
}
void GruGatesGrad(int64_t units, const float* h_prev, const float* r, const float* reset_grad,
                  float* dh, float* r_sums_grad, float* r_bias_grad) {
  HWY_DYNAMIC_DISPATCH(GruGatesGrad)(units, h_prev, r, reset_grad, dh, r_sums_grad, r_bias_grad);
}

}  // namespace estimator::recurrent
#endif  // HWY_ONCE
