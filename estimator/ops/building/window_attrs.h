// Attributes of convolutions and pools, from options. Inside ops only.
#ifndef ESTIMATOR_OPS_BUILDING_WINDOW_ATTRS_H_
#define ESTIMATOR_OPS_BUILDING_WINDOW_ATTRS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "estimator/array/attrs.h"
#include "estimator/ops/padding.h"

namespace estimator {

// NHWC from one number for both axes, from {rows, columns}, or as it is (the shape rule checks it).
inline std::vector<int64_t> PerAxis(const std::vector<int64_t>& values) {
  if (values.size() == 1) return {1, values[0], values[0], 1};
  if (values.size() == 2) return {1, values[0], values[1], 1};
  return values;
}

// strides, padding, explicit_paddings and data_format.
//   explicit_paddings: {top, bottom, left, right}, or none for `padding`.
inline Attrs WindowAttrs(const std::vector<int64_t>& strides, Padding padding,
                         const std::vector<int64_t>& explicit_paddings) {
  Attrs attrs{{"strides", PerAxis(strides)}, {"data_format", std::string("NHWC")}};
  if (explicit_paddings.empty()) {
    attrs.Set("padding", PaddingName(padding));
    attrs.Set("explicit_paddings", std::vector<int64_t>());
    return attrs;
  }
  std::vector<int64_t> all = explicit_paddings;
  if (all.size() == 4) all = {0, 0, all[0], all[1], all[2], all[3], 0, 0};
  attrs.Set("padding", std::string("EXPLICIT"));
  attrs.Set("explicit_paddings", std::move(all));
  return attrs;
}

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BUILDING_WINDOW_ATTRS_H_
