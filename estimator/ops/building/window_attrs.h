// Converts the options of convolutions and pools to attributes. Only for ops.
#ifndef ESTIMATOR_OPS_BUILDING_WINDOW_ATTRS_H_
#define ESTIMATOR_OPS_BUILDING_WINDOW_ATTRS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/array/array.h"
#include "estimator/array/attrs.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/padding.h"

namespace estimator {

// Four numbers in NHWC order, from one number for both axes or from {rows, columns}. Other lengths
// are returned unchanged; the shape rule checks them.
inline std::vector<int64_t> PerAxis(const std::vector<int64_t>& values) {
  if (values.size() == 1) return {1, values[0], values[0], 1};
  if (values.size() == 2) return {1, values[0], values[1], 1};
  return values;
}

// The attributes strides, padding, explicit_paddings and data_format.
//   explicit_paddings: {top, bottom, left, right}; empty: `padding` applies.
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

// A shape in the form that TensorFlow's gradient ops take: a constant i32 vector.
inline Tensor ShapeInput(Graph& graph, const Shape& shape, absl::string_view name) {
  const std::vector<int32_t> dims(shape.dims().begin(), shape.dims().end());
  return ConstantIn(graph, Array::FromSpan<int32_t>({shape.rank()}, dims), name);
}

}  // namespace estimator

#endif  // ESTIMATOR_OPS_BUILDING_WINDOW_ATTRS_H_
