// Matrix products of bf16 and f32 by products of tiles (tiles.h):
//
//   c [m, n] = act(a b + bias + side)
//
// Sums are f32, and results are rounded once. Numbers of f32 are rounded to bf16, or split into two
// of bf16 (Split, copies.h). Of the four products of such parts, three are added. For the errors
// see convolve.h. A result does not depend on the number of threads.
//
// The depth is divided into blocks. For each block a thread packs its rows of a, and then its
// columns of b, some at a time; 32 columns of b stay in the L1 cache for all rows. The sums of a
// block of c stay in the L2 cache for all depths.
//   Source: Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_MATMUL_H_
#define ESTIMATOR_KERNELS_BFLOAT16_MATMUL_H_

#include <cstddef>
#include <cstdint>

#include "estimator/array/half.h"
#include "estimator/kernels/bfloat16/convolution.h"
#include "estimator/kernels/kernel.h"

namespace estimator::bfloat16 {

// a is [m, k], or [k, m] if transpose_a; b is [k, n], or [n, k] if transpose_b.
// REQUIRES: m, n and k are positive.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  bool splits = false;  // a and b are f32, and their numbers are split
};

// How the work is divided: row_parts * column_parts rectangles of c, one for each thread.
struct MatMulPlan {
  Product product;
  int row_parts = 1, column_parts = 1;
  int64_t part_rows = 0, part_columns = 0;    // of a rectangle, multiples of 32
  int64_t block_rows = 0, block_columns = 0;  // of c, whose sums are kept; multiples of 32
  int64_t block_depth = 0;                    // a multiple of 32

  // Of b, packed as a whole: see PackRightOperand.
  size_t packed_bytes() const;

  size_t thread_bytes() const;
  size_t scratch_bytes() const {
    return static_cast<size_t>(row_parts * column_parts) * thread_bytes();
  }
};
//   threads: at least 1.
MatMulPlan MakeMatMulPlan(const Product& product, int threads);

// A matrix in bf16 or f32: one of the two is not null.
struct MatrixData {
  const Bfloat16* narrow = nullptr;
  const float* wide = nullptr;
};

struct MatMulTarget {
  // c; one of the two is not null.
  Bfloat16* narrow = nullptr;
  float* wide = nullptr;
  const float* bias = nullptr;  // [n]
  const float* side = nullptr;  // [m, n]
  Activation activation = Activation::kNone;
};

//   a, b: f32 if the product splits, else bf16, or f32 numbers that are rounded to bf16.
//   scratch: plan.scratch_bytes(), aligned to 64 bytes.
//   rows: those of c that are computed. They have the bits of the whole product.
// REQUIRES: IsAvailable() (tiles.h).
void MultiplyMatrices(const MatMulPlan& plan, const MatrixData& a, const MatrixData& b,
                      const MatMulTarget& c, void* scratch, RowRange rows = {});

// For weights that do not change from product to product: packs all of b once.
//   packed: plan.packed_bytes(), aligned to 64 bytes.
void PackRightOperand(const MatMulPlan& plan, const MatrixData& b, void* packed);
// MultiplyMatrices with the result of PackRightOperand instead of b. Gives the same bits.
void MultiplyPacked(const MatMulPlan& plan, const MatrixData& a, const void* packed,
                    const MatMulTarget& c, void* scratch);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_MATMUL_H_
