#include "estimator/kernels/gemm/gemm.h"

#include <algorithm>
#include <array>
#include <utility>

#include "estimator/kernels/fused/parallel.h"
#include "hwy/cache_control.h"

// Highway compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/gemm/gemm.cc"
#include "estimator/kernels/every_target-inl.h"
#include "estimator/kernels/gemm/copies-inl.h"

#ifndef ESTIMATOR_KERNELS_GEMM_PART_
#define ESTIMATOR_KERNELS_GEMM_PART_
namespace estimator::gemm {

struct Operands {
  const float* a = nullptr;
  const float* b = nullptr;       // or null, and
  const float* panels = nullptr;  // its copy (CopyAllPanels)
  const float* bias = nullptr;
  float* c = nullptr;
};

// A rectangle of c: rows [row_begin, row_end) and panels [panel_begin, panel_end) of columns.
struct Part {
  int64_t row_begin = 0, row_end = 0;
  int64_t panel_begin = 0, panel_end = 0;
};

}  // namespace estimator::gemm
#endif  // ESTIMATOR_KERNELS_GEMM_PART_

HWY_BEFORE_NAMESPACE();
namespace estimator::gemm {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A tile of c and the blocks of a and b whose product is added to it.
struct Tile {
  int64_t depth = 0;
  const float* a = nullptr;
  const float* b = nullptr;     // [depth, kPanel]
  const float* bias = nullptr;  // [kPanel], or null
  float* c = nullptr;
  int64_t c_stride = 0;
  bool add = false;  // c has a value already
  bool relu = false;
};

// How the rows of a are stored: element (row, k) is at a[row * kRowStride + k] or at
// a[k * kMaxRows + row].
enum class Left { kRows, kColumns };

template <Left kLeft, int kRows>
HWY_NOINLINE void MultiplyTile(const Tile& tile) {
  const D d;
  V sum[kRows][2];
  EST_UNROLL for (int m = 0; m < kRows; ++m) {
    sum[m][0] = sum[m][1] = hn::Zero(d);
    // c arrives while the products are computed.
    hwy::Prefetch(tile.c + m * tile.c_stride);
    hwy::Prefetch(tile.c + m * tile.c_stride + kPanel - 1);
  }
  const float* HWY_RESTRICT a = tile.a;
  const float* HWY_RESTRICT b = tile.b;
  for (int64_t k = 0; k < tile.depth; ++k) {
    const V right0 = hn::LoadU(d, b), right1 = hn::LoadU(d, b + kLanes);
    EST_UNROLL for (int m = 0; m < kRows; ++m) {
      const V left = hn::Set(d, kLeft == Left::kRows ? a[m * kRowStride] : a[m]);
      sum[m][0] = hn::MulAdd(left, right0, sum[m][0]);
      sum[m][1] = hn::MulAdd(left, right1, sum[m][1]);
    }
    a += kLeft == Left::kRows ? 1 : kMaxRows;
    b += kPanel;
  }
  EST_UNROLL for (int m = 0; m < kRows; ++m) {
    EST_UNROLL for (int v = 0; v < 2; ++v) {
      float* const c = tile.c + m * tile.c_stride + v * kLanes;
      V y = sum[m][v];
      if (tile.add) y = hn::Add(y, hn::LoadU(d, c));
      if (tile.bias != nullptr) y = hn::Add(y, hn::LoadU(d, tile.bias + v * kLanes));
      // In this order a NaN passes: x86 returns the second operand if one is NaN.
      if (tile.relu) y = hn::Max(hn::Zero(d), y);
      hn::StoreU(y, d, c);
    }
  }
}

using TileFunction = void (*)(const Tile&);

// Functions for 1 to kMaxRows rows; element 0 has no meaning.
template <Left kLeft, size_t... kIndex>
constexpr std::array<TileFunction, sizeof...(kIndex) + 1> TilesOf(std::index_sequence<kIndex...>) {
  return {nullptr, &MultiplyTile<kLeft, static_cast<int>(kIndex) + 1>...};
}
template <Left kLeft>
constexpr std::array<TileFunction, kMaxRows + 1> kTiles =
    TilesOf<kLeft>(std::make_index_sequence<kMaxRows>());

// Applies the activation to rows [begin, end) of c, columns [column, column + count).
void Activate(const Product& p, int64_t begin, int64_t end, int64_t column, int64_t count,
              float* c) {
  for (int64_t row = begin; row < end; ++row) {
    float* const y = c + row * p.n + column;
    fused::RunTile(*p.activation, y, nullptr, nullptr, y, static_cast<size_t>(count), p.alpha);
  }
}

// The tile at the right edge of c, which is narrower than a panel.
void MultiplyEdge(TileFunction multiply, Tile tile, int64_t rows, int64_t columns) {
  // The tile's function reads and writes whole panels, which would reach into the next row of c and
  // beyond the end of the bias.
  HWY_ALIGN float sums[kMaxRows * kPanel];
  HWY_ALIGN float bias[kPanel] = {};
  float* const c = tile.c;
  if (tile.add) {
    std::fill_n(sums, rows * kPanel, 0.0f);
    for (int64_t m = 0; m < rows; ++m)
      std::copy_n(c + m * tile.c_stride, columns, sums + m * kPanel);
  }
  if (tile.bias != nullptr) {
    std::copy_n(tile.bias, columns, bias);
    tile.bias = bias;
  }
  const int64_t c_stride = tile.c_stride;
  tile.c = sums;
  tile.c_stride = kPanel;
  multiply(tile);
  for (int64_t m = 0; m < rows; ++m) std::copy_n(sums + m * kPanel, columns, c + m * c_stride);
}

// Computes one part. scratch: PartFloats().
void MultiplyPart(const Product& p, const Operands& operands, const Part& part, float* scratch) {
  const auto& tiles = p.transpose_a ? kTiles<Left::kColumns> : kTiles<Left::kRows>;
  float* const copies = scratch;
  float* const rows = scratch + kMaxPanels * kMaxDepth * kPanel;
  const int64_t num_panels = part.panel_end - part.panel_begin;
  const int64_t num_rows = part.row_end - part.row_begin;
  const int64_t panel_blocks = CeilDivide(num_panels, kMaxPanels);
  const int64_t depth_blocks = DepthBlocks(p);
  const int64_t row_blocks = CeilDivide(num_rows, kMaxRows);
  const bool relu = p.activation == fused::TileOp::kRelu;  // in registers
  for (int64_t block = 0; block < panel_blocks; ++block) {
    const int64_t panel_begin = part.panel_begin + Split(num_panels, block, panel_blocks);
    const int64_t panel_end = part.panel_begin + Split(num_panels, block + 1, panel_blocks);
    for (int64_t step = 0; step < depth_blocks; ++step) {
      const DepthBlock depth_block = DepthBlockAt(p, step);
      const auto [k, depth] = depth_block;
      const bool last = step == depth_blocks - 1;
      const float* panels = copies;
      if (operands.panels != nullptr) {
        panels = operands.panels + PanelOffset(p, depth_block, panel_begin);
      } else {
        CopyPanels(p, operands.b, panel_begin, panel_end, k, depth, copies);
      }
      for (int64_t r = 0; r < row_blocks; ++r) {
        // Rows are divided evenly, so a tile may have fewer than the most. A last tile of one or
        // two rows would hardly use the registers.
        const int64_t row = part.row_begin + Split(num_rows, r, row_blocks);
        const int64_t next = part.row_begin + Split(num_rows, r + 1, row_blocks);
        const int64_t count = next - row;
        const int64_t next_count =
            part.row_begin + Split(num_rows, std::min(r + 2, row_blocks), row_blocks) - next;
        CopyRows(p, operands.a, row, count, k, depth, rows);
        const TileFunction multiply = tiles[static_cast<size_t>(count)];
        for (int64_t panel = panel_begin; panel < panel_end; ++panel) {
          const int64_t column = panel * kPanel;
          const Tile tile{
              .depth = depth,
              .a = rows,
              .b = panels + (panel - panel_begin) * depth * kPanel,
              // Only the last block of the depth finishes the sums, so only it adds the bias and
              // applies relu.
              .bias = last && operands.bias != nullptr ? operands.bias + column : nullptr,
              .c = operands.c + row * p.n + column,
              .c_stride = p.n,
              .add = p.accumulate || step > 0,
              .relu = last && relu};
          // While this tile is multiplied, the rows of the next one arrive: each panel fetches its
          // share of them.
          if (next_count > 0) {
            FetchRows(p, operands.a, next, next_count, k, depth, panel - panel_begin,
                      panel_end - panel_begin);
          }
          if (column + kPanel <= p.n) {
            multiply(tile);
          } else {
            MultiplyEdge(multiply, tile, count, p.n - column);
          }
        }
        // These rows are still in the cache. A separate op would read all of c once more.
        if (last && p.activation.has_value() && !relu) {
          const int64_t column = panel_begin * kPanel;
          Activate(p, row, next, column, std::min(panel_end * kPanel, p.n) - column, operands.c);
        }
      }
    }
  }
}

int64_t PanelColumns() { return kPanel; }
int64_t TileRows() { return kMaxRows; }
// A few numbers more: the last copied row of a transposed a may be followed by others.
int64_t PartFloats() { return kMaxPanels * kMaxDepth * kPanel + kMaxRows * kRowStride + 16; }

}  // namespace HWY_NAMESPACE
}  // namespace estimator::gemm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::gemm {
namespace {

HWY_EXPORT(MultiplyPart);
HWY_EXPORT(DepthBlocks);
HWY_EXPORT(CopyPanelOfAll);
HWY_EXPORT(PanelColumns);
HWY_EXPORT(TileRows);
HWY_EXPORT(PartFloats);

// With fewer multiplications, a second thread costs more than it saves.
constexpr int64_t kProductsPerThread = 100000;

int64_t NumPanels(const Product& p) {
  return CeilDivide(p.n, HWY_DYNAMIC_DISPATCH(PanelColumns)());
}

void MultiplyParts(const Plan& plan, const Operands& operands, float* scratch, RowRange rows = {}) {
  const Product& p = plan.product;
  const int64_t num_rows = (rows.end == 0 ? p.m : rows.end) - rows.begin;
  const int64_t panels = NumPanels(p);
  const int64_t parts = plan.row_parts * plan.column_parts;
  fused::ParallelFor({parts, static_cast<int>(parts)}, [&](int part, int64_t, int64_t) {
    const int64_t row = part / plan.column_parts, column = part % plan.column_parts;
    HWY_DYNAMIC_DISPATCH(MultiplyPart)
    (p, operands,
     {.row_begin = rows.begin + Split(num_rows, row, plan.row_parts),
      .row_end = rows.begin + Split(num_rows, row + 1, plan.row_parts),
      .panel_begin = Split(panels, column, plan.column_parts),
      .panel_end = Split(panels, column + 1, plan.column_parts)},
     scratch + part * plan.part_floats);
  });
}

}  // namespace

bool HasWideVectors() { return HWY_DYNAMIC_DISPATCH(PanelColumns)() >= 32; }

Plan MakePlan(const Product& product, int threads) {
  const int64_t panels = NumPanels(product);
  const int64_t tiles = CeilDivide(product.m, HWY_DYNAMIC_DISPATCH(TileRows)());
  const int64_t most =
      std::clamp<int64_t>(product.m * product.n * product.k / kProductsPerThread, 1, threads);
  Plan plan{.product = product, .part_floats = HWY_DYNAMIC_DISPATCH(PartFloats)()};
  int64_t least = -1;
  for (int64_t columns = 1; columns <= std::min(most, panels); ++columns) {
    // More parts than tiles would leave threads without work.
    const int64_t rows = std::min(most / columns, tiles);
    // What the busiest thread does, in quarters of the time of a tile: copying a panel takes 6 of
    // them, copying the rows of a tile 1.
    const int64_t part_panels = CeilDivide(panels, columns), part_tiles = CeilDivide(tiles, rows);
    const int64_t cost = 4 * part_panels * part_tiles + 6 * part_panels +
                         part_tiles * CeilDivide(part_panels, kMaxPanels);
    if (least >= 0 && cost >= least) continue;
    least = cost;
    plan.row_parts = static_cast<int>(rows);
    plan.column_parts = static_cast<int>(columns);
  }
  return plan;
}

void Multiply(const Plan& plan, const float* a, const float* b, const float* bias, float* c,
              float* scratch, RowRange rows) {
  MultiplyParts(plan, {.a = a, .b = b, .bias = bias, .c = c}, scratch, rows);
}

size_t PanelsFloats(const Product& product) {
  return static_cast<size_t>(NumPanels(product) * HWY_DYNAMIC_DISPATCH(PanelColumns)() * product.k);
}

void CopyAllPanels(const Product& product, const float* b, float* panels) {
  const int64_t copies = NumPanels(product) * HWY_DYNAMIC_DISPATCH(DepthBlocks)(product);
  const fused::Chunks chunks =
      fused::MakeChunks(copies, static_cast<int64_t>(PanelsFloats(product)) / copies);
  fused::ForEachItem(chunks, [&](int, int64_t i) {
    HWY_DYNAMIC_DISPATCH(CopyPanelOfAll)(product, b, i, panels);
  });
}

void MultiplyPanels(const Plan& plan, const float* a, const float* panels, const float* bias,
                    float* c, float* scratch) {
  MultiplyParts(plan, {.a = a, .panels = panels, .bias = bias, .c = c}, scratch);
}

}  // namespace estimator::gemm
#endif  // HWY_ONCE
