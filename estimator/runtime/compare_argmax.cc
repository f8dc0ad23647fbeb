#include "estimator/runtime/compare_argmax.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/kernels/conv_block.h"
#include "estimator/kernels/layout.h"

namespace estimator::ir {
namespace {

absl::StatusOr<Array> RunOne(const KernelSpec& spec, const std::string& op, const Attrs& attrs,
                             const std::vector<Array>& inputs, const TensorSpec& output) {
  const KernelSpec one{.op = op, .name = spec.name, .attrs = attrs, .outputs = {output}};
  EST_ASSIGN_OR_RETURN(std::vector<Array> outputs, RunReferenceKernel(one, inputs));
  return outputs[0];
}

absl::StatusOr<Array> InNhwc(const KernelSpec& spec, const Array& array) {
  if (!IsBlocked(spec.attrs)) return array;
  return RunOne(spec, kReorderOp, {{"to", std::string(kPlainFormat)}}, {array},
                {array.dtype(), PlainShape(array.shape())});
}

// The reference kernel of a convolution takes one type. Operands in bf16 may have a result in f32.
Array InFloat32(const Array& array) {
  return array.dtype() == DType::kFloat32 ? array : array.Cast(DType::kFloat32);
}

// The activation before the pool, [N,OH,OW,K].
absl::StatusOr<Array> Activation(const KernelSpec& spec, const ConvBlock& block,
                                 const std::vector<Array>& inputs) {
  Attrs attrs = spec.attrs;
  attrs.Set("data_format", std::string(kPlainFormat));
  const TensorSpec full{DType::kFloat32, block.conv.output()};
  EST_ASSIGN_OR_RETURN(const Array x, InNhwc(spec, inputs[0]));
  EST_ASSIGN_OR_RETURN(const Array sum,
                       RunOne(spec, "Conv2D", attrs, {InFloat32(x), InFloat32(inputs[1])}, full));
  EST_ASSIGN_OR_RETURN(const Array biased,
                       RunOne(spec, "BiasAdd", {}, {sum, InFloat32(inputs[2])}, full));
  return RunOne(spec, "Relu", {}, {biased}, full);
}

}  // namespace

absl::Status CheckArgmax(const KernelSpec& spec, const std::vector<Array>& inputs,
                         const std::vector<Array>& outputs,
                         const std::function<Tolerance(const Array& expected)>& tolerance_for) {
  EST_ASSIGN_OR_RETURN(const ConvBlock block,
                       MakeConvBlock(spec.attrs, spec.inputs[0].shape, spec.inputs[1].shape));
  EST_ASSIGN_OR_RETURN(const Array full, Activation(spec, block, inputs));
  EST_ASSIGN_OR_RETURN(const Array places, InNhwc(spec, outputs[1]));
  const Tolerance tolerance = tolerance_for(full);
  const Window &rows = block.pool.rows, &columns = block.pool.columns;
  const int64_t channels = block.conv.out_channels;
  const uint8_t* place = places.data<uint8_t>();
  for (int64_t n = 0; n < block.conv.batch; ++n) {
    for (int64_t p = 0; p < rows.output; ++p) {
      for (int64_t q = 0; q < columns.output; ++q) {
        for (int64_t c = 0; c < channels; ++c, ++place) {
          // taps() names no element: all activations of the window are 0, and no gradient flows.
          float maximum = 0, named = *place == block.taps() ? 0.0f : -1.0f;
          for (int64_t r = rows.FirstTap(p); r < rows.EndTap(p); ++r) {
            for (int64_t s = columns.FirstTap(q); s < columns.EndTap(q); ++s) {
              const int64_t pixel =
                  (n * rows.input + rows.Input(p, r)) * columns.input + columns.Input(q, s);
              const float value = full.data<float>()[pixel * channels + c];
              maximum = std::max(maximum, value);
              if (r * columns.kernel + s == *place) named = value;
            }
          }
          if (named >= 0 && maximum - named <= tolerance.absolute + tolerance.relative * maximum)
            continue;
          if (!std::isfinite(maximum)) continue;  // the check of output 0 reports it
          return absl::InternalError(
              absl::StrCat("output 1 of ", spec.op, " differs from the reference kernel: at [", n,
                           ",", p, ",", q, ",", c, "] tap ", *place,
                           named < 0 ? std::string(" is not in the window")
                                     : absl::StrCat(" has the activation ", named),
                           ", and the maximum is ", maximum));
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace estimator::ir
