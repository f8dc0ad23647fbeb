// Fetches the images of a thread's next block into the L2 cache while it multiplies the points of
// the present one. The products wait for no memory, and the transforms wait for little else.
// Internal to winograd.
#ifndef ESTIMATOR_KERNELS_WINOGRAD_IMAGE_PREFETCH_H_
#define ESTIMATOR_KERNELS_WINOGRAD_IMAGE_PREFETCH_H_

#include <algorithm>
#include <cstdint>

#include "estimator/kernels/winograd/blocks.h"
#include "estimator/kernels/winograd/winograd.h"

namespace estimator::winograd {

class ImagePrefetch {
 public:
  // Adds the pixels that block `number` reads: of each tile, the rows of its outputs, rows_before
  // rows above them and rows_after below.
  //   rows, channels: of the image (for a pooled source, of the image before pooling).
  void Add(const Tiling& tiling, int64_t number, const Source& source, int64_t rows,
           int64_t channels, int64_t rows_before, int64_t rows_after) {
    const int64_t tiles_of_row = tiling.columns.tiles();
    const int64_t first = number * tiling.block_size / tiles_of_row;
    const int64_t last =
        (std::min((number + 1) * tiling.block_size, tiling.tiles()) - 1) / tiles_of_row;
    const int64_t shrink = source.argmax != nullptr ? 2 : 1;
    for (int64_t image = first / tiling.rows.tiles(); image <= last / tiling.rows.tiles();
         ++image) {
      int64_t begin = 0, end = rows;
      if (image == first / tiling.rows.tiles())
        begin = first % tiling.rows.tiles() * tiling.rows.outputs - rows_before;
      if (image == last / tiling.rows.tiles())
        end = (last % tiling.rows.tiles() + 1) * tiling.rows.outputs + rows_after;
      begin = std::clamp<int64_t>(begin, 0, rows) / shrink;
      end = (std::clamp<int64_t>(end, 0, rows) + shrink - 1) / shrink;
      // In NHWC rows are contiguous with all channels, in blocks those of 16 channels are.
      const int64_t parts = source.strides.block == 16 ? 1 : channels / 16;
      for (int64_t part = 0; part < parts; ++part) {
        const int64_t at = source.strides.Offset(image, begin, 0, part * 16);
        const int64_t count = (end - begin) * source.strides.row;
        AddBytes(source.data + at, count * static_cast<int64_t>(sizeof(float)));
        if (source.argmax != nullptr) AddBytes(source.argmax + at, count);
      }
    }
  }

  // Divides the memory over this many calls of Fetch.
  void Spread(int64_t calls) {
    int64_t lines = 0;
    for (int s = 0; s < num_segments_; ++s) lines += segments_[s].lines;
    lines_per_call_ = (lines + calls - 1) / calls;
  }

  void Fetch() {
    for (int64_t i = 0; i < lines_per_call_ && segment_ < num_segments_; ++i) {
      __builtin_prefetch(segments_[segment_].data + line_ * kLineBytes, 0, 2);
      if (++line_ < segments_[segment_].lines) continue;
      ++segment_;
      line_ = 0;
    }
  }

 private:
  static constexpr int64_t kLineBytes = 64;
  static constexpr int kMostSegments = 64;  // what is beyond them is not fetched

  struct Segment {
    const char* data;
    int64_t lines;
  };

  void AddBytes(const void* data, int64_t bytes) {
    if (num_segments_ == kMostSegments || bytes <= 0) return;
    segments_[num_segments_++] = {static_cast<const char*>(data),
                                  (bytes + kLineBytes - 1) / kLineBytes};
  }

  Segment segments_[kMostSegments];
  int num_segments_ = 0;
  int segment_ = 0;  // the next line to fetch
  int64_t line_ = 0;
  int64_t lines_per_call_ = 0;
};

}  // namespace estimator::winograd

#endif  // ESTIMATOR_KERNELS_WINOGRAD_IMAGE_PREFETCH_H_
