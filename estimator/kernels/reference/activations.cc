// Activations and their gradient ops, computed for each element.
// Formulas and operand orders: TF 2.15 relu_op_functor.h, softplus_op.h, softsign_op.h,
// cwise_ops.h.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <type_traits>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"

namespace estimator {
namespace {

// selu(x) = kScale * x for x >= 0, kScaleAlpha * (exp(x) - 1) for x < 0.
constexpr double kScale = 1.0507009873554804934193349852946;
constexpr double kScaleAlpha = 1.7580993408473768599402175208123;

// A kernel of one operand: fn(x).
template <typename Fn>
KernelFactory Unary(Fn fn) {
  return [fn](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
    const int64_t size = spec.outputs[0].shape.num_elements();
    return VisitFloating(spec.inputs[0].dtype, [&](auto tag) {
      using T = decltype(tag);
      using Acc = Accumulator<T>;
      return MakeKernel(
          [size, fn](const KernelArgs& args) {
            const T* const x = args.in<T>(0);
            T* const out = args.out<T>(0);
            for (int64_t i = 0; i < size; ++i) out[i] = static_cast<T>(fn(static_cast<Acc>(x[i])));
            return absl::OkStatus();
          },
          /*scratch_bytes=*/0, /*alias_input=*/0);
    });
  };
}

// A kernel of two operands of one shape: fn(first, second).
template <typename Fn>
KernelFactory Binary(Fn fn) {
  return [fn](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
    const int64_t size = spec.outputs[0].shape.num_elements();
    return VisitFloating(spec.inputs[0].dtype, [&](auto tag) {
      using T = decltype(tag);
      using Acc = Accumulator<T>;
      return MakeKernel(
          [size, fn](const KernelArgs& args) {
            const T* const a = args.in<T>(0);
            const T* const b = args.in<T>(1);
            T* const out = args.out<T>(0);
            for (int64_t i = 0; i < size; ++i) {
              out[i] = static_cast<T>(fn(static_cast<Acc>(a[i]), static_cast<Acc>(b[i])));
            }
            return absl::OkStatus();
          },
          /*scratch_bytes=*/0, /*alias_input=*/0);
    });
  };
}

// If exp(x) + 1 rounds to exp(x), softplus is x. If it rounds to 1, softplus is exp(x).
template <typename Acc>
Acc SoftplusOf(Acc x) {
  const Acc threshold = std::log(std::numeric_limits<Acc>::epsilon()) + Acc{2};
  if (x > -threshold) return x;
  if (x < threshold) return std::exp(x);
  return std::log1p(std::exp(x));
}

// The ops that passes/transformer makes of GELU (ops/activations.h) and its gradient. They compute in
// double, because 1 + tanh(u) and 1 + erf(u) lose digits where they are near 0.
double GeluOf(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }
double GeluGradOf(double gradient, double x) {
  const double pdf = std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return gradient * (0.5 * (1 + std::erf(x / std::numbers::sqrt2)) + x * pdf);
}

const double kGeluScale = std::sqrt(2 * std::numbers::inv_pi);
constexpr double kGeluCubic = 0.044715;
double GeluApproximateOf(double x) {
  return 0.5 * x * (1 + std::tanh(kGeluScale * (x + kGeluCubic * x * x * x)));
}
double GeluApproximateGradOf(double gradient, double x) {
  const double tanh = std::tanh(kGeluScale * (x + kGeluCubic * x * x * x));
  const double slope = kGeluScale * (1 + 3 * kGeluCubic * x * x);
  return gradient * 0.5 * ((1 + tanh) + x * (1 - tanh * tanh) * slope);
}

// A function of doubles as one of any floating type.
template <typename Fn>
auto InDouble(Fn fn) {
  return [fn](auto... x) {
    return static_cast<std::common_type_t<decltype(x)...>>(fn(static_cast<double>(x)...));
  };
}

// As in TensorFlow, relu(NaN) is NaN.
EST_REGISTER_KERNEL("Relu", KernelTier::kReference,
                    Unary([](auto x) { return x < 0 ? decltype(x){0} : x; }));
EST_REGISTER_KERNEL("ReluGrad", KernelTier::kReference, Binary([](auto gradient, auto x) {
                      return x > 0 ? gradient : decltype(x){0};
                    }));
EST_REGISTER_KERNEL("Relu6", KernelTier::kReference, Unary([](auto x) {
                      return x < 0 ? decltype(x){0} : x > 6 ? decltype(x){6} : x;
                    }));
EST_REGISTER_KERNEL("Relu6Grad", KernelTier::kReference, Binary([](auto gradient, auto x) {
                      return x > 0 && x < 6 ? gradient : decltype(x){0};
                    }));
EST_REGISTER_KERNEL("Elu", KernelTier::kReference,
                    Unary([](auto x) { return x < 0 ? std::expm1(x) : x; }));
EST_REGISTER_KERNEL("EluGrad", KernelTier::kReference, Binary([](auto gradient, auto y) {
                      return y < 0 ? gradient * (y + 1) : gradient;
                    }));
EST_REGISTER_KERNEL("Selu", KernelTier::kReference, Unary([](auto x) {
                      using Acc = decltype(x);
                      return x < 0 ? static_cast<Acc>(kScaleAlpha) * std::expm1(x)
                                   : static_cast<Acc>(kScale) * x;
                    }));
EST_REGISTER_KERNEL("SeluGrad", KernelTier::kReference, Binary([](auto gradient, auto y) {
                      using Acc = decltype(y);
                      return y < 0 ? gradient * (y + static_cast<Acc>(kScaleAlpha))
                                   : gradient * static_cast<Acc>(kScale);
                    }));
EST_REGISTER_KERNEL("Softplus", KernelTier::kReference,
                    Unary([](auto x) { return SoftplusOf(x); }));
EST_REGISTER_KERNEL("SoftplusGrad", KernelTier::kReference,
                    Binary([](auto gradient, auto x) { return gradient / (std::exp(-x) + 1); }));
EST_REGISTER_KERNEL("Softsign", KernelTier::kReference,
                    Unary([](auto x) { return x / (std::abs(x) + 1); }));
EST_REGISTER_KERNEL("SoftsignGrad", KernelTier::kReference, Binary([](auto gradient, auto x) {
                      const auto d = std::abs(x) + 1;
                      return gradient / (d * d);
                    }));
EST_REGISTER_KERNEL("Sigmoid", KernelTier::kReference,
                    Unary([](auto x) { return 1 / (1 + std::exp(-x)); }));
EST_REGISTER_KERNEL("SigmoidGrad", KernelTier::kReference,
                    Binary([](auto y, auto gradient) { return gradient * y * (1 - y); }));
EST_REGISTER_KERNEL("Tanh", KernelTier::kReference, Unary([](auto x) { return std::tanh(x); }));
EST_REGISTER_KERNEL("TanhGrad", KernelTier::kReference,
                    Binary([](auto y, auto gradient) { return gradient * (1 - y * y); }));
EST_REGISTER_KERNEL("LeakyRelu", KernelTier::kReference, [](const KernelSpec& spec) {
  return Unary([alpha = spec.attrs.f("alpha")](auto x) {
    return x > 0 ? x : x * static_cast<decltype(x)>(alpha);
  })(spec);
});
EST_REGISTER_KERNEL("LeakyReluGrad", KernelTier::kReference, [](const KernelSpec& spec) {
  return Binary([alpha = spec.attrs.f("alpha")](auto gradient, auto x) {
    return x > 0 ? gradient : gradient * static_cast<decltype(x)>(alpha);
  })(spec);
});
EST_REGISTER_KERNEL("_Gelu", KernelTier::kReference, Unary(InDouble(GeluOf)));
EST_REGISTER_KERNEL("_GeluGrad", KernelTier::kReference, Binary(InDouble(GeluGradOf)));
EST_REGISTER_KERNEL("_GeluApproximate", KernelTier::kReference, Unary(InDouble(GeluApproximateOf)));
EST_REGISTER_KERNEL("_GeluApproximateGrad", KernelTier::kReference,
                    Binary(InDouble(GeluApproximateGradOf)));

}  // namespace
}  // namespace estimator
