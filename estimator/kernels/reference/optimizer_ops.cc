// The optimizers' updates for each element, by the formulas of op_def/update_formulas.h.
#include <cstdint>
#include <memory>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/update_element.h"
#include "estimator/op_def/update_formulas.h"

namespace estimator {
namespace {

// Output i is the new value of input i.
template <typename Rule, typename T>
class ReferenceUpdate : public Kernel {
 public:
  ReferenceUpdate(bool flag, int64_t size) : flag_(flag), size_(size) {}
  absl::Status Run(const KernelArgs& args) override {
    const UpdateElement<Rule, T, Accumulator<T>> update(args);
    for (int64_t e = 0; e < size_; ++e) update(e, flag_);
    return absl::OkStatus();
  }
  int AliasInput(int output) const override { return output; }

 private:
  const bool flag_;
  const int64_t size_;
};

template <typename Rule>
KernelPlan MakeUpdate(const KernelSpec& spec) {
  const bool flag = !Rule::kDef.flag.empty() && spec.attrs.b(Rule::kDef.flag);
  const int64_t size = spec.outputs[0].shape.num_elements();
  return VisitFloating(spec.inputs[0].dtype, [&](auto tag) -> KernelPlan {
    using T = decltype(tag);
    return [flag, size] { return std::make_unique<ReferenceUpdate<Rule, T>>(flag, size); };
  });
}

[[maybe_unused]] const bool kUpdatesRegistered = [] {
  updates::OpRules::ForEach([]<typename Rule>() {
    RegisterKernel(Rule::kDef.op, KernelTier::kReference, MakeUpdate<Rule>);
  });
  return true;
}();

}  // namespace
}  // namespace estimator
