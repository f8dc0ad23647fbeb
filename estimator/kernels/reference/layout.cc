// _Reorder: [N,H,W,C] to [N,C/B,H,W,B] or back; see kernels/layout.h.
#include "estimator/kernels/layout.h"

#include <cstdint>
#include <cstring>
#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator {
namespace {

std::unique_ptr<Kernel> MakeReorder(const KernelSpec& spec) {
  const bool to_blocked = spec.attrs.s("to") == kBlockedFormat;
  const TensorSpec& plain = to_blocked ? spec.inputs[0] : spec.outputs[0];
  const TensorSpec& blocked = to_blocked ? spec.outputs[0] : spec.inputs[0];
  if (plain.dtype == DType::kString || plain.dtype != blocked.dtype || blocked.shape.rank() != 5 ||
      plain.shape != PlainShape(blocked.shape))
    return nullptr;
  const size_t size = DTypeSize(plain.dtype);
  return MakeKernel([to_blocked, size, s = blocked.shape](const KernelArgs& args) {
    int64_t b = 0;  // index of the element in the blocked tensor
    for (int64_t n = 0; n < s[0]; ++n) {
      for (int64_t block = 0; block < s[1]; ++block) {
        for (int64_t pixel = 0; pixel < s[2] * s[3]; ++pixel) {
          for (int64_t c = 0; c < s[4]; ++c, ++b) {
            const int64_t p = ((n * s[2] * s[3] + pixel) * s[1] + block) * s[4] + c;
            const size_t from = static_cast<size_t>(to_blocked ? p : b) * size;
            const size_t to = static_cast<size_t>(to_blocked ? b : p) * size;
            std::memcpy(args.out<char>(0) + to, args.in<char>(0) + from, size);
          }
        }
      }
    }
    return absl::OkStatus();
  });
}

EST_REGISTER_KERNEL(kReorderOp, KernelTier::kReference, MakeReorder);

}  // namespace
}  // namespace estimator
