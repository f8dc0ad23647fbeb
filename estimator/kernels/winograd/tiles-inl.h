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
#include "estimator/kernels/winograd/channels-inl.h"
#include "estimator/kernels/winograd/transforms-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::winograd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Reads kRows pixels of one column, for a vector of channels. Pixels outside the image are 0.
template <int kRows, class Lanes>
class ColumnReader {
 public:
  //   first_row: may be outside the image.
  //   rows, columns: the size of the image (for a pooled source, of the image before pooling).
  ColumnReader(const Source& source, int64_t image, int64_t first_row, int64_t rows,
               int64_t columns, int64_t channel, const Lanes& lanes)
      : lanes_(lanes),
        pooled_(source.argmax != nullptr),
        odd_((first_row & 1) != 0),
        columns_(columns) {
    EST_UNROLL for (int i = 0; i < kRows; ++i) {
      const int64_t row = first_row + i;
      const bool inside = row >= 0 && row < rows;
      const int64_t offset = source.strides.Offset(image, pooled_ ? row >> 1 : row, 0, channel);
      // A row outside is kZeros again and again, so that reading needs no branches.
      data_[i] = inside ? source.data + offset : kZeros;
      argmax_[i] = inside && pooled_ ? source.argmax + offset : kNoTaps;
      pixel_[i] = inside ? source.strides.pixel : 0;
    }
  }

  HWY_INLINE void Read(int64_t column, V* d) const {
    if (column < 0 || column >= columns_) {
      EST_UNROLL for (int i = 0; i < kRows; ++i) d[i] = hn::Zero(D());
    } else if (!pooled_) {
      EST_UNROLL for (int i = 0; i < kRows; ++i) d[i] = lanes_.Load(data_[i] + column * pixel_[i]);
    } else if (odd_) {
      ReadPooled<1>(column, d);
    } else {
      ReadPooled<0>(column, d);
    }
  }

 private:
  // Two rows of the image have one row of the pooled one.
  //   kOdd: the parity of the first row.
  template <int kOdd>
  HWY_INLINE void ReadPooled(int64_t column, V* d) const {
    const hn::RebindToSigned<D> tag_int;
    const auto upper = hn::Set(tag_int, static_cast<int32_t>(column & 1));
    const auto lower = hn::Set(tag_int, static_cast<int32_t>(column & 1) + 2);
    V gradient = hn::Zero(D());
    auto tap = hn::Zero(tag_int);
    EST_UNROLL for (int i = 0; i < kRows; ++i) {
      const bool odd = (i + kOdd) % 2 != 0;
      // Both rows of a window read the same row of the pooled gradient, so it is loaded once.
      if (i == 0 || !odd) {
        const int64_t offset = (column >> 1) * pixel_[i];
        gradient = lanes_.Load(data_[i] + offset);
        tap = hn::PromoteTo(tag_int, lanes_.Load(argmax_[i] + offset));
      }
      d[i] = hn::IfThenElseZero(hn::RebindMask(D(), hn::Eq(tap, odd ? lower : upper)), gradient);
    }
  }

  static constexpr float kZeros[kLanes] = {};
  static constexpr uint8_t kNoTaps[kLanes] = {};

  const Lanes lanes_;
  const bool pooled_;
  const bool odd_;
  const int64_t columns_;
  const float* data_[kRows];
  const uint8_t* argmax_[kRows];
  int64_t pixel_[kRows];
};

// Where the points of a tile are written: point p of slot s, channel 0 at
// points + p * point + s * slot. A slot has whole vectors of channels.
struct Points {
  float* data = nullptr;
  int64_t point = 0;
  int64_t slot = 0;
};

// The vertical half for one channel vector: columns[i * kMostColumns + c] is point i of column c.
template <class F, int kOut, class Lanes>
HWY_INLINE void TransformColumns(const Source& x, const Convolution& conv, const Run& run,
                                 int64_t channel, const Lanes& lanes, int64_t num_columns,
                                 V* columns) {
  constexpr int kRows = kOut + F::kTaps - 1;
  const ColumnReader<kRows, Lanes> reader(x, run.image, run.first_row - conv.pad_top, conv.in_rows,
                                          conv.in_columns, channel, lanes);
  const int64_t first = run.first_column - conv.pad_left;
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

// The horizontal half of a run, for one channel vector.
//   kEdge: the outputs of the tile at the right edge.
//   run, to: copies, so that they stay in registers.
template <class F, int kEdge>
HWY_INLINE void TransformRows(const V* columns, int row_outputs, const Run run, const Points to) {
  EST_UNROLL for (int i = 0; i < F::kPoints; ++i) {
    if (!F::Uses(row_outputs, i)) continue;
    const V* const row = columns + i * kMostColumns;
    float* const out = to.data + i * F::kPoints * to.point;
    for (int t = 0; t < run.full; ++t) {
      TransformRow<F, F::kOutputs>(row + t * F::kOutputs, out + (run.slot + t) * to.slot, to.point);
    }
    if (run.edge) {
      TransformRow<F, kEdge>(row + run.full * F::kOutputs, out + run.edge_slot * to.slot, to.point);
    }
  }
}

// Transforms the tiles of a run, all channels. The lanes of the last vector beyond them are 0.
template <class F>
HWY_INLINE void TransformInput(const Source& x, const Convolution& conv, const Tiling& tiling,
                               const Run& run, Points to) {
  const int row_outputs = tiling.rows.Outputs(run.bottom);
  const int edge_outputs = tiling.columns.edge_outputs;
  const int64_t num_columns = run.full * F::kOutputs + (run.edge ? edge_outputs : 0) + F::kTaps - 1;
  static_assert(kMostOutputColumns / F::kOutputs * F::kOutputs + F::kPoints <= kMostColumns);
  V columns[F::kPoints * kMostColumns];
  for (int64_t channel = 0; channel < conv.in_channels; channel += kLanes, to.data += kLanes) {
    WithOutputs<F>(row_outputs, [&](auto outputs) HWY_ATTR {
      WithLanes(conv.in_channels - channel, [&](const auto& lanes) HWY_ATTR {
        TransformColumns<F, outputs()>(x, conv, run, channel, lanes, num_columns, columns);
      });
    });
    WithOutputs<F>(edge_outputs, [&](auto outputs) HWY_ATTR {
      TransformRows<F, outputs()>(columns, row_outputs, run, to);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::winograd
HWY_AFTER_NAMESPACE();

#endif  // the toggle of each instruction set
