#include "estimator/kernels/winograd/blocks.h"

#include <algorithm>

namespace estimator::winograd {

// The kinds of tiles at an edge are those of transforms-inl.h.
Axis MakeAxis(int taps, int64_t size, int outputs) {
  const int rest = static_cast<int>(size % outputs);
  // Edge tiles have an even number of outputs (transforms-inl.h), so an odd rest computes one more,
  // which is not written. F43 has a tile of three as well.
  int edge = rest == 0 ? outputs : rest + rest % 2;
  if (taps == 3 && rest == 3) edge = 3;
  return {.outputs = outputs,
          .full = size / outputs + (rest > 0 && edge == outputs ? 1 : 0),
          .has_edge = edge < outputs,
          .edge_outputs = edge};
}

Strides PlainStrides(int64_t rows, int64_t columns, int64_t channels) {
  return {.image = rows * columns * channels,
          .row = columns * channels,
          .pixel = channels,
          .block = 16};
}

Strides BlockedStrides(int64_t rows, int64_t columns, int64_t channels) {
  return {.image = rows * columns * channels,
          .row = columns * 16,
          .pixel = 16,
          .block = rows * columns * 16};
}

// With more weights or fewer pixels, the transforms of the filter take longer than the products
// that tiles of 6x6 save (docs/kernel_choice.md).
int FastestTile(const Convolution& conv, bool rounds_to_bfloat16) {
  constexpr int64_t kMostSummed = 256;  // the errors grow with the square root of the channels
  constexpr int64_t kMostWeights = 128 * 128, kFewestPixels = 2048;
  if (conv.filter_rows != 5 || !rounds_to_bfloat16 || conv.in_channels > kMostSummed ||
      conv.in_channels * conv.out_channels > kMostWeights || conv.pixels() < kFewestPixels) {
    return 4;
  }
  const int taps = static_cast<int>(conv.filter_rows);
  const auto points = [&conv, taps](int outputs) {
    return MakeAxis(taps, conv.out_rows, outputs).Points(taps) *
           MakeAxis(taps, conv.out_columns, outputs).Points(taps);
  };
  // Larger tiles do not always save products: at the edges they may compute outputs that do not
  // exist.
  return points(6) < points(4) ? 6 : 4;
}

Tiling MakeTiling(const Convolution& conv, int64_t block_size) {
  const int taps = static_cast<int>(conv.filter_rows);
  Tiling tiling{.rows = MakeAxis(taps, conv.out_rows, conv.tile),
                .columns = MakeAxis(taps, conv.out_columns, conv.tile),
                .images = conv.images,
                .block_size = block_size};
  tiling.block_size = std::clamp<int64_t>(std::min(block_size, tiling.tiles()), 1, kMostTiles);
  return tiling;
}

void Tiling::MakeBlock(int64_t block, Block* result) const {
  const int64_t begin = block * block_size, end = std::min(begin + block_size, tiles());
  result->size = static_cast<int>(end - begin);
  result->num_runs = 0;
  const int64_t most_in_run = kMostOutputColumns / columns.outputs;
  int count[4] = {};  // tiles at the bottom edge, inner ones, at the right edge, at both
  for (int64_t tile = begin; tile < end;) {
    Run& run = result->runs[result->num_runs++];
    const int64_t row = tile / columns.tiles();
    run.image = row / rows.tiles();
    const int64_t tile_row = row % rows.tiles(), tile_column = tile % columns.tiles();
    run.first_row = tile_row * rows.outputs;
    run.first_column = tile_column * columns.outputs;
    run.bottom = tile_row == rows.full;
    const int64_t left = std::min(end - tile, columns.tiles() - tile_column);
    run.full = static_cast<int>(std::min({left, columns.full - tile_column, most_in_run}));
    run.edge = run.full < left && tile_column + run.full == columns.full;
    count[run.bottom ? 0 : 1] += run.full;
    count[run.bottom ? 3 : 2] += run.edge ? 1 : 0;
    tile += run.full + (run.edge ? 1 : 0);
  }
  result->bottom = count[0];
  result->inner = count[1];
  result->right = count[2];
  // The slots are sorted by the kind of tile, so that the tiles that use a point are adjacent.
  int next[4] = {0, count[0], count[0] + count[1], count[0] + count[1] + count[2]};
  for (int r = 0; r < result->num_runs; ++r) {
    Run& run = result->runs[r];
    run.slot = next[run.bottom ? 0 : 1];
    next[run.bottom ? 0 : 1] += run.full;
    run.edge_slot = next[run.bottom ? 3 : 2];
    next[run.bottom ? 3 : 2] += run.edge ? 1 : 0;
  }
}

}  // namespace estimator::winograd
