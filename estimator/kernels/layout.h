// Channel-blocked activations: a second layout of [N,H,W,C], in which convolutions are faster.
//
// In blocks of B channels, [N,H,W,C] is stored as the dense tensor [N, C/B, H, W, B]. The
// data_format is "NCHW_VECT_C", TensorFlow's name for this layout. B divides C; B = 1 is NCHW. The
// images of an op in this format are blocked; its filters, biases and per-channel statistics are
// not. Element-wise ops work the same on both layouts.
#ifndef ESTIMATOR_KERNELS_LAYOUT_H_
#define ESTIMATOR_KERNELS_LAYOUT_H_

#include <cstdint>

#include "estimator/array/attrs.h"
#include "estimator/array/shape.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

inline constexpr char kPlainFormat[] = "NHWC";
inline constexpr char kBlockedFormat[] = "NCHW_VECT_C";
// The op that copies a tensor from one format to the other. Its attribute `to` is one of the two
// formats; the shapes give the block size. Any dtype but strings.
inline constexpr char kReorderOp[] = "_Reorder";

// REQUIRES: rank 4, and `block` divides the channels.
Shape BlockedShape(const Shape& plain, int64_t block);
// REQUIRES: rank 5.
Shape PlainShape(const Shape& blocked);
bool IsBlocked(const Attrs& attrs);

// For ops that treat every channel by itself (pools): converts a blocked spec to an NHWC one, in
// which every (image, block) is an image of B channels. Returns other specs unchanged.
KernelSpec BlocksAsImages(KernelSpec spec);

// For ops that need the channel of an element. The tensor is images * blocks planes, each with
// `rows` rows of `width` elements. A row of a plane of block b has the channels
// [b * width, (b + 1) * width). NHWC is a single plane.
struct ChannelPlanes {
  int64_t images = 1;
  int64_t blocks = 1;
  int64_t rows = 0;
  int64_t width = 0;

  int64_t planes() const { return images * blocks; }
  int64_t channels() const { return blocks * width; }
  int64_t plane_size() const { return rows * width; }
  int64_t count() const { return images * rows; }  // the number of elements of a channel
  int64_t first_channel(int64_t plane) const { return plane % blocks * width; }
};
//   blocked: the op's format is kBlockedFormat and x has rank 5. Otherwise the last axis is the
//   channel.
ChannelPlanes PlanesOf(const Shape& x, bool blocked);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_LAYOUT_H_
