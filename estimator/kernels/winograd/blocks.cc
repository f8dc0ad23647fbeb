#include "estimator/kernels/winograd/blocks.h"

#include <algorithm>

namespace estimator::winograd {
namespace {

// The outputs of the last tile of an axis that has `rest` outputs left (transforms-inl.h).
int EdgeOutputs(int taps, int64_t rest) {
  if (rest == 3) return taps == 3 ? 3 : 4;
  return rest == 0 ? 4 : 2;
}

Axis MakeAxis(int taps, int64_t outputs) {
  const int64_t rest = outputs % kTileOutputs;
  Axis axis;
  axis.edge_outputs = EdgeOutputs(taps, rest);
  axis.has_edge = axis.edge_outputs < kTileOutputs;
  axis.full = outputs / kTileOutputs + (rest > 0 && !axis.has_edge ? 1 : 0);
  return axis;
}

}  // namespace

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

Convolution Convolution::Transposed() const {
  return {.taps = taps,
          .images = images,
          .in_rows = out_rows,
          .in_columns = out_columns,
          .in_channels = out_channels,
          .out_rows = in_rows,
          .out_columns = in_columns,
          .out_channels = in_channels,
          .pad_top = taps - 1 - pad_top,
          .pad_left = taps - 1 - pad_left};
}

Tiling MakeTiling(const Convolution& conv, int64_t block_size) {
  Tiling tiling{.rows = MakeAxis(conv.taps, conv.out_rows),
                .columns = MakeAxis(conv.taps, conv.out_columns),
                .images = conv.images,
                .block_size = block_size};
  tiling.block_size = std::clamp<int64_t>(std::min(block_size, tiling.tiles()), 1, kMostTiles);
  return tiling;
}

void Tiling::MakeBlock(int64_t block, Block* result) const {
  const int64_t begin = block * block_size, end = std::min(begin + block_size, tiles());
  result->size = static_cast<int>(end - begin);
  result->num_runs = 0;
  int count[4] = {};  // tiles at the bottom edge, inner ones, at the right edge, at both
  for (int64_t tile = begin; tile < end;) {
    Run& run = result->runs[result->num_runs++];
    const int64_t row = tile / columns.tiles();
    run.image = row / rows.tiles();
    run.tile_row = row % rows.tiles();
    run.tile_column = tile % columns.tiles();
    run.bottom = run.tile_row == rows.full;
    const int64_t left = std::min(end - tile, columns.tiles() - run.tile_column);
    run.full = static_cast<int>(std::min({left, columns.full - run.tile_column, kMostTilesInRun}));
    run.edge = run.full < left && run.tile_column + run.full == columns.full;
    count[run.bottom ? 0 : 1] += run.full;
    count[run.bottom ? 3 : 2] += run.edge ? 1 : 0;
    tile += run.full + (run.edge ? 1 : 0);
  }
  result->bottom = count[0];
  result->inner = count[1];
  result->right = count[2];
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
