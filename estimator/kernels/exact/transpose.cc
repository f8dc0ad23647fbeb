// Transpose on all threads: plane by plane, each in squares that fit into the L1 cache.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "estimator/kernels/exact/copy_elements.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

struct TransposedAxis {
  int64_t size = 1;
  int64_t in_stride = 0;
  int64_t out_stride = 0;
};

// The axes of the output, without those of size 1. Axes that are adjacent in the input, too, are
// merged.
std::vector<TransposedAxis> MergedAxes(const Shape& in, const std::vector<int64_t>& permutation) {
  const std::vector<int64_t> in_strides = in.strides();
  std::vector<TransposedAxis> axes;
  for (const int64_t p : permutation) {
    const int64_t size = in[static_cast<int>(p)], stride = in_strides[static_cast<size_t>(p)];
    // An axis of size 1 has no order, and would keep its neighbours from being merged.
    if (size == 1) continue;
    if (!axes.empty() && axes.back().in_stride == stride * size) {
      axes.back().size *= size;
      axes.back().in_stride = stride;
    } else {
      axes.push_back({size, stride, 0});
    }
  }
  // A single element still has to be copied.
  if (axes.empty()) axes.push_back({1, 1, 1});
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    axes[i].out_stride = stride;
    stride *= axes[i].size;
  }
  return axes;
}

// Transposes a plane: out[r * out_row + c] = in[r + c * in_column]. It works in squares that fit
// into the L1 cache.
template <typename T>
void TransposePlane(const T* in, T* out, int64_t rows, int64_t columns, int64_t out_row,
                    int64_t in_column) {
  constexpr int64_t kSquare = std::max<int64_t>(1, 64 / sizeof(T));  // one cache line
  for (int64_t r0 = 0; r0 < rows; r0 += kSquare) {
    const int64_t r1 = std::min(rows, r0 + kSquare);
    for (int64_t c0 = 0; c0 < columns; c0 += kSquare) {
      const int64_t c1 = std::min(columns, c0 + kSquare);
      for (int64_t r = r0; r < r1; ++r) {
        for (int64_t c = c0; c < c1; ++c) out[r * out_row + c] = in[r + c * in_column];
      }
    }
  }
}

KernelPlan MakeTranspose(const KernelSpec& spec) {
  const TensorSpec& in = spec.inputs[0];
  std::optional<std::vector<int64_t>> permutation = ConstantInts(spec, 1);
  if (!permutation.has_value() || permutation->size() != in.shape.dims().size()) return nullptr;
  for (int64_t& axis : *permutation) {
    axis = WrapAxis(axis, in.shape.rank());
    if (axis < 0 || axis >= in.shape.rank()) return nullptr;
  }
  if (in.shape.num_elements() == 0) return MakeKernel([](const KernelArgs&) {});
  std::vector<TransposedAxis> axes = MergedAxes(in.shape, *permutation);
  // The plane consists of the last axis of the output and the axis along which the input is
  // contiguous. The kernel loops over the other axes.
  const TransposedAxis last = axes.back();
  axes.pop_back();
  TransposedAxis rows{1, 1, 0};
  if (last.in_stride != 1) {
    // Some axis is contiguous, because the merged axes are those of a dense tensor.
    const auto contiguous = std::find_if(axes.begin(), axes.end(),
                                         [](const TransposedAxis& a) { return a.in_stride == 1; });
    if (contiguous == axes.end()) return nullptr;
    rows = *contiguous;
    axes.erase(contiguous);
  }
  // Splits the planes among the threads. If there are fewer planes than threads, splits the rows of
  // each.
  int64_t planes = 1;
  for (const TransposedAxis& axis : axes) planes *= axis.size;
  const bool split_rows = planes < omp_get_max_threads() && rows.size > 1;
  const fused::Chunks chunks = split_rows ? fused::MakeChunks(rows.size, planes * last.size)
                                          : fused::MakeChunks(planes, rows.size * last.size);
  return VisitElement(in.dtype, [&](auto tag) {
    using T = decltype(tag);
    return MakeKernel([axes, last, rows, planes, split_rows, chunks](const KernelArgs& args) {
      const T* const from = args.in<T>(0);
      T* const to = args.out<T>(0);
      fused::ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
        const int64_t first_row = split_rows ? begin : 0,
                      num_rows = split_rows ? end - begin : rows.size;
        for (int64_t plane = split_rows ? 0 : begin; plane < (split_rows ? planes : end); ++plane) {
          int64_t rest = plane, in_offset = first_row * rows.in_stride,
                  out_offset = first_row * rows.out_stride;
          for (size_t i = axes.size(); i-- > 0;) {
            in_offset += rest % axes[i].size * axes[i].in_stride;
            out_offset += rest % axes[i].size * axes[i].out_stride;
            rest /= axes[i].size;
          }
          // The last axis stays in its place, so whole rows are copied.
          if (last.in_stride == 1) {
            CopyElements(from + in_offset, last.size, to + out_offset);
          } else {
            TransposePlane(from + in_offset, to + out_offset, num_rows, last.size, rows.out_stride,
                           last.in_stride);
          }
        }
      });
    });
  });
}

EST_REGISTER_EXACT_KERNEL("Transpose", MakeTranspose);

}  // namespace
}  // namespace estimator
