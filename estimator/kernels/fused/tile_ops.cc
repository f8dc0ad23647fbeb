#include "estimator/kernels/fused/tile_ops.h"

// Highway's foreach_target.h compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/fused/tile_ops.cc"
#define HWY_DISABLE_PCLMUL_AES  // x86-64-v3 lacks it and we do not use it; so AVX2 is the baseline
// The order matters: each header includes this file, or needs what the header before it defined.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
#include "estimator/kernels/fused/bfloat16_vectors-inl.h"
#include "estimator/kernels/fused/tile_functions-inl.h"
#include "estimator/kernels/fused/tile_number-inl.h"
#include "estimator/op_def/elementwise_flags.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace estimator::fused {
namespace HWY_NAMESPACE {

// Applies fn(va, vb, vc) to whole vectors. The remaining elements are padded to one vector.
//   T: float or Bfloat16, the dtype of operands and result.
template <int kOperands, typename T, typename Fn>
HWY_INLINE void Map(const T* a, const T* b, const T* c, T* out, size_t n, Fn fn) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const auto apply = [&](const T* pa, const T* pb, const T* pc, T* po) HWY_ATTR {
    const V va = LoadFloats(d, pa);
    const V vb = kOperands > 1 ? LoadFloats(d, pb) : va;
    const V vc = kOperands > 2 ? LoadFloats(d, pc) : va;
    StoreFloats(fn(va, vb, vc), d, po);
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) apply(a + i, b + i, c + i, out + i);
  if (i == n) return;
  // The rest is computed by the same vector functions, so that an element's bits do not depend on
  // its place.
  HWY_ALIGN T ta[hn::MaxLanes(d)] = {}, tb[hn::MaxLanes(d)] = {}, tc[hn::MaxLanes(d)] = {},
              to[hn::MaxLanes(d)];
  for (size_t j = i; j < n; ++j) {
    ta[j - i] = a[j];
    if constexpr (kOperands > 1) tb[j - i] = b[j];
    if constexpr (kOperands > 2) tc[j - i] = c[j];
  }
  apply(ta, tb, tc, to);
  for (size_t j = i; j < n; ++j) out[j] = to[j - i];
}

HWY_INLINE V ToVector(TileNumber x) { return x.v; }
HWY_INLINE V ToVector(TileMask mask) { return hn::VecFromMask(D(), mask.m); }

// A case for each row of the table. EST_OP_kCheap and EST_OP_kTile, which take a number of
// operands, their names and the formula, say which rows have one.
#define EST_OP_kNone(...)
#define EST_TABLE_CASE(name, operands, x, y, ...)                            \
  case TileOp::k##name:                                                      \
    Map<operands>(a, b, c, out, n, [alphas](V first, V second, V) HWY_ATTR { \
      [[maybe_unused]] const TileNumber x(first), y(second), alpha(alphas);  \
      return ToVector(__VA_ARGS__);                                          \
    });                                                                      \
    break;

void RunTile(TileOp op, const float* a, const float* b, const float* c, float* out, size_t n,
             float alpha) {
  const V alphas = hn::Set(D(), alpha);
  switch (op) {
#define EST_OP_kCheap EST_TABLE_CASE
#define EST_OP_kTile EST_TABLE_CASE
#define EST_UNARY(name, x, takes, tiles, flags, ...) EST_OP_##tiles(name, 1, x, none, __VA_ARGS__)
#define EST_BINARY(name, x, y, takes, tiles, flags, ...) EST_OP_##tiles(name, 2, x, y, __VA_ARGS__)
#define EST_COMPARISON(name, x, y, tiles, ...) EST_OP_##tiles(name, 2, x, y, __VA_ARGS__)
#define EST_FUSED_UNARY EST_UNARY
#define EST_FUSED_BINARY EST_BINARY
#include "estimator/op_def/elementwise_table.h"
#undef EST_OP_kCheap
#undef EST_OP_kTile
    case TileOp::kSelectV2:
      Map<3>(a, b, c, out, n,
             [](V mask, V x, V y) HWY_ATTR { return hn::IfThenElse(hn::MaskFromVec(mask), x, y); });
      break;
  }
}

void RunBfloat16(TileOp op, const Bfloat16* a, const Bfloat16* b, Bfloat16* out, size_t n,
                 float alpha) {
  const Bfloat16* const c = a;  // none of these ops has three operands
  const V alphas = hn::Set(D(), alpha);
  switch (op) {
#define EST_OP_kCheap EST_TABLE_CASE
#define EST_OP_kTile(...)
#define EST_UNARY(name, x, takes, tiles, flags, ...) EST_OP_##tiles(name, 1, x, none, __VA_ARGS__)
#define EST_BINARY(name, x, y, takes, tiles, flags, ...) EST_OP_##tiles(name, 2, x, y, __VA_ARGS__)
#include "estimator/op_def/elementwise_table.h"
#undef EST_OP_kCheap
#undef EST_OP_kTile
    default:
      break;
  }
}
#undef EST_TABLE_CASE
#undef EST_OP_kNone

void ExpShifted(const float* x, float shift, float* out, size_t n) {
  const V shifts = hn::Set(D(), shift);
  Map<1>(x, x, x, out, n, [shifts](V v, V, V) HWY_ATTR { return Exp(hn::Sub(v, shifts)); });
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::fused {
namespace {

struct Entry {
  absl::string_view name;
  TileOpInfo info;
};

constexpr Entry kEntries[] = {
#define EST_OP_kNone(...)
#define EST_OP_kCheap(name, operands, flags) \
  {#name,                                    \
   {.op = TileOp::k##name,                   \
    .num_operands = operands,                \
    .is_exact = ((flags)&kExact) != 0,       \
    .has_alpha = ((flags)&kHasAlpha) != 0,   \
    .is_cheap = true}},
#define EST_OP_kTile(name, operands, flags) {#name, {TileOp::k##name, operands}},
#define EST_OP_MASK_kNone(...)
#define EST_OP_MASK_kTile(name) \
  {#name, {.op = TileOp::k##name, .num_operands = 2, .result_is_mask = true}},
#define EST_UNARY(name, x, takes, tiles, flags, ...) EST_OP_##tiles(name, 1, flags)
#define EST_BINARY(name, x, y, takes, tiles, flags, ...) EST_OP_##tiles(name, 2, flags)
#define EST_COMPARISON(name, x, y, tiles, ...) EST_OP_MASK_##tiles(name)
#define EST_FUSED_UNARY EST_UNARY
#define EST_FUSED_BINARY EST_BINARY
#include "estimator/op_def/elementwise_table.h"
#undef EST_OP_kNone
#undef EST_OP_kCheap
#undef EST_OP_kTile
#undef EST_OP_MASK_kNone
#undef EST_OP_MASK_kTile
    {"SelectV2",
     {.op = TileOp::kSelectV2, .num_operands = 3, .first_is_mask = true, .is_exact = true}},
};

HWY_EXPORT(RunTile);
HWY_EXPORT(RunBfloat16);
HWY_EXPORT(ExpShifted);

}  // namespace

std::optional<TileOpInfo> FindTileOp(absl::string_view name) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.info;
  }
  return std::nullopt;
}

void RunTile(TileOp op, const float* a, const float* b, const float* c, float* out, size_t n,
             float alpha) {
  HWY_DYNAMIC_DISPATCH(RunTile)(op, a, b, c, out, n, alpha);
}

bool IsCheapTileOp(TileOp op) {
  for (const Entry& entry : kEntries) {
    if (entry.info.op == op) return entry.info.is_cheap;
  }
  return false;
}

void RunBfloat16Tile(TileOp op, const Bfloat16* a, const Bfloat16* b, Bfloat16* out, size_t n,
                     float alpha) {
  HWY_DYNAMIC_DISPATCH(RunBfloat16)(op, a, b, out, n, alpha);
}

void ExpShifted(const float* x, float shift, float* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(ExpShifted)(x, shift, out, n);
}

}  // namespace estimator::fused
#endif  // HWY_ONCE
