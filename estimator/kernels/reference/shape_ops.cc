// Ops that do not change elements: copies, and values that follow from static shapes.
#include <algorithm>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

KernelPlan CopyKernel(const KernelSpec& spec) {
  return MakeKernel(
      [output = spec.outputs[0]](const KernelArgs& args) {
        CopyTensor(output, args.inputs[0], args.outputs[0]);
      },
      0, 0);
}

KernelPlan CopyAllKernel(const KernelSpec& spec) {
  return MakeKernel([outputs = spec.outputs](const KernelArgs& args) {
    for (size_t i = 0; i < outputs.size(); ++i)
      CopyTensor(outputs[i], args.inputs[i], args.outputs[i]);
  });
}

EST_REGISTER_KERNEL("Reshape", KernelTier::kReference, CopyKernel);
EST_REGISTER_KERNEL("ExpandDims", KernelTier::kReference, CopyKernel);
EST_REGISTER_KERNEL("Squeeze", KernelTier::kReference, CopyKernel);
EST_REGISTER_KERNEL("Identity", KernelTier::kReference, CopyKernel);
EST_REGISTER_KERNEL("IdentityN", KernelTier::kReference, CopyAllKernel);
EST_REGISTER_KERNEL("StopGradient", KernelTier::kReference, CopyKernel);
EST_REGISTER_KERNEL("EnsureShape", KernelTier::kReference, CopyKernel);

// A kernel that outputs integers that are known when it is built.
KernelPlan KnownInts(const KernelSpec& spec, std::vector<int64_t> values) {
  if (spec.outputs[0].dtype == DType::kInt64) {
    return MakeKernel([values](const KernelArgs& args) {
      std::copy(values.begin(), values.end(), args.out<int64_t>(0));
    });
  }
  if (spec.outputs[0].dtype != DType::kInt32) return nullptr;
  return MakeKernel([values](const KernelArgs& args) {
    for (size_t i = 0; i < values.size(); ++i)
      args.out<int32_t>(0)[i] = static_cast<int32_t>(values[i]);
  });
}

EST_REGISTER_KERNEL("Shape", KernelTier::kReference, [](const KernelSpec& spec) {
  return KnownInts(spec, spec.inputs[0].shape.dims());
});
EST_REGISTER_KERNEL("Size", KernelTier::kReference, [](const KernelSpec& spec) {
  return KnownInts(spec, {spec.inputs[0].shape.num_elements()});
});
EST_REGISTER_KERNEL("Rank", KernelTier::kReference, [](const KernelSpec& spec) {
  return KnownInts(spec, {spec.inputs[0].shape.rank()});
});

}  // namespace
}  // namespace estimator
