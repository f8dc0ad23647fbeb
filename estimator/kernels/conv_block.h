// Convolution blocks: a convolution with bias, relu and max pool in one op, and its gradients, so
// that the full-size activation is never written.
//   _FusedConv2DMaxPool: x [N,H,W,C], filter [KH,KW,C,K], bias [K] -> y, argmax u8, both [N,P,Q,K]
//     y = maxpool(relu(conv(x, filter) + bias)). argmax is the tap r * ksize_w + s of the first
//     maximum in the window, or ksize_h * ksize_w where relu is off (not y > 0).
//   _Conv2DMaxPoolBackpropFilter: x, dy [N,P,Q,K], argmax -> dfilter [KH,KW,C,K], dbias [K]
//   _Conv2DMaxPoolBackpropInput: filter, dy, argmax -> dx [N,H,W,C]
// Attributes: those of Conv2D; pool_ksize, pool_strides and pool_padding, as ksize, strides and
// padding of MaxPool; fused_ops, which is {"BiasAdd", "Relu"}. In blocks (kernels/layout.h) x, y,
// argmax, dy and dx are blocked.
//   _FusedConv2DBackpropFilter: x, dy [N,OH,OW,K] -> dfilter, dbias. Attributes: those of Conv2D.
//     Conv2DBackpropFilter and BiasAddGrad of one dy.
#ifndef ESTIMATOR_KERNELS_CONV_BLOCK_H_
#define ESTIMATOR_KERNELS_CONV_BLOCK_H_

#include "absl/status/statusor.h"
#include "estimator/array/attrs.h"
#include "estimator/array/shape.h"
#include "estimator/kernels/window.h"

namespace estimator {

// The geometry of a block, in NHWC. The pool's input is the convolution's output.
struct ConvBlock {
  ConvGeometry conv;
  Window2D pool;

  // The value of argmax where no gradient flows.
  int64_t taps() const { return pool.rows.kernel * pool.columns.kernel; }
  Shape output() const {
    return {conv.batch, pool.rows.output, pool.columns.output, conv.out_channels};
  }
};

// The attributes of the block's MaxPool: ksize, strides, padding, data_format NHWC.
Attrs PoolAttrs(const Attrs& block);

// The geometry of a convolution, or of that of a block.
//   image: [N,H,W,C], or blocked, if data_format says so.  filter: [KH,KW,C,K].
// Errors: as MakeConvGeometry.
absl::StatusOr<ConvGeometry> ConvGeometryOf(const Attrs& attrs, const Shape& image,
                                            const Shape& filter, bool depthwise = false);

//   image, filter: as for ConvGeometryOf.
// Errors: as ConvGeometryOf and MakeWindow2D; UNIMPLEMENTED for a window of more than 255 taps,
// because argmax is a byte.
absl::StatusOr<ConvBlock> MakeConvBlock(const Attrs& attrs, const Shape& image,
                                        const Shape& filter);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_CONV_BLOCK_H_
