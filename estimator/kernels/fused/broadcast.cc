#include "estimator/kernels/fused/broadcast.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/tile_ops.h"
#include "estimator/kernels/strided_rows.h"

namespace estimator::fused {
namespace {

// The number of floats that are computed at once: 4 KiB for each operand.
constexpr int64_t kBroadcastTile = 1024;

using Rows = StridedRows<2>;

// Computes `size` elements of a row along which the operands have these strides, 0 or 1.
void RunRow(TileOp op, const Rows::Offsets& strides, int64_t size, const float* x, const float* y,
            float* out) {
  float repeated[2][kBroadcastTile];
  const std::array<const float*, 2> operands = {x, y};
  for (size_t k = 0; k < 2; ++k) {
    // RunTile reads an element for each result, so an operand that is repeated is written out once,
    // for all tiles of the row.
    if (strides[k] == 0) std::fill_n(repeated[k], std::min(kBroadcastTile, size), *operands[k]);
  }
  for (int64_t i = 0; i < size; i += kBroadcastTile) {
    const auto tile = [&](size_t k) { return strides[k] == 0 ? repeated[k] : operands[k] + i; };
    const int64_t n = std::min(kBroadcastTile, size - i);
    RunTile(op, tile(0), tile(1), nullptr, out + i, static_cast<size_t>(n));
  }
}

bool HasElementsOfF32(const TensorSpec& spec) {
  return spec.dtype == DType::kFloat32 && spec.shape.num_elements() > 0;
}

}  // namespace

KernelPlan MakeBroadcastKernel(const KernelSpec& spec) {
  const std::optional<TileOpInfo> info = FindTileOp(spec.op);
  if (!info.has_value() || info->num_operands != 2 || info->result_is_mask || info->has_alpha ||
      spec.inputs.size() != 2 || spec.outputs.size() != 1) {
    return nullptr;
  }
  const TensorSpec &x = spec.inputs[0], &y = spec.inputs[1], &out = spec.outputs[0];
  if (!HasElementsOfF32(x) || !HasElementsOfF32(y) || !HasElementsOfF32(out)) return nullptr;
  // An operand that is repeated must not be overwritten: later rows read it again.
  const int alias = x.shape == out.shape ? 0 : y.shape == out.shape ? 1 : -1;
  const Rows rows(out.shape,
                  {BroadcastStrides(x.shape, out.shape), BroadcastStrides(y.shape, out.shape)});
  if (!rows.ok()) return nullptr;
  return MakeKernel(
      [rows, op = info->op](const KernelArgs& args) {
        rows.ForEach([&](int64_t i, const auto& at, int64_t count) {
          RunRow(op, rows.strides(), count, args.in<float>(0) + at[0], args.in<float>(1) + at[1],
                 args.out<float>(0) + i);
        });
      },
      /*scratch_bytes=*/0, /*alias_input=*/alias);
}

}  // namespace estimator::fused
