// ReverseSequence on all threads.
#include <algorithm>
#include <cstdint>

#include "estimator/base/status.h"
#include "estimator/kernels/exact/copy_elements.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/indices.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

template <typename T>
KernelPlan ReverseSequenceKernel(const KernelSpec& spec) {
  const Shape& shape = spec.inputs[0].shape;
  const AxisExtents time = ExtentsAt(shape, WrapAxis(spec.attrs.i("seq_dim"), shape.rank()));
  const AxisExtents batch = ExtentsAt(shape, WrapAxis(spec.attrs.i("batch_dim"), shape.rank()));
  // Elements of one step of one sequence that are side by side.
  const int64_t run = std::max<int64_t>(1, std::min(time.inner, batch.inner));
  const fused::Chunks chunks = fused::MakeChunks(shape.num_elements() / run, run);
  return MakeKernel([=, length_dtype = spec.inputs[1].dtype](const KernelArgs& args) {
    const Indices lengths(length_dtype, args.inputs[1]);
    for (int64_t i = 0; i < batch.size; ++i) {
      if (lengths[i] < 0 || lengths[i] > time.size)
        return InvalidArgument("seq_lengths[", i, "] is ", lengths[i], ", and the sequences have ",
                               time.size, " steps");
    }
    fused::ForEachItem(chunks, [&](int, int64_t item) {
      const int64_t to = item * run, step = to / time.inner % time.size,
                    length = lengths[to / batch.inner % batch.size];
      const int64_t from = step < length ? to + (length - 1 - 2 * step) * time.inner : to;
      CopyElements(args.in<T>(0) + from, run, args.out<T>(0) + to);
    });
    return absl::OkStatus();
  });
}

EST_REGISTER_EXACT_KERNEL("ReverseSequence", [](const KernelSpec& spec) {
  return VisitElement(spec.inputs[0].dtype,
                      [&](auto tag) { return ReverseSequenceKernel<decltype(tag)>(spec); });
});

}  // namespace
}  // namespace estimator
