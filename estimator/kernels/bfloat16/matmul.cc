#include "estimator/kernels/bfloat16/matmul.h"

#include <algorithm>

#include "estimator/kernels/bfloat16/pack_operand.h"
#include "estimator/kernels/bfloat16/stores.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/fused/parallel.h"

namespace estimator::bfloat16 {
namespace {

constexpr int64_t kMostLines = 512;  // of a block of c
constexpr int64_t kPackedColumns = 128;
constexpr int64_t kPanelBytes = 20 * 1024;  // of 32 packed columns: they stay in the L1 cache

// The layout of a thread's scratch memory, in bytes.
struct ProductThreadLayout {
  explicit ProductThreadLayout(const MatMulPlan& p)
      : distance(p.block_depth * (p.product.splits ? 2 : 1) + 32),
        panel(p.block_depth * (p.product.splits ? 2 : 1) * 16),
        columns(p.block_rows * distance * 2),
        sums(columns + kPackedColumns / 16 * panel * 2),
        // If one block has the whole depth, a tile is stored as soon as it is multiplied, and the
        // next one uses the same memory.
        end(sums +
            (p.product.k <= p.block_depth ? kGroup * kGroup : p.block_rows * p.block_columns) * 4) {
  }
  int64_t distance, panel;  // of packed rows, and of 16 packed columns, in numbers
  int64_t columns, sums, end;
};

// In a copy of all of b, [depth blocks][n / 16, rounded up to an even number][panel], the offset of
// the panel that begins with `column` and number `first` of its depth.
int64_t PackedOffset(const MatMulPlan& plan, int64_t first, int64_t column) {
  const int64_t panels = RoundUp(plan.product.n, kGroup) / 16;
  return (first / plan.block_depth * panels + column / 16) * ProductThreadLayout(plan).panel;
}

Operand LeftOperand(const Product& p, const MatrixData& a) {
  return {.narrow = a.narrow,
          .wide = a.wide,
          .splits = p.splits,
          .lines = p.m,
          .depth = p.k,
          .line_after_line = !p.transpose_a};
}

Operand RightOperand(const Product& p, const MatrixData& b) {
  return {.narrow = b.narrow,
          .wide = b.wide,
          .splits = p.splits,
          .lines = p.n,
          .depth = p.k,
          .line_after_line = p.transpose_b};
}

class ProductWorker {
 public:
  //   packed: all of b, or null.
  ProductWorker(const MatMulPlan& plan, const Operand& a, const Operand& b, const Bfloat16* packed,
                const MatMulTarget& c, char* scratch)
      : plan_(plan),
        layout_(plan),
        a_(a),
        b_(b),
        packed_(packed),
        c_(c),
        rows_(reinterpret_cast<Bfloat16*>(scratch)),
        columns_(reinterpret_cast<Bfloat16*>(scratch + layout_.columns)),
        sums_(reinterpret_cast<float*>(scratch + layout_.sums)) {}

  // A rectangle of c.
  void Run(int64_t row, int64_t end_row, int64_t column, int64_t end_column) {
    Configure();
    for (int64_t i = row; i < end_row; i += plan_.block_rows) {
      for (int64_t j = column; j < end_column; j += plan_.block_columns) {
        RunBlock(i, std::min(plan_.block_rows, end_row - i), j,
                 std::min(plan_.block_columns, end_column - j));
      }
    }
    Release();
  }

 private:
  void RunBlock(int64_t row, int64_t rows, int64_t column, int64_t columns) {
    const int64_t k = plan_.product.k;
    for (int64_t first = 0; first < k; first += plan_.block_depth) {
      const int64_t depth = std::min(plan_.block_depth, k - first);
      PackRows(a_, {row, rows, first, depth}, layout_.distance, rows_);
      for (int64_t j = 0; j < columns; j += kPackedColumns) {
        const int64_t count = std::min(kPackedColumns, columns - j);
        const Bfloat16* packed = columns_;
        if (packed_ != nullptr) {
          packed = packed_ + PackedOffset(plan_, first, column + j);
        } else {
          PackPairs(b_, {column + j, count, first, depth}, layout_.panel, columns_);
        }
        for (int64_t p = 0; p < count; p += kGroup) {
          float* const sums = sums_ + (k <= plan_.block_depth ? 0 : (j + p) * plan_.block_rows);
          const Epilogue epilogue =
              EpilogueOf(c_.bias, c_.side, c_.activation, column + j + p, plan_.product.n, bias_);
          for (int64_t i = 0; i < rows; i += kGroup) {
            float* const tile = sums + (k <= plan_.block_depth ? 0 : i * kGroup);
            MultiplyRows(rows_ + i * layout_.distance, layout_.distance,
                         packed + p / 16 * layout_.panel, layout_.panel, DivideUp(depth, kStep),
                         plan_.product.splits, first == 0, std::min(kGroup, rows - i), tile);
            // Bias, side input and activation apply to complete sums.
            if (first + depth == k) Store(tile, row + i, column + j + p, epilogue);
          }
        }
      }
    }
  }

  void Store(const float* tile, int64_t row, int64_t column, const Epilogue& epilogue) {
    int64_t offsets[kGroup];
    for (int64_t i = 0; i < kGroup; ++i)
      offsets[i] = row + i < plan_.product.m ? (row + i) * plan_.product.n : -1;
    if (c_.wide != nullptr) {
      StoreRows(tile, offsets, epilogue, c_.wide + column);
    } else {
      StoreRows(tile, offsets, epilogue, c_.narrow + column);
    }
  }

  const MatMulPlan& plan_;
  const ProductThreadLayout layout_;
  const Operand a_, b_;
  const Bfloat16* const packed_;
  const MatMulTarget c_;
  Bfloat16* rows_;     // packed
  Bfloat16* columns_;  // packed
  float* sums_;        // [columns / 32, rows / 32, 32, 32]
  float bias_[kGroup];
};

void Multiply(const MatMulPlan& plan, const Operand& a, const Operand& b, const Bfloat16* packed,
              const MatMulTarget& c, void* scratch, RowRange rows = {}) {
  const Product& p = plan.product;
  const int parts = plan.row_parts * plan.column_parts;
  if (rows.end == 0) rows.end = p.m;
  const int64_t part_rows = RoundUp(DivideUp(rows.end - rows.begin, plan.row_parts), kGroup);
  fused::ParallelFor({parts, parts}, [&](int part, int64_t, int64_t) {
    ProductWorker worker(
        plan, a, b, packed, c,
        static_cast<char*>(scratch) + static_cast<size_t>(part) * plan.thread_bytes());
    const int64_t row = rows.begin + part / plan.column_parts * part_rows;
    const int64_t column = part % plan.column_parts * plan.part_columns;
    worker.Run(row, std::min(rows.end, row + part_rows), column,
               std::min(p.n, column + plan.part_columns));
  });
}

}  // namespace

size_t MatMulPlan::packed_bytes() const {
  const int64_t blocks = DivideUp(product.k, block_depth);
  return static_cast<size_t>(PackedOffset(*this, blocks * block_depth, 0)) * sizeof(Bfloat16);
}

size_t MatMulPlan::thread_bytes() const {
  return static_cast<size_t>(RoundUp(ProductThreadLayout(*this).end, 64));
}

MatMulPlan MakeMatMulPlan(const Product& product, int threads) {
  MatMulPlan plan{.product = product};
  const int64_t row_groups = DivideUp(product.m, kGroup),
                column_groups = DivideUp(product.n, kGroup);
  // The smallest rectangles, and of those the ones that pack least.
  int64_t best = -1;
  for (int rows = 1; rows <= threads; ++rows) {
    const int columns = threads / rows;
    const int64_t r = DivideUp(row_groups, rows), c = DivideUp(column_groups, columns);
    constexpr int64_t kPackingCost = 2;  // of a group of 32 lines, in products of groups
    const int64_t cost = r * c + kPackingCost * (r + c);
    if (best >= 0 && cost >= best) continue;
    best = cost;
    plan.part_rows = r * kGroup;
    plan.part_columns = c * kGroup;
  }
  // Rounding up to groups may leave parts without rows, so the parts are counted again.
  plan.row_parts = static_cast<int>(DivideUp(product.m, plan.part_rows));
  plan.column_parts = static_cast<int>(DivideUp(product.n, plan.part_columns));
  const auto block = [](int64_t lines) {
    // Blocks of equal size: a small last one would pack an operand for few products.
    return RoundUp(DivideUp(lines, DivideUp(lines, kMostLines)), kGroup);
  };
  plan.block_rows = block(plan.part_rows);
  plan.block_columns = block(plan.part_columns);
  const int64_t most_depth = kPanelBytes / (kGroup * 2 * (product.splits ? 2 : 1));
  plan.block_depth = RoundUp(DivideUp(product.k, DivideUp(product.k, most_depth)), kGroup);
  return plan;
}

void MultiplyMatrices(const MatMulPlan& plan, const MatrixData& a, const MatrixData& b,
                      const MatMulTarget& c, void* scratch, RowRange rows) {
  const Product& p = plan.product;
  Multiply(plan, LeftOperand(p, a), RightOperand(p, b), nullptr, c, scratch, rows);
}

void PackRightOperand(const MatMulPlan& plan, const MatrixData& b, void* packed) {
  const Product& p = plan.product;
  const Operand operand = RightOperand(p, b);
  const int64_t panel = ProductThreadLayout(plan).panel;
  const int64_t depth_blocks = DivideUp(p.k, plan.block_depth);
  const int64_t groups = DivideUp(p.n, kGroup);
  const fused::Chunks chunks = fused::MakeChunks(depth_blocks * groups, 2 * panel);
  fused::ForEachItem(chunks, [&](int, int64_t i) {
    const int64_t first = i / groups * plan.block_depth, column = i % groups * kGroup;
    const OperandBlock block{.first_line = column,
                             .lines = std::min(kGroup, p.n - column),
                             .first_number = first,
                             .depth = std::min(plan.block_depth, p.k - first)};
    PackPairs(operand, block, panel,
              static_cast<Bfloat16*>(packed) + PackedOffset(plan, first, column));
  });
}

void MultiplyPacked(const MatMulPlan& plan, const MatrixData& a, const void* packed,
                    const MatMulTarget& c, void* scratch) {
  Multiply(plan, LeftOperand(plan.product, a), {}, static_cast<const Bfloat16*>(packed), c,
           scratch);
}

}  // namespace estimator::bfloat16
