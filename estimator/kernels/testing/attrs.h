// For tests: the attributes of convolutions and pools of images [batch, rows, columns, channels].
#ifndef ESTIMATOR_KERNELS_TESTING_ATTRS_H_
#define ESTIMATOR_KERNELS_TESTING_ATTRS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/array/attrs.h"

namespace estimator {

//   explicit_paddings: is used if `padding` is EXPLICIT.
inline Attrs ConvAttrs(int64_t stride = 1, const std::string& padding = "SAME",
                       int64_t dilation = 1,
                       const std::vector<int64_t>& explicit_paddings = {0, 0, 2, 1, 0, 3, 0, 0}) {
  return {{"strides", std::vector<int64_t>{1, stride, stride, 1}},
          {"dilations", std::vector<int64_t>{1, dilation, dilation, 1}},
          {"padding", padding},
          {"explicit_paddings", padding == "EXPLICIT" ? explicit_paddings : std::vector<int64_t>()},
          {"data_format", std::string("NHWC")}};
}

inline Attrs PoolWindow(int64_t size = 2, int64_t stride = 2, const std::string& padding = "SAME") {
  return {{"ksize", std::vector<int64_t>{1, size, size, 1}},
          {"strides", std::vector<int64_t>{1, stride, stride, 1}},
          {"padding", padding},
          {"data_format", std::string("NHWC")}};
}

// Those of an op that computes the convolution, bias, relu and a pool.
inline Attrs WithPool(Attrs attrs, const std::string& padding = "SAME", int64_t size = 2,
                      int64_t stride = 2) {
  attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd", "Relu"});
  attrs.Set("pool_ksize", std::vector<int64_t>{1, size, size, 1});
  attrs.Set("pool_strides", std::vector<int64_t>{1, stride, stride, 1});
  attrs.Set("pool_padding", padding);
  return attrs;
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_TESTING_ATTRS_H_
