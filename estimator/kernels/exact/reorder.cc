// _Reorder on all threads; it copies the channels of one block at a time. See kernels/layout.h.
#include <cstdint>
#include <cstring>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"

namespace estimator {
namespace {

// Copies rows of `run` bytes.  kRun: `run` if it is known at compile time, else 0.
template <size_t kRun>
void CopyRows(const char* from, size_t from_step, char* to, size_t to_step, int64_t rows,
              size_t run) {
  for (int64_t r = 0; r < rows; ++r, from += from_step, to += to_step) {
    std::memcpy(to, from, kRun == 0 ? run : kRun);
  }
}

KernelPlan MakeReorder(const KernelSpec& spec) {
  const bool to_blocked = spec.attrs.s("to") == kBlockedFormat;
  const TensorSpec& plain = to_blocked ? spec.inputs[0] : spec.outputs[0];
  const TensorSpec& blocked = to_blocked ? spec.outputs[0] : spec.inputs[0];
  if (plain.dtype == DType::kString || plain.dtype != blocked.dtype || blocked.shape.rank() != 5 ||
      plain.shape != PlainShape(blocked.shape))
    return nullptr;
  const ChannelPlanes planes = PlanesOf(blocked.shape, true);
  const size_t size = DTypeSize(plain.dtype);
  const size_t run = static_cast<size_t>(planes.width) * size;
  const size_t pixel = run * static_cast<size_t>(planes.blocks);
  // The common sizes: 16 or 8 channels of 4, 2 or 1 bytes, and one channel.
  // A copy of a known size is one or two vector instructions, and a call otherwise.
  const auto copy = run == 64   ? CopyRows<64>
                    : run == 32 ? CopyRows<32>
                    : run == 16 ? CopyRows<16>
                    : run == 4  ? CopyRows<4>
                                : CopyRows<0>;
  const fused::Chunks images =
      fused::MakeChunks(planes.images, planes.blocks * planes.plane_size());
  return MakeKernel([=](const KernelArgs& args) {
    fused::ParallelFor(images, [&](int, int64_t begin, int64_t end) {
      for (int64_t plane = begin * planes.blocks; plane < end * planes.blocks; ++plane) {
        const size_t rows = static_cast<size_t>(planes.rows);
        const size_t in_blocked = static_cast<size_t>(plane) * rows * run;
        const size_t in_plain = static_cast<size_t>(plane / planes.blocks) * rows * pixel +
                                static_cast<size_t>(plane % planes.blocks) * run;
        if (to_blocked) {
          copy(args.in<char>(0) + in_plain, pixel, args.out<char>(0) + in_blocked, run, planes.rows,
               run);
        } else {
          copy(args.in<char>(0) + in_blocked, run, args.out<char>(0) + in_plain, pixel, planes.rows,
               run);
        }
      }
    });
  });
}

EST_REGISTER_EXACT_KERNEL(kReorderOp, MakeReorder);

}  // namespace
}  // namespace estimator
