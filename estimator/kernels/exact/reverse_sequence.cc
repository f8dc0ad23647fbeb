// ReverseSequence on all threads.
#include <cstdint>

#include "estimator/base/status.h"
#include "estimator/kernels/exact/copy_elements.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

// Shape [outer, a, middle, b, inner], where a and b are the axes of the batch and of the sequence.
template <typename T, typename Length>
KernelPlan ReverseSequenceKernel(const KernelSpec& spec) {
  const Shape& shape = spec.inputs[0].shape;
  const int rank = shape.rank();
  const int64_t time = WrapAxis(spec.attrs.i("seq_dim"), rank);
  const int64_t batch = WrapAxis(spec.attrs.i("batch_dim"), rank);
  const bool time_major = time < batch;
  const AxisExtents first = ExtentsAt(shape, std::min(time, batch));
  const AxisExtents second = ExtentsAt(shape, std::max(time, batch));
  const int64_t middle = first.inner / std::max<int64_t>(1, second.size * second.inner);
  const int64_t steps = time_major ? first.size : second.size;
  const int64_t num_lengths = time_major ? second.size : first.size;
  const fused::Chunks chunks =
      fused::MakeChunks(first.outer * first.size * middle, second.size * second.inner);
  return MakeKernel([=](const KernelArgs& args) -> absl::Status {
    const Length* const lengths = args.in<Length>(1);
    for (int64_t i = 0; i < num_lengths; ++i) {
      if (lengths[i] < 0 || lengths[i] > steps)
        return InvalidArgument("seq_lengths[", i, "] is ", static_cast<int64_t>(lengths[i]),
                               ", and the sequences have ", steps, " steps");
    }
    const auto reversed = [&](int64_t t, int64_t row) {
      return t < lengths[row] ? lengths[row] - 1 - t : t;
    };
    fused::ForEachItem(chunks, [&](int, int64_t item) {
      const int64_t m = item % middle, a = item / middle % first.size,
                    outer = item / middle / first.size;
      for (int64_t b = 0; b < second.size; ++b) {
        const int64_t from_a = time_major ? reversed(a, b) : a;
        const int64_t from_b = time_major ? b : reversed(b, a);
        const auto place = [&](int64_t i, int64_t k) {
          return (((outer * first.size + i) * middle + m) * second.size + k) * second.inner;
        };
        CopyElements(args.in<T>(0) + place(from_a, from_b), second.inner,
                     args.out<T>(0) + place(a, b));
      }
    });
    return absl::OkStatus();
  });
}

EST_REGISTER_EXACT_KERNEL("ReverseSequence", [](const KernelSpec& spec) {
  return VisitElement(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return spec.inputs[1].dtype == DType::kInt64 ? ReverseSequenceKernel<T, int64_t>(spec)
                                                 : ReverseSequenceKernel<T, int32_t>(spec);
  });
});

}  // namespace
}  // namespace estimator
