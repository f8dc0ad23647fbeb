#include "estimator/kernels/layout.h"

#include "glog/logging.h"

namespace estimator {

Shape BlockedShape(const Shape& plain, int64_t block) {
  CHECK(plain.rank() == 4 && plain[3] % block == 0)
      << plain.ToString() << " in blocks of " << block;
  return {plain[0], plain[3] / block, plain[1], plain[2], block};
}

Shape PlainShape(const Shape& blocked) {
  CHECK_EQ(blocked.rank(), 5) << blocked.ToString();
  return {blocked[0], blocked[2], blocked[3], blocked[1] * blocked[4]};
}

bool IsBlocked(const Attrs& attrs) {
  return attrs.has("data_format") && attrs.s("data_format") == kBlockedFormat;
}

KernelSpec BlocksAsImages(KernelSpec spec) {
  if (!IsBlocked(spec.attrs)) return spec;
  const auto merge = [](Shape& s) {
    // Of the operands only images have rank 5; an operand that is a shape stays as it is.
    if (s.rank() == 5) s = {s[0] * s[1], s[2], s[3], s[4]};
  };
  for (TensorSpec& input : spec.inputs) merge(input.shape);
  for (TensorSpec& output : spec.outputs) merge(output.shape);
  if (spec.attrs.has("input_shape")) {
    Shape input(spec.attrs.ints("input_shape"));
    merge(input);
    spec.attrs.Set("input_shape", input.dims());
  }
  spec.attrs.Set("data_format", kPlainFormat);
  // A constant may be the shape of a blocked tensor (AvgPoolGrad), which the spec does not have any
  // more.
  spec.constants.clear();
  return spec;
}

ChannelPlanes PlanesOf(const Shape& x, bool blocked) {
  if (blocked && x.rank() == 5)
    return {.images = x[0], .blocks = x[1], .rows = x[2] * x[3], .width = x[4]};
  const int64_t width = x[-1];
  // Without channels there are no elements to divide among the rows.
  return {.rows = width == 0 ? 0 : x.num_elements() / width, .width = width};
}

}  // namespace estimator
