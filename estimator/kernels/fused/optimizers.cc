// The optimizers' updates in f32 on all threads, in one pass over memory, by the formulas of
// op_def/update_formulas.h.
#include <cstdint>
#include <memory>
#include <type_traits>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/update_sweep.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/update_element.h"
#include "estimator/op_def/update_formulas.h"

namespace estimator::fused {
namespace {

// The flag of a formula. Each value has its own loop, because a choice in the loop would cost time.
template <bool kFlag>
struct UpdateFlag {
  constexpr operator bool() const { return kFlag; }  // NOLINT: as a bool in the formula
  float factor = kFlag ? 1 : 0;
};
// Adds x and y after y was rounded, because the compiler does not know the factor.
template <bool kFlag>
float AddIf(UpdateFlag<kFlag> flag, float x, float y) {
  return x + y * flag.factor;
}

template <typename Rule, bool kFlag>
class FusedUpdate final : public UpdateKernel {
 public:
  explicit FusedUpdate(int64_t size) : chunks_(MakeChunks(size)) {}
  absl::Status Run(const KernelArgs& args) override {
    ParallelFor(chunks_, [&](int, int64_t begin, int64_t end) { RunRange(args, begin, end); });
    return absl::OkStatus();
  }
  int64_t size() const override { return chunks_.items; }
  void RunRange(const KernelArgs& args, int64_t begin, int64_t end) const override {
    const UpdateElement<Rule, float, float> update(args);
#pragma omp simd
    for (int64_t e = begin; e < end; ++e) update(e, flag_);
  }

 private:
  const Chunks chunks_;
  const UpdateFlag<kFlag> flag_;
};

template <typename Rule>
KernelPlan MakeUpdate(const KernelSpec& spec) {
  if (spec.inputs[0].dtype != DType::kFloat32) return nullptr;
  const int64_t size = spec.outputs[0].shape.num_elements();
  if (!Rule::kDef.flag.empty() && spec.attrs.b(Rule::kDef.flag))
    return [size] { return std::make_unique<FusedUpdate<Rule, true>>(size); };
  return [size] { return std::make_unique<FusedUpdate<Rule, false>>(size); };
}

[[maybe_unused]] const bool kUpdatesRegistered = [] {
  updates::OpRules::ForEach([]<typename Rule>() {
    // The compiler fuses another multiply and add in this rule than in the reference kernel.
    // Without a fused kernel, training continues with the bits that it had.
    if constexpr (!std::is_same_v<Rule, updates::ApplyCenteredRMSProp>)
      RegisterKernel(Rule::kDef.op, KernelTier::kFused, MakeUpdate<Rule>);
  });
  return true;
}();

}  // namespace
}  // namespace estimator::fused
