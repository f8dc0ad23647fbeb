// The optimizers' update rules for each element: (state, scalars, gradient) -> new state.
// Output i may overwrite the i-th state input, so each element is read before it is written.
// Formulas: TF 2.15 training_ops.cc (CPU).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"

namespace estimator {
namespace {

// A kernel whose first outputs.size() inputs are its state. Output i is the new value of input i.
template <typename Fn>
class UpdateKernel : public Kernel {
 public:
  explicit UpdateKernel(Fn run) : run_(std::move(run)) {}
  absl::Status Run(const KernelArgs& args) override {
    run_(args);
    return absl::OkStatus();
  }
  int AliasInput(int output) const override { return output; }

 private:
  Fn run_;
};

// The operands of an op as numbers of type Acc.
template <typename T>
struct Operands {
  using Acc = Accumulator<T>;
  const KernelArgs& args;

  Acc scalar(int i) const { return static_cast<Acc>(*args.in<T>(i)); }
  Acc element(int i, int64_t e) const { return static_cast<Acc>(args.in<T>(i)[e]); }
  void Store(int i, int64_t e, Acc value) const { args.out<T>(i)[e] = static_cast<T>(value); }
};

// make(spec) returns a generic function (operands, number of elements) that computes the update.
template <typename Make>
KernelFactory Update(Make make) {
  return [make](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
    return VisitFloating(spec.inputs[0].dtype, [&](auto tag) -> std::unique_ptr<Kernel> {
      using T = decltype(tag);
      const int64_t size = spec.outputs[0].shape.num_elements();
      auto run = [update = make(spec), size](const KernelArgs& args) {
        update(Operands<T>{args}, size);
      };
      return std::make_unique<UpdateKernel<decltype(run)>>(std::move(run));
    });
  };
}

template <typename Acc>
Acc Sign(Acc x) {
  return static_cast<Acc>((x > 0) - (x < 0));
}

// The inputs are var, alpha, delta.
EST_REGISTER_KERNEL("ApplyGradientDescent", KernelTier::kReference, Update([](const KernelSpec&) {
                      return [](auto o, int64_t size) {
                        const auto rate = o.scalar(1);
                        for (int64_t e = 0; e < size; ++e)
                          o.Store(0, e, o.element(0, e) - o.element(2, e) * rate);
                      };
                    }));

// The inputs are var, accum, lr, grad, momentum.
EST_REGISTER_KERNEL("ApplyMomentum", KernelTier::kReference, Update([](const KernelSpec& spec) {
                      return [nesterov = spec.attrs.b("use_nesterov")](auto o, int64_t size) {
                        const auto rate = o.scalar(2), momentum = o.scalar(4);
                        for (int64_t e = 0; e < size; ++e) {
                          const auto gradient = o.element(3, e);
                          const auto accum = o.element(1, e) * momentum + gradient;
                          const auto step =
                              nesterov ? gradient * rate + accum * momentum * rate : accum * rate;
                          o.Store(0, e, o.element(0, e) - step);
                          o.Store(1, e, accum);
                        }
                      };
                    }));

// The inputs are var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad.
EST_REGISTER_KERNEL(
    "ApplyAdam", KernelTier::kReference, Update([](const KernelSpec& spec) {
      return [nesterov = spec.attrs.b("use_nesterov")](auto o, int64_t size) {
        const auto alpha = o.scalar(5) * std::sqrt(1 - o.scalar(4)) / (1 - o.scalar(3));
        const auto beta1 = o.scalar(6), beta2 = o.scalar(7), epsilon = o.scalar(8);
        for (int64_t e = 0; e < size; ++e) {
          const auto gradient = o.element(9, e);
          const auto m = o.element(1, e) + (gradient - o.element(1, e)) * (1 - beta1);
          const auto v = o.element(2, e) + (gradient * gradient - o.element(2, e)) * (1 - beta2);
          const auto direction = nesterov ? gradient * (1 - beta1) + beta1 * m : m;
          o.Store(0, e, o.element(0, e) - direction * alpha / (std::sqrt(v) + epsilon));
          o.Store(1, e, m);
          o.Store(2, e, v);
        }
      };
    }));

// The inputs are var, ms, mom, lr, rho, momentum, epsilon, grad.
EST_REGISTER_KERNEL("ApplyRMSProp", KernelTier::kReference, Update([](const KernelSpec&) {
                      return [](auto o, int64_t size) {
                        const auto rate = o.scalar(3), rho = o.scalar(4), momentum = o.scalar(5),
                                   epsilon = o.scalar(6);
                        for (int64_t e = 0; e < size; ++e) {
                          const auto gradient = o.element(7, e);
                          const auto ms =
                              o.element(1, e) + (gradient * gradient - o.element(1, e)) * (1 - rho);
                          const auto mom = o.element(2, e) * momentum +
                                           gradient * rate / std::sqrt(ms + epsilon);
                          o.Store(0, e, o.element(0, e) - mom);
                          o.Store(1, e, ms);
                          o.Store(2, e, mom);
                        }
                      };
                    }));

// The inputs are var, mg, ms, mom, lr, rho, momentum, epsilon, grad.
EST_REGISTER_KERNEL("ApplyCenteredRMSProp", KernelTier::kReference, Update([](const KernelSpec&) {
                      return [](auto o, int64_t size) {
                        const auto rate = o.scalar(4), rho = o.scalar(5), momentum = o.scalar(6),
                                   epsilon = o.scalar(7);
                        for (int64_t e = 0; e < size; ++e) {
                          const auto gradient = o.element(8, e);
                          const auto mg =
                              o.element(1, e) + (gradient - o.element(1, e)) * (1 - rho);
                          const auto ms =
                              o.element(2, e) + (gradient * gradient - o.element(2, e)) * (1 - rho);
                          const auto mom = o.element(3, e) * momentum +
                                           gradient * rate / std::sqrt(ms - mg * mg + epsilon);
                          o.Store(0, e, o.element(0, e) - mom);
                          o.Store(1, e, mg);
                          o.Store(2, e, ms);
                          o.Store(3, e, mom);
                        }
                      };
                    }));

// The inputs are var, accum, lr, grad.
EST_REGISTER_KERNEL("ApplyAdagrad", KernelTier::kReference, Update([](const KernelSpec& spec) {
                      return [update_slots = spec.attrs.b("update_slots")](auto o, int64_t size) {
                        const auto rate = o.scalar(2);
                        for (int64_t e = 0; e < size; ++e) {
                          const auto gradient = o.element(3, e);
                          const auto accum = update_slots ? o.element(1, e) + gradient * gradient
                                                          : o.element(1, e);
                          o.Store(0, e, o.element(0, e) - gradient * rate / std::sqrt(accum));
                          o.Store(1, e, accum);
                        }
                      };
                    }));

// The inputs are var, accum, accum_update, lr, rho, epsilon, grad.
EST_REGISTER_KERNEL("ApplyAdadelta", KernelTier::kReference, Update([](const KernelSpec&) {
                      return [](auto o, int64_t size) {
                        const auto rate = o.scalar(3), rho = o.scalar(4), epsilon = o.scalar(5);
                        for (int64_t e = 0; e < size; ++e) {
                          const auto gradient = o.element(6, e);
                          const auto accum =
                              o.element(1, e) * rho + gradient * gradient * (1 - rho);
                          const auto update = std::sqrt(o.element(2, e) + epsilon) /
                                              std::sqrt(accum + epsilon) * gradient;
                          const auto accum_update =
                              o.element(2, e) * rho + update * update * (1 - rho);
                          o.Store(0, e, o.element(0, e) - update * rate);
                          o.Store(1, e, accum);
                          o.Store(2, e, accum_update);
                        }
                      };
                    }));

// The inputs are var, accum, linear, grad, lr, l1, l2, [l2_shrinkage,] lr_power.
template <typename O>
void Ftrl(O o, int64_t size, bool shrinks) {
  using Acc = typename O::Acc;
  const Acc rate = o.scalar(4), l1 = o.scalar(5), l2 = o.scalar(6);
  const Acc shrinkage = shrinks ? o.scalar(7) : Acc{0}, power = o.scalar(shrinks ? 8 : 7);
  // As in TensorFlow, the usual power -0.5 uses sqrt, which is faster and rounds differently.
  const auto root = [power](Acc x) {
    return power == Acc{-0.5} ? std::sqrt(x) : std::pow(x, -power);
  };
  for (int64_t e = 0; e < size; ++e) {
    const Acc var = o.element(0, e), gradient = o.element(3, e);
    const Acc shrunk = shrinks ? gradient + var * (2 * shrinkage) : gradient;
    const Acc accum = o.element(1, e) + gradient * gradient;
    const Acc linear =
        o.element(2, e) + (shrunk - (root(accum) - root(o.element(1, e))) / rate * var);
    const Acc quadratic = root(accum) / rate + 2 * l2;
    o.Store(0, e, std::abs(linear) > l1 ? (l1 * Sign(linear) - linear) / quadratic : Acc{0});
    o.Store(1, e, accum);
    o.Store(2, e, linear);
  }
}

EST_REGISTER_KERNEL("ApplyFtrl", KernelTier::kReference, Update([](const KernelSpec&) {
                      return [](auto o, int64_t size) { Ftrl(o, size, false); };
                    }));
EST_REGISTER_KERNEL("ApplyFtrlV2", KernelTier::kReference, Update([](const KernelSpec&) {
                      return [](auto o, int64_t size) { Ftrl(o, size, true); };
                    }));

// The inputs are var, accum, lr, l1, l2, grad.
EST_REGISTER_KERNEL("ApplyProximalAdagrad", KernelTier::kReference, Update([](const KernelSpec&) {
                      return [](auto o, int64_t size) {
                        using Acc = typename decltype(o)::Acc;
                        const Acc rate = o.scalar(2), l1 = o.scalar(3), l2 = o.scalar(4);
                        for (int64_t e = 0; e < size; ++e) {
                          const Acc gradient = o.element(5, e);
                          const Acc accum = o.element(1, e) + gradient * gradient;
                          const Acc scaled = rate / std::sqrt(accum);
                          const Acc proximal = o.element(0, e) - gradient * scaled;
                          const Acc shrunk =
                              l1 > 0 ? Sign(proximal) *
                                           std::max(std::abs(proximal) - scaled * l1, Acc{0})
                                     : proximal;
                          o.Store(0, e, shrunk / (1 + l2 * scaled));
                          o.Store(1, e, accum);
                        }
                      };
                    }));

}  // namespace
}  // namespace estimator
