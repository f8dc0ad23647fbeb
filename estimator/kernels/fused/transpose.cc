// Transpose of elements of 4 and 2 bytes on all threads.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {
namespace {

struct Axis {
  int64_t size = 1;
  int64_t in_stride = 0;
  int64_t out_stride = 0;
};

// The axes of the output, without those of size 1. Axes that are adjacent in the input, too, are
// merged.
std::vector<Axis> MergedAxes(const Shape& in, const std::vector<int64_t>& permutation) {
  const std::vector<int64_t> in_strides = in.strides();
  std::vector<Axis> axes;
  for (const int64_t p : permutation) {
    const int64_t size = in[static_cast<int>(p)], stride = in_strides[static_cast<size_t>(p)];
    if (size == 1) continue;
    if (!axes.empty() && axes.back().in_stride == stride * size) {
      axes.back().size *= size;
      axes.back().in_stride = stride;
    } else {
      axes.push_back({size, stride, 0});
    }
  }
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
  constexpr int64_t kSquare = 64 / sizeof(T);  // one cache line
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

//   T: an unsigned integer of the size of an element.
template <typename T>
std::unique_ptr<Kernel> MakeTypedTranspose(const KernelSpec& spec) {
  const TensorSpec& in = spec.inputs[0];
  if (in.shape.num_elements() == 0 || in.shape.rank() == 0) return nullptr;
  if (spec.constants.size() < 2 || !spec.constants[1].has_value()) return nullptr;
  const Array& given = *spec.constants[1];
  if (given.num_elements() != in.shape.rank()) return nullptr;
  std::vector<int64_t> permutation;
  for (int64_t i = 0; i < given.num_elements(); ++i) {
    int64_t axis = static_cast<int64_t>(given.AsDouble(i));
    if (axis < 0) axis += in.shape.rank();
    if (axis < 0 || axis >= in.shape.rank()) return nullptr;
    permutation.push_back(axis);
  }
  std::vector<Axis> axes = MergedAxes(in.shape, permutation);
  // The plane consists of the last axis of the output and the axis along which the input is
  // contiguous. The kernel loops over the other axes.
  const Axis last = axes.back();
  axes.pop_back();
  Axis rows{1, 1, 0};
  if (last.in_stride != 1) {
    const auto contiguous =
        std::find_if(axes.begin(), axes.end(), [](const Axis& a) { return a.in_stride == 1; });
    if (contiguous == axes.end()) return nullptr;
    rows = *contiguous;
    axes.erase(contiguous);
  }
  // Splits the planes among the threads. If there are fewer planes than threads, splits the rows of
  // each.
  int64_t planes = 1;
  for (const Axis& axis : axes) planes *= axis.size;
  const bool split_rows = planes < omp_get_max_threads() && rows.size > 1;
  const Chunks chunks = split_rows ? MakeChunks(rows.size, planes * last.size)
                                   : MakeChunks(planes, rows.size * last.size);
  return MakeFusedKernel([axes, last, rows, planes, split_rows, chunks](const KernelArgs& args) {
    const T* const from = args.in<T>(0);
    T* const to = args.out<T>(0);
    ParallelFor(chunks, [&](int, int64_t begin, int64_t end) {
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
        if (last.in_stride == 1) {
          std::memcpy(to + out_offset, from + in_offset,
                      static_cast<size_t>(last.size) * sizeof(T));
        } else {
          TransposePlane(from + in_offset, to + out_offset, num_rows, last.size, rows.out_stride,
                         last.in_stride);
        }
      }
    });
    return absl::OkStatus();
  });
}

std::unique_ptr<Kernel> MakeTranspose(const KernelSpec& spec) {
  switch (DTypeSize(spec.inputs[0].dtype)) {
    case 4:
      return MakeTypedTranspose<uint32_t>(spec);
    case 2:
      return MakeTypedTranspose<uint16_t>(spec);
    default:
      return nullptr;
  }
}

EST_REGISTER_KERNEL("Transpose", KernelTier::kFused, MakeTranspose);

}  // namespace
}  // namespace estimator::fused
