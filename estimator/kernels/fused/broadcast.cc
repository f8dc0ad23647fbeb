#include "estimator/kernels/fused/broadcast.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/tile_ops.h"

namespace estimator::fused {
namespace {

// The number of floats that are computed at once: 4 KiB for each operand.
constexpr int64_t kTile = 1024;

using Offsets = std::array<int64_t, 2>;  // of the two operands, in elements

struct Axis {
  int64_t size = 1;
  Offsets strides{};  // 0 repeats an element
};

// The axes of the result, with those merged that both operands cross with one stride. The last one
// is a row, along which a stride is 0 or 1.
std::vector<Axis> MergedAxes(const Shape& shape, const Shape& x, const Shape& y) {
  const std::array<const Shape*, 2> inputs = {&x, &y};
  std::vector<Axis> axes;
  Offsets step = {1, 1};
  for (int i = 1; i <= shape.rank(); ++i) {
    Axis axis{.size = shape.dim(-i), .strides = {}};
    for (size_t k = 0; k < 2; ++k) {
      const int64_t size = i <= inputs[k]->rank() ? inputs[k]->dim(-i) : 1;
      if (size != 1) axis.strides[k] = step[k];
      step[k] *= size;
    }
    if (axis.size == 1) continue;
    const auto continues = [&](size_t k) {
      return axis.strides[k] == axes.back().strides[k] * axes.back().size;
    };
    if (!axes.empty() && continues(0) && continues(1)) {
      axes.back().size *= axis.size;
    } else {
      axes.push_back(axis);
    }
  }
  if (axes.empty()) axes.push_back({});
  std::reverse(axes.begin(), axes.end());
  return axes;
}

class Rows {
 public:
  explicit Rows(const std::vector<Axis>& axes)
      : outer_(axes.begin(), axes.end() - 1), row_(axes.back()) {
    int64_t rows = 1;
    for (const Axis& axis : outer_) rows *= axis.size;
    chunks_ = MakeChunks(rows, row_.size);
  }

  const Axis& row() const { return row_; }

  // Calls fn(offsets of the operands, offset in the result) for every row, on all threads.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    ParallelFor(chunks_, [&](int, int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) fn(OffsetsOf(row), row * row_.size);
    });
  }

 private:
  Offsets OffsetsOf(int64_t row) const {
    Offsets at{};
    for (auto axis = outer_.rbegin(); axis != outer_.rend(); ++axis) {
      const int64_t index = row % axis->size;
      row /= axis->size;
      for (size_t k = 0; k < 2; ++k) at[k] += index * axis->strides[k];
    }
    return at;
  }

  const std::vector<Axis> outer_;
  const Axis row_;
  Chunks chunks_;
};

void RunRow(TileOp op, const Axis& row, const float* x, const float* y, float* out) {
  float repeated[2][kTile];
  const std::array<const float*, 2> operands = {x, y};
  for (size_t k = 0; k < 2; ++k) {
    if (row.strides[k] == 0) std::fill_n(repeated[k], std::min(kTile, row.size), *operands[k]);
  }
  for (int64_t i = 0; i < row.size; i += kTile) {
    const auto tile = [&](size_t k) { return row.strides[k] == 0 ? repeated[k] : operands[k] + i; };
    const int64_t n = std::min(kTile, row.size - i);
    RunTile(op, tile(0), tile(1), nullptr, out + i, static_cast<size_t>(n));
  }
}

bool HasElementsOfF32(const TensorSpec& spec) {
  return spec.dtype == DType::kFloat32 && spec.shape.num_elements() > 0;
}

std::unique_ptr<Kernel> MakeBroadcastTo(const KernelSpec& spec) {
  const TensorSpec &x = spec.inputs[0], &y = spec.outputs[0];
  if (!HasElementsOfF32(x) || !HasElementsOfF32(y)) return nullptr;
  const Rows rows(MergedAxes(y.shape, x.shape, x.shape));
  return MakeFusedKernel([rows](const KernelArgs& args) {
    rows.ForEach([&](const Offsets& at, int64_t i) {
      const float* const from = args.in<float>(0) + at[0];
      float* const to = args.out<float>(0) + i;
      if (rows.row().strides[0] == 0) {
        std::fill_n(to, rows.row().size, *from);
      } else {
        std::copy_n(from, rows.row().size, to);
      }
    });
    return absl::OkStatus();
  });
}

EST_REGISTER_KERNEL("BroadcastTo", KernelTier::kFused, MakeBroadcastTo);

}  // namespace

std::unique_ptr<Kernel> MakeBroadcastKernel(const KernelSpec& spec) {
  const std::optional<TileOpInfo> info = FindTileOp(spec.op);
  if (!info.has_value() || info->num_operands != 2 || info->result_is_mask ||
      spec.inputs.size() != 2 || spec.outputs.size() != 1) {
    return nullptr;
  }
  const TensorSpec &x = spec.inputs[0], &y = spec.inputs[1], &out = spec.outputs[0];
  if (!HasElementsOfF32(x) || !HasElementsOfF32(y) || !HasElementsOfF32(out)) return nullptr;
  const int alias = x.shape == out.shape ? 0 : y.shape == out.shape ? 1 : -1;
  const Rows rows(MergedAxes(out.shape, x.shape, y.shape));
  return MakeFusedKernel(
      [rows, op = info->op](const KernelArgs& args) {
        rows.ForEach([&](const Offsets& at, int64_t i) {
          RunRow(op, rows.row(), args.in<float>(0) + at[0], args.in<float>(1) + at[1],
                 args.out<float>(0) + i);
        });
        return absl::OkStatus();
      },
      {.alias_input = alias});
}

}  // namespace estimator::fused
