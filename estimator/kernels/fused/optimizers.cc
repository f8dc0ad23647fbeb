// The optimizers' updates in f32 on all threads, in one pass over memory. Output i may overwrite
// state input i. The formulas are those of the reference tier (TF 2.15 training_ops.cc).
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/update_sweep.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {
namespace {

// update(args, begin, end) computes the elements [begin, end).
template <typename Update>
class UpdateOf final : public UpdateKernel {
 public:
  UpdateOf(Update update, int64_t size) : update_(std::move(update)), chunks_(MakeChunks(size)) {}
  absl::Status Run(const KernelArgs& args) override {
    ParallelFor(chunks_, [&](int, int64_t begin, int64_t end) { update_(args, begin, end); });
    return absl::OkStatus();
  }
  int64_t size() const override { return chunks_.items; }
  void RunRange(const KernelArgs& args, int64_t begin, int64_t end) const override {
    update_(args, begin, end);
  }

 private:
  const Update update_;
  const Chunks chunks_;
};

template <typename Update>
std::unique_ptr<Kernel> MakeUpdate(const KernelSpec& spec, Update update) {
  if (spec.inputs[0].dtype != DType::kFloat32) return nullptr;
  return std::make_unique<UpdateOf<Update>>(std::move(update),
                                            spec.outputs[0].shape.num_elements());
}

float Scalar(const KernelArgs& args, int i) { return *args.in<float>(i); }

// The inputs are var, alpha, delta.
std::unique_ptr<Kernel> MakeApplyGradientDescent(const KernelSpec& spec) {
  return MakeUpdate(spec, [](const KernelArgs& args, int64_t begin, int64_t end) {
    const float rate = Scalar(args, 1);
    const float *const var = args.in<float>(0), *const gradient = args.in<float>(2);
    float* const new_var = args.out<float>(0);
#pragma omp simd
    for (int64_t e = begin; e < end; ++e) new_var[e] = var[e] - gradient[e] * rate;
  });
}

// The inputs are var, accum, lr, grad, momentum.
std::unique_ptr<Kernel> MakeApplyMomentum(const KernelSpec& spec) {
  return MakeUpdate(spec, [nesterov = spec.attrs.b("use_nesterov")](const KernelArgs& args,
                                                                    int64_t begin, int64_t end) {
    const float rate = Scalar(args, 2), momentum = Scalar(args, 4);
    const float *const var = args.in<float>(0), *const accum = args.in<float>(1),
                       *const gradient = args.in<float>(3);
    float *const new_var = args.out<float>(0), *const new_accum = args.out<float>(1);
    if (nesterov) {
#pragma omp simd
      for (int64_t e = begin; e < end; ++e) {
        const float a = accum[e] * momentum + gradient[e];
        new_var[e] = var[e] - (gradient[e] * rate + a * momentum * rate);
        new_accum[e] = a;
      }
    } else {
#pragma omp simd
      for (int64_t e = begin; e < end; ++e) {
        const float a = accum[e] * momentum + gradient[e];
        new_var[e] = var[e] - a * rate;
        new_accum[e] = a;
      }
    }
  });
}

// The inputs are var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad.
std::unique_ptr<Kernel> MakeApplyAdam(const KernelSpec& spec) {
  return MakeUpdate(spec, [nesterov = spec.attrs.b("use_nesterov")](const KernelArgs& args,
                                                                    int64_t begin, int64_t end) {
    const float alpha = Scalar(args, 5) * std::sqrt(1 - Scalar(args, 4)) / (1 - Scalar(args, 3));
    const float beta1 = Scalar(args, 6), beta2 = Scalar(args, 7), epsilon = Scalar(args, 8);
    const float *const var = args.in<float>(0), *const m = args.in<float>(1),
                       *const v = args.in<float>(2);
    const float* const gradient = args.in<float>(9);
    float *const new_var = args.out<float>(0), *const new_m = args.out<float>(1),
                 *const new_v = args.out<float>(2);
    // With Nesterov the direction is gradient * (1 - beta1) + beta1 * m, else m.
    const float of_gradient = nesterov ? 1 - beta1 : 0.0f, of_m = nesterov ? beta1 : 1.0f;
#pragma omp simd
    for (int64_t e = begin; e < end; ++e) {
      const float g = gradient[e];
      const float first = m[e] + (g - m[e]) * (1 - beta1);
      const float second = v[e] + (g * g - v[e]) * (1 - beta2);
      new_var[e] =
          var[e] - (g * of_gradient + first * of_m) * alpha / (std::sqrt(second) + epsilon);
      new_m[e] = first;
      new_v[e] = second;
    }
  });
}

// The inputs are var, ms, mom, lr, rho, momentum, epsilon, grad.
std::unique_ptr<Kernel> MakeApplyRMSProp(const KernelSpec& spec) {
  return MakeUpdate(spec, [](const KernelArgs& args, int64_t begin, int64_t end) {
    const float rate = Scalar(args, 3), rho = Scalar(args, 4), momentum = Scalar(args, 5),
                epsilon = Scalar(args, 6);
    const float *const var = args.in<float>(0), *const ms = args.in<float>(1),
                       *const mom = args.in<float>(2);
    const float* const gradient = args.in<float>(7);
    float *const new_var = args.out<float>(0), *const new_ms = args.out<float>(1),
                 *const new_mom = args.out<float>(2);
#pragma omp simd
    for (int64_t e = begin; e < end; ++e) {
      const float g = gradient[e];
      const float square = ms[e] + (g * g - ms[e]) * (1 - rho);
      const float step = mom[e] * momentum + g * rate / std::sqrt(square + epsilon);
      new_var[e] = var[e] - step;
      new_ms[e] = square;
      new_mom[e] = step;
    }
  });
}

// The inputs are var, accum, lr, grad.
std::unique_ptr<Kernel> MakeApplyAdagrad(const KernelSpec& spec) {
  return MakeUpdate(spec, [factor = spec.attrs.b("update_slots") ? 1.0f : 0.0f](
                              const KernelArgs& args, int64_t begin, int64_t end) {
    const float rate = Scalar(args, 2);
    const float *const var = args.in<float>(0), *const accum = args.in<float>(1),
                       *const gradient = args.in<float>(3);
    float *const new_var = args.out<float>(0), *const new_accum = args.out<float>(1);
#pragma omp simd
    for (int64_t e = begin; e < end; ++e) {
      const float g = gradient[e];
      const float a = accum[e] + g * g * factor;
      new_var[e] = var[e] - g * rate / std::sqrt(a);
      new_accum[e] = a;
    }
  });
}

EST_REGISTER_KERNEL("ApplyGradientDescent", KernelTier::kFused, MakeApplyGradientDescent);
EST_REGISTER_KERNEL("ApplyMomentum", KernelTier::kFused, MakeApplyMomentum);
EST_REGISTER_KERNEL("ApplyAdam", KernelTier::kFused, MakeApplyAdam);
EST_REGISTER_KERNEL("ApplyRMSProp", KernelTier::kFused, MakeApplyRMSProp);
EST_REGISTER_KERNEL("ApplyAdagrad", KernelTier::kFused, MakeApplyAdagrad);

}  // namespace
}  // namespace estimator::fused
