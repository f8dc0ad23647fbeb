// Ops that do not change elements: copies, and values that follow from static shapes.
#include <algorithm>
#include <cstring>
#include <string>

#include "estimator/kernels/kernel.h"

namespace estimator {
namespace {

// Copies input i to output i.
void CopyOperand(const TensorSpec& spec, int i, const KernelArgs& args) {
  if (args.in<void>(i) == args.out<void>(i)) return;
  if (spec.dtype == DType::kString) {
    std::copy_n(args.in<std::string>(i), spec.shape.num_elements(), args.out<std::string>(i));
  } else if (spec.num_bytes() > 0) {
    std::memcpy(args.out<void>(i), args.in<void>(i), spec.num_bytes());
  }
}

KernelPlan CopyKernel(const KernelSpec& spec) {
  return MakeKernel(
      [output = spec.outputs[0]](const KernelArgs& args) {
        CopyOperand(output, 0, args);
        return absl::OkStatus();
      },
      0, 0);
}

KernelPlan CopyAllKernel(const KernelSpec& spec) {
  return MakeKernel([outputs = spec.outputs](const KernelArgs& args) {
    for (size_t i = 0; i < outputs.size(); ++i) CopyOperand(outputs[i], static_cast<int>(i), args);
    return absl::OkStatus();
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
      return absl::OkStatus();
    });
  }
  if (spec.outputs[0].dtype != DType::kInt32) return nullptr;
  return MakeKernel([values](const KernelArgs& args) {
    for (size_t i = 0; i < values.size(); ++i)
      args.out<int32_t>(0)[i] = static_cast<int32_t>(values[i]);
    return absl::OkStatus();
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
