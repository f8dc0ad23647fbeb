// Blocks of tiles: the unit of work of a thread. Internal to winograd.
//
// Tiles are numbered image by image, row by row; a block has `size` tiles in a row. In the
// transformed tensors each tile of a block has a slot. The slots are ordered by the kind of tile:
//   tiles at the bottom edge | inner tiles | tiles at the right edge | tiles at both edges.
// An edge tile does not use all points, so the slots that a point needs are one range.
#ifndef ESTIMATOR_KERNELS_WINOGRAD_BLOCKS_H_
#define ESTIMATOR_KERNELS_WINOGRAD_BLOCKS_H_

#include <cstdint>

#include "estimator/kernels/winograd/winograd.h"

namespace estimator::winograd {

inline constexpr int64_t kMostTiles = 64;  // of a block
// The columns of outputs of the full tiles of a run, and those of pixels under a run with one more
// tile. More would not fit into the L1 cache.
inline constexpr int64_t kMostOutputColumns = 32, kMostColumns = 40;

// The tiles of one axis: `full` tiles of `outputs` outputs, then, if has_edge, one of edge_outputs.
struct Axis {
  int outputs = 4;
  int64_t full = 0;
  bool has_edge = false;
  int edge_outputs = 4;

  int64_t tiles() const { return full + (has_edge ? 1 : 0); }
  // Of a tile at the edge, or of another one.
  int Outputs(bool edge) const { return edge ? edge_outputs : outputs; }
  // The points of all tiles.
  int64_t Points(int taps) const {
    return full * (outputs + taps - 1) + (has_edge ? edge_outputs + taps - 1 : 0);
  }
};
Axis MakeAxis(int taps, int64_t size, int outputs);

// Adjacent tiles of one row of tiles of an image.
struct Run {
  int64_t image = 0;
  int64_t first_row = 0, first_column = 0;  // of the outputs
  int full = 0;                             // the number of tiles that are not at the right edge
  bool edge = false;                        // whether a tile at the right edge follows them
  bool bottom = false;                      // whether the row is at the bottom edge
  int slot = 0;                             // of the first full tile; the next ones follow
  int edge_slot = 0;
};

// The slots of a block.
struct Slots {
  int size = 0;  // tiles
  int bottom = 0, inner = 0, right = 0;

  // The slots [first, end) that use a point.
  //   row_only_full: tiles at the bottom edge do not use it; column_only_full: those at the right.
  int First(bool row_only_full) const { return row_only_full ? bottom : 0; }
  int End(bool row_only_full, bool column_only_full) const {
    return column_only_full ? bottom + inner : row_only_full ? bottom + inner + right : size;
  }
};

struct Block : Slots {
  Run runs[kMostTiles];
  int num_runs = 0;
};

struct Tiling {
  Axis rows, columns;
  int64_t images = 0;
  int64_t block_size = 0;

  int64_t tiles() const { return images * rows.tiles() * columns.tiles(); }
  int64_t blocks() const { return (tiles() + block_size - 1) / block_size; }
  // Fills in block number `block`.
  void MakeBlock(int64_t block, Block* result) const;
};

//   block_size: at most kMostTiles.
Tiling MakeTiling(const Convolution& conv, int64_t block_size);

}  // namespace estimator::winograd

#endif  // ESTIMATOR_KERNELS_WINOGRAD_BLOCKS_H_
