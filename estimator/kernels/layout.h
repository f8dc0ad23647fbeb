// Channel-blocked activations: a second way to store [N,H,W,C], which convolutions like better.
//
// In blocks of B channels [N,H,W,C] is stored as the dense tensor [N, C/B, H, W, B]; its
// data_format is "NCHW_VECT_C", TensorFlow's name for it. B divides C; with B = 1 it is NCHW. An op
// in this format has blocked tensors where it would have NHWC ones of rank 4; filters, biases and
// per-channel statistics stay as they are. Element-wise ops do not tell the difference.
#ifndef ESTIMATOR_KERNELS_LAYOUT_H_
#define ESTIMATOR_KERNELS_LAYOUT_H_

#include <cstdint>

#include "estimator/array/attrs.h"
#include "estimator/array/shape.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

inline constexpr char kPlainFormat[] = "NHWC";
inline constexpr char kBlockedFormat[] = "NCHW_VECT_C";
// Copies a tensor of either format to the other; attribute `to`: one of the two formats. The block
// is read off the shapes. Any dtype but strings.
inline constexpr char kReorderOp[] = "_Reorder";

// REQUIRES: rank 4, and `block` divides the channels.
Shape BlockedShape(const Shape& plain, int64_t block);
// REQUIRES: rank 5.
Shape PlainShape(const Shape& blocked);
bool IsBlocked(const Attrs& attrs);

// For ops that treat every channel alone (pools): the blocked spec as an NHWC one in which every
// (image, block) is an image of B channels. A spec that is not blocked is returned as it is.
KernelSpec BlocksAsImages(KernelSpec spec);

// For ops that need to know which channel an element is of. The tensor consists of
// images * blocks planes of `rows` rows of `width` elements; row r of any plane of block b holds
// channels [b * width, (b + 1) * width). NHWC is a single plane.
struct ChannelPlanes {
  int64_t images = 1;
  int64_t blocks = 1;
  int64_t rows = 0;
  int64_t width = 0;

  int64_t planes() const { return images * blocks; }
  int64_t channels() const { return blocks * width; }
  int64_t plane_size() const { return rows * width; }
  int64_t count() const { return images * rows; }  // elements of a channel
  int64_t first_channel(int64_t plane) const { return plane % blocks * width; }
};
// `blocked`: the op's format is kBlockedFormat and x has rank 5; else the last axis is the channel.
ChannelPlanes PlanesOf(const Shape& x, bool blocked);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_LAYOUT_H_
