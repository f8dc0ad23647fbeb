// Matrix products of f32, with bias and activation in the same pass.
//
// The depth is divided into blocks of at most 256. For each block a thread copies its columns of b
// into panels of two vectors, which stay in the L2 cache, and the rows of a into the L1 cache, a
// few at a time. The sums of a tile stay in registers. Threads share neither panels nor tiles, and
// every element of c is summed in the same order, whatever the number of threads is. An activation
// is applied to the rows of a tile while they are in the cache, with the bits of its own op.
//   Source: Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008.
#ifndef ESTIMATOR_KERNELS_GEMM_GEMM_H_
#define ESTIMATOR_KERNELS_GEMM_GEMM_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "estimator/kernels/fused/tile_ops.h"
#include "estimator/kernels/kernel.h"

namespace estimator::gemm {

// c [m, n] = act(a * b + bias), or act(c + a * b + bias) if accumulate. a is [m, k], or [k, m] if
// transpose_a; b is [k, n], or [n, k] if transpose_b. All are dense and row-major.
// REQUIRES: m, n and k are positive.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  std::optional<fused::TileOp> activation = {};  // an op of one operand
  float alpha = 0;                               // of the activation, if it has one
  bool accumulate = false;                       // the sums are added to those that c has
};

// How the work is divided between the threads: row_parts * column_parts rectangles of c.
struct Plan {
  Product product;
  int row_parts = 1, column_parts = 1;
  int64_t part_floats = 0;  // the scratch memory of one rectangle

  size_t scratch_floats() const {
    return static_cast<size_t>(row_parts * column_parts * part_floats);
  }
};
//   threads: at least 1.
Plan MakePlan(const Product& product, int threads);

//   bias: [n], or null.  scratch: plan.scratch_floats(), aligned to 64 bytes.
//   rows: those of c that are computed. They have the bits of the whole product.
void Multiply(const Plan& plan, const float* a, const float* b, const float* bias, float* c,
              float* scratch, RowRange rows = {});

// For weights that do not change from product to product: copies all of b once.
//   panels: PanelsFloats(product) floats, aligned to 64 bytes.
size_t PanelsFloats(const Product& product);
void CopyAllPanels(const Product& product, const float* b, float* panels);
// Multiply with the result of CopyAllPanels instead of b. Gives the same bits.
void MultiplyPanels(const Plan& plan, const float* a, const float* panels, const float* bias,
                    float* c, float* scratch);

// Whether this CPU has vectors of 16 floats, for which the product is made.
bool HasWideVectors();

}  // namespace estimator::gemm

#endif  // ESTIMATOR_KERNELS_GEMM_GEMM_H_
