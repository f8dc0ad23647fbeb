#include "estimator/kernels/conv_block.h"

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/kernels/layout.h"

namespace estimator {

Attrs PoolAttrs(const Attrs& block) {
  return {{"ksize", block.ints("pool_ksize")},
          {"strides", block.ints("pool_strides")},
          {"padding", block.s("pool_padding")},
          // The geometry is that of NHWC, also if the images of the block are in blocks of
          // channels.
          {"data_format", std::string(kPlainFormat)}};
}

absl::StatusOr<ConvGeometry> ConvGeometryOf(const Attrs& attrs, const Shape& image,
                                            const Shape& filter, bool depthwise) {
  if (!IsBlocked(attrs)) return MakeConvGeometry(attrs, image, filter, depthwise);
  if (image.rank() != 5) {
    return InvalidArgument("an image in blocks must have 5 dimensions, given ", image.ToString());
  }
  Attrs plain = attrs;
  plain.Set("data_format", std::string(kPlainFormat));
  return MakeConvGeometry(plain, PlainShape(image), filter, depthwise);
}

absl::StatusOr<ConvBlock> MakeConvBlock(const Attrs& attrs, const Shape& image,
                                        const Shape& filter) {
  ConvBlock block;
  EST_ASSIGN_OR_RETURN(block.conv, ConvGeometryOf(attrs, image, filter));
  const Attrs pool = PoolAttrs(attrs);
  const std::vector<int64_t>& ksize = pool.ints("ksize");
  if (ksize.size() != 4 || ksize[0] != 1 || ksize[3] != 1) {
    return InvalidArgument("pool_ksize must have 4 numbers, of which the first and the last are 1");
  }
  EST_ASSIGN_OR_RETURN(block.pool, MakeWindow2D(pool, block.conv.output(), ksize[1], ksize[2]));
  // One value of the byte, taps(), stands for "relu is off".
  if (block.taps() > 255) {
    return Unimplemented("the pool has ", block.taps(), " taps, but argmax is a byte: at most 255");
  }
  return block;
}

}  // namespace estimator
