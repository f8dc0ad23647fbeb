// The transform of the tiles of an image to points: reads pixels, writes one number for each point,
// tile and channel.
//
// Included once for every instruction set (Highway).
#if defined(ESTIMATOR_KERNELS_WINOGRAD_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ESTIMATOR_KERNELS_WINOGRAD_TILES_INL_H_
#undef ESTIMATOR_KERNELS_WINOGRAD_TILES_INL_H_
#else
#define ESTIMATOR_KERNELS_WINOGRAD_TILES_INL_H_
#endif

#include <cstdint>

#include "estimator/kernels/winograd/blocks.h"
#include "estimator/kernels/winograd/transforms-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::winograd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The columns of pixels under the tiles of a run.
constexpr int64_t kMostColumns = (kMostTilesInRun + 1) * kTileOutputs + 4;

// Reads kRows pixels of one column, for kLanes channels. Pixels outside the image are 0.
template <int kRows>
class ColumnReader {
 public:
  //   first_row: may be outside the image.
  //   rows, columns: the size of the image (for a pooled source, of the image before pooling).
  ColumnReader(const Source& source, int64_t image, int64_t first_row, int64_t rows,
               int64_t columns, int64_t channel)
      : argmax_(source.argmax != nullptr),
        first_row_(first_row),
        columns_(columns),
        pixel_(source.strides.pixel) {
    EST_UNROLL for (int i = 0; i < kRows; ++i) {
      const int64_t row = first_row + i;
      inside_[i] = row >= 0 && row < rows;
      all_inside_ = all_inside_ && inside_[i];
      const int64_t offset = source.strides.Offset(image, argmax_ ? row >> 1 : row, 0, channel);
      data_[i] = inside_[i] ? source.data + offset : nullptr;
      tap_[i] = inside_[i] && argmax_ ? source.argmax + offset : nullptr;
    }
  }

  HWY_INLINE void Read(int64_t column, V* d) const {
    const D tag;
    if (column < 0 || column >= columns_) {
      EST_UNROLL for (int i = 0; i < kRows; ++i) d[i] = hn::Zero(tag);
    } else if (argmax_) {
      ReadPooled(column, d);
    } else if (all_inside_) {
      EST_UNROLL for (int i = 0; i < kRows; ++i) d[i] = hn::LoadU(tag, data_[i] + column * pixel_);
    } else {
      EST_UNROLL for (int i = 0; i < kRows; ++i) d[i] =
          inside_[i] ? hn::LoadU(tag, data_[i] + column * pixel_) : hn::Zero(tag);
    }
  }

 private:
  // Two rows of the image have one row of the pooled one.
  HWY_INLINE void ReadPooled(int64_t column, V* d) const {
    const D tag;
    const hn::RebindToSigned<D> tag_int;
    const hn::Rebind<uint8_t, D> tag_byte;
    const int64_t offset = (column >> 1) * pixel_;
    const int32_t first_tap = static_cast<int32_t>(column & 1);
    V gradient = hn::Zero(tag);
    auto tap = hn::Zero(tag_int);
    EST_UNROLL for (int i = 0; i < kRows; ++i) {
      const bool odd = ((first_row_ + i) & 1) != 0;
      if (!inside_[i]) {
        d[i] = hn::Zero(tag);
        continue;
      }
      if (i == 0 || !odd) {
        gradient = hn::LoadU(tag, data_[i] + offset);
        tap = hn::PromoteTo(tag_int, hn::LoadU(tag_byte, tap_[i] + offset));
      }
      const auto here = hn::Eq(tap, hn::Set(tag_int, first_tap + (odd ? 2 : 0)));
      d[i] = hn::IfThenElseZero(hn::RebindMask(tag, here), gradient);
    }
  }

  const bool argmax_;
  const int64_t first_row_;
  const int64_t columns_;
  const int64_t pixel_;
  bool all_inside_ = true;
  bool inside_[kRows] = {};
  const float* data_[kRows] = {};
  const uint8_t* tap_[kRows] = {};
};

// Where the points of a tile are written: point p of slot s, channel 0 at
// points + p * point + s * slot.
struct Points {
  float* data = nullptr;
  int64_t point = 0;
  int64_t slot = 0;
};

// The vertical half for one channel vector: columns[i * kMostColumns + c] is point i of column c.
template <class F, int kOut>
HWY_INLINE void TransformColumns(const Source& x, const Convolution& conv, const Run& run,
                                 int64_t channel, int64_t num_columns, V* columns) {
  constexpr int kRows = kOut + F::kTaps - 1;
  const ColumnReader<kRows> reader(x, run.image, run.tile_row * kTileOutputs - conv.pad_top,
                                   conv.in_rows, conv.in_columns, channel);
  const int64_t first = run.tile_column * kTileOutputs - conv.pad_left;
  for (int64_t c = 0; c < num_columns; ++c) {
    V d[kRows], y[F::kPoints];
    reader.Read(first + c, d);
    F::template Input<kOut>(d, y);
    EST_UNROLL for (int i = 0; i < F::kPoints; ++i) {
      if (F::Uses(kOut, i)) columns[i * kMostColumns + c] = y[i];
    }
  }
}

// The horizontal half of one tile for point i of the rows.
template <class F, int kOut>
HWY_INLINE void TransformRow(const V* columns, float* to, int64_t point) {
  V y[F::kPoints];
  F::template Input<kOut>(columns, y);
  EST_UNROLL for (int j = 0; j < F::kPoints; ++j) {
    if (F::Uses(kOut, j)) hn::StoreU(y[j], D(), to + j * point);
  }
}

template <class F>
HWY_INLINE void TransformEdgeRow(int outputs, const V* columns, float* to, int64_t point) {
  if constexpr (F::kTaps == 3) {
    if (outputs == 3) return TransformRow<F, 3>(columns, to, point);
  }
  TransformRow<F, 2>(columns, to, point);
}

// Transforms the tiles of a run, all channels.
template <class F>
void TransformInput(const Source& x, const Convolution& conv, const Tiling& tiling, const Run& run,
                    const Points& to) {
  const int row_outputs = run.bottom ? tiling.rows.edge_outputs : 4;
  const int edge_outputs = tiling.columns.edge_outputs;
  const int64_t num_columns =
      run.full * kTileOutputs + (run.edge ? edge_outputs : 0) + F::kTaps - 1;
  V columns[F::kPoints * kMostColumns];
  for (int64_t channel = 0; channel < conv.in_channels; channel += kLanes) {
    if (row_outputs == 4) {
      TransformColumns<F, 4>(x, conv, run, channel, num_columns, columns);
    } else if (row_outputs == 3) {
      if constexpr (F::kTaps == 3)
        TransformColumns<F, 3>(x, conv, run, channel, num_columns, columns);
    } else {
      TransformColumns<F, 2>(x, conv, run, channel, num_columns, columns);
    }
    EST_UNROLL for (int i = 0; i < F::kPoints; ++i) {
      if (!F::Uses(row_outputs, i)) continue;
      const V* row = columns + i * kMostColumns;
      float* const out = to.data + i * F::kPoints * to.point + channel;
      for (int t = 0; t < run.full; ++t) {
        TransformRow<F, 4>(row + t * kTileOutputs, out + (run.slot + t) * to.slot, to.point);
      }
      if (run.edge) {
        TransformEdgeRow<F>(edge_outputs, row + run.full * kTileOutputs,
                            out + run.edge_slot * to.slot, to.point);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::winograd
HWY_AFTER_NAMESPACE();

#endif  // the toggle of each instruction set
