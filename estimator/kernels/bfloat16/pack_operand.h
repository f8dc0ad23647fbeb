// Copies parts of a matrix to the operands of products of tiles (tiles.h). The functions are
// compiled for AVX-512 whatever the flags are. REQUIRES: IsAvailable() (tiles.h).
#ifndef ESTIMATOR_KERNELS_BFLOAT16_PACK_OPERAND_H_
#define ESTIMATOR_KERNELS_BFLOAT16_PACK_OPERAND_H_

#include <cstdint>

#include "estimator/array/half.h"

namespace estimator::bfloat16 {

// An operand of a matrix product. Its lines are the rows of the left operand, or the columns of the
// right one. All lines have `depth` numbers, over which the product sums.
struct Operand {
  // One of the two is not null. Numbers of f32 are split (Split, copies.h), or rounded to bf16.
  const Bfloat16* narrow = nullptr;
  const float* wide = nullptr;
  bool splits = false;
  int64_t lines = 0, depth = 0;
  // In memory: [lines, depth], or [depth, lines].
  bool line_after_line = true;
};

// A block of an operand: the lines [first_line, first_line + lines), and of those the numbers
// [first_number, first_number + depth).
struct OperandBlock {
  int64_t first_line = 0, lines = 0;
  // The depth of all blocks but the last of an operand is a multiple of 32.
  int64_t first_number = 0, depth = 0;
};

// As rows. For line l of the block, steps s of 32 numbers, and each part p of `parts` parts of a
// number (2 if it is split, else 1):
//   to[l * distance + (s * parts + p) * 32 + i] =
//       number first_number + 32 s + i of line first_line + l
// It is 0 beyond the depth of the block. The lines beyond the block, up to a multiple of 16, are 0
// if there are no more lines, or those that follow.
//   distance, to: multiples of 64 bytes.
void PackRows(const Operand& operand, const OperandBlock& block, int64_t distance, Bfloat16* to);

// The same numbers as panels of 16 lines, in pairs:
//   to[l / 16 * panel + ((s * parts + p) * 16 + i / 2) * 32 + l % 16 * 2 + i % 2]
//   panel, to: multiples of 64 bytes.
void PackPairs(const Operand& operand, const OperandBlock& block, int64_t panel, Bfloat16* to);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_PACK_OPERAND_H_
