// GatherV2 on all threads.
#include <algorithm>
#include <cstdint>

#include "estimator/kernels/exact/copy_elements.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/indices.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

KernelPlan MakeGather(const KernelSpec& spec) {
  const auto axes = ConstantInts(spec, 2);
  if (!axes.has_value()) return nullptr;
  const Shape &params = spec.inputs[0].shape, &indices = spec.inputs[1].shape;
  const auto axis = static_cast<int>(WrapAxis((*axes)[0], params.rank()));
  const int64_t given = spec.attrs.has("batch_dims") ? spec.attrs.i("batch_dims") : 0;
  const auto batch = static_cast<int>(WrapAxis(given, indices.rank()));
  int64_t batches = 1, outer = 1, inner = 1, n = 1;
  // params is [batches, outer, limit, inner], and indices is [batches, n].
  for (int i = 0; i < axis; ++i) (i < batch ? batches : outer) *= params.dim(i);
  for (int i = axis + 1; i < params.rank(); ++i) inner *= params.dim(i);
  for (int i = batch; i < indices.rank(); ++i) n *= indices.dim(i);
  const int64_t limit = params.dim(axis);
  // Each slice is an item, so that threads share the work even if there is one batch or one index.
  const fused::Chunks chunks = fused::MakeChunks(batches * outer * n, inner);
  const DType index_dtype = spec.inputs[1].dtype;
  if (!IsIndex(index_dtype)) return nullptr;
  return VisitElement(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel([=](const KernelArgs& args) {
      const Indices all(index_dtype, args.inputs[1]);
      // All indices are checked before anything is written, so that the error names the first one.
      for (int64_t i = 0; i < batches * n; ++i) {
        if (all[i] < 0 || all[i] >= limit)
          return IndexOutOfRange("indices", i, batches * n, all[i], limit, args.step);
      }
      if (chunks.items == 0) return absl::OkStatus();  // n may be 0
      fused::ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
        // Counted, because a division costs more than to copy a short slice.
        int64_t o = begin / n, k = begin % n;  // index k of slice o of params
        int64_t of_batch = o / outer * n;
        for (int64_t i = begin; i < end; ++i) {
          std::copy_n(args.in<T>(0) + (o * limit + all[of_batch + k]) * inner, inner,
                      args.out<T>(0) + i * inner);
          if (++k < n) continue;
          k = 0;
          of_batch = ++o / outer * n;
        }
      });
      return absl::OkStatus();
    });
  });
}

EST_REGISTER_EXACT_KERNEL("GatherV2", MakeGather);

}  // namespace
}  // namespace estimator
