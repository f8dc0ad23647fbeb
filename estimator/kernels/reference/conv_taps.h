// What the reference kernels of convolutions and pools share: the loop over the taps of windows,
// and the factory of convolutions.
#ifndef ESTIMATOR_KERNELS_REFERENCE_CONV_TAPS_H_
#define ESTIMATOR_KERNELS_REFERENCE_CONV_TAPS_H_

#include <cstdint>
#include <optional>

#include "estimator/kernels/conv_spec.h"
#include "estimator/kernels/window.h"

namespace estimator {

// Calls fn(output_offset, input_offset, tap) for every output and every tap of image n that is not
// padding, ordered by output, then by tap. Offsets count the pixels of the batch; tap = r * S + s.
//   g: has the windows `rows` and `columns`.
template <typename Windows, typename Fn>
void ForEachTap(const Windows& g, int64_t n, Fn&& fn) {
  for (int64_t p = 0; p < g.rows.output; ++p) {
    for (int64_t q = 0; q < g.columns.output; ++q) {
      const int64_t output = (n * g.rows.output + p) * g.columns.output + q;
      for (int64_t r = g.rows.FirstTap(p); r < g.rows.EndTap(p); ++r) {
        const int64_t row = (n * g.rows.input + g.rows.Input(p, r)) * g.columns.input;
        for (int64_t s = g.columns.FirstTap(q); s < g.columns.EndTap(q); ++s) {
          fn(output, row + g.columns.Input(q, s), r * g.columns.kernel + s);
        }
      }
    }
  }
}

// A factory of ConvSpecs as one of KernelSpecs. These loops know only NHWC.
template <KernelPlan (*kMake)(const ConvSpec&)>
KernelPlan FromNhwcConvSpec(const KernelSpec& spec) {
  const std::optional<ConvSpec> conv = ConvSpecOf(spec);
  return conv.has_value() && !conv->blocked ? kMake(*conv) : nullptr;
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_CONV_TAPS_H_
