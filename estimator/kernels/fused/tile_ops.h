// Element-wise operations on a run of floats in the L1 cache, vectorised for the CPU at run time
// (AVX2 or AVX-512).
//
// Truth values are masks: floats whose 32 bits are all ones (true) or all zeros (false).
// Accuracy, in units in the last place of the exact result:
//   0.5   + - * /, Sqrt, Reciprocal, comparisons, and ops made of one of these, as LeakyRelu is
//   1.5   SquaredDifference, Softsign
//   1     Rsqrt, Pow, EluGrad
//   2     Exp; results below 2^-126 may be flushed to zero
//   2     Elu, Selu, SeluGrad
//   3     SoftplusGrad
//   4     Log, Sigmoid, SoftsignGrad
//   5     Tanh
//   6     Erf
//   8     Softplus, at x = -13.95, from where on TensorFlow and we take exp(x); 4 elsewhere
//   2     TanhGrad and SigmoidGrad, of their largest term
//   2     Gelu and GeluApproximate, of x; GeluGrad and GeluApproximateGrad, of dy
#ifndef ESTIMATOR_KERNELS_FUSED_TILE_OPS_H_
#define ESTIMATOR_KERNELS_FUSED_TILE_OPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "estimator/array/half.h"

namespace estimator::fused {

// kAddV2, kSub, ...: the ops of op_def/elementwise_table.h that are computed on tiles.
enum class TileOp : uint8_t {
#define EST_OP_kCheap(name) k##name,
#define EST_OP_kTile(name) k##name,
#define EST_OP_kNone(name)
#define EST_UNARY(name, x, takes, tiles, ...) EST_OP_##tiles(name)
#define EST_BINARY(name, x, y, takes, tiles, ...) EST_OP_##tiles(name)
#define EST_COMPARISON(name, x, y, tiles, ...) EST_OP_##tiles(name)
#define EST_FUSED_UNARY EST_UNARY
#define EST_FUSED_BINARY EST_BINARY
#include "estimator/op_def/elementwise_table.h"
#undef EST_OP_kCheap
#undef EST_OP_kTile
#undef EST_OP_kNone
  kSelectV2,  // (mask, a, b)
};

struct TileOpInfo {
  TileOp op = TileOp::kAddV2;
  int num_operands = 0;
  bool first_is_mask = false;
  bool result_is_mask = false;
  // The result is an operand or its negative, or a constant of few bits. So if the operands are
  // bfloat16 numbers, the result is one, too.
  bool is_exact = false;
  bool has_alpha = false;  // the op has TensorFlow's attribute "alpha"
  // Computing the op takes less time than reading its operands from memory: it is not a function
  // such as Exp, not a division, and no operand or result is a mask.
  bool is_cheap = false;
};

// Finds an op by its name. Returns nullopt if it is not computed on tiles.
std::optional<TileOpInfo> FindTileOp(absl::string_view name);

// out[i] = op(a[i], b[i], c[i]) for i < n. Unused operands may be null. `out` may be an operand.
// Pointers need no alignment. Nothing beyond element n is read or written.
//   alpha: the attribute of ops that have one.
void RunTile(TileOp op, const float* a, const float* b, const float* c, float* out, size_t n,
             float alpha = 0);

bool IsCheapTileOp(TileOp op);
// The same as RunTile on bf16 operands, without a tile of floats for each: computed in f32, and
// rounded once.  b: null if the op has one operand.
// REQUIRES: IsCheapTileOp(op).
void RunBfloat16Tile(TileOp op, const Bfloat16* a, const Bfloat16* b, Bfloat16* out, size_t n,
                     float alpha = 0);

// out[i] = exp(x[i] - shift). `out` may be x.
void ExpShifted(const float* x, float shift, float* out, size_t n);

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_TILE_OPS_H_
