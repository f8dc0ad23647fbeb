// Softmax, LogSoftmax and the two softmax cross entropies along the last axis. The row's maximum is
// subtracted first, so that exp does not overflow.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/position.h"
#include "estimator/kernels/reference/accumulate.h"

namespace estimator {
namespace {

// For a row x of `classes` logits: the maximum, and log(sum_c exp(x[c] - maximum)).
template <typename Acc>
struct LogSum {
  Acc maximum = 0;
  Acc log_sum = 0;
};

template <typename T, typename Acc = Accumulator<T>>
LogSum<Acc> LogSumOf(const T* x, int64_t classes) {
  Acc maximum = static_cast<Acc>(x[0]);
  for (int64_t c = 1; c < classes; ++c) maximum = std::max(maximum, static_cast<Acc>(x[c]));
  Acc sum = 0;
  for (int64_t c = 0; c < classes; ++c) sum += std::exp(static_cast<Acc>(x[c]) - maximum);
  return {maximum, std::log(sum)};
}

struct RowSizes {
  int64_t rows = 0;
  int64_t classes = 0;
};

RowSizes RowsOf(const Shape& shape) {
  const int64_t classes = shape.dim(-1);
  return {classes == 0 ? 0 : shape.num_elements() / classes, classes};
}

template <bool log>
KernelPlan MakeSoftmax(const KernelSpec& spec) {
  const RowSizes sizes = RowsOf(spec.inputs[0].shape);
  return VisitFloating(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    using Acc = Accumulator<T>;
    return MakeKernel(
        [sizes](const KernelArgs& args) {
          for (int64_t r = 0; r < sizes.rows; ++r) {
            const T* const x = args.in<T>(0) + r * sizes.classes;
            T* const out = args.out<T>(0) + r * sizes.classes;
            const LogSum<Acc> s = LogSumOf(x, sizes.classes);
            for (int64_t c = 0; c < sizes.classes; ++c) {
              // x may be overwritten here: LogSumOf has read the whole row, and each element is
              // read before it is written.
              const Acc value = static_cast<Acc>(x[c]) - s.maximum - s.log_sum;
              out[c] = static_cast<T>(log ? value : std::exp(value));
            }
          }
        },
        /*scratch_bytes=*/0, /*alias_input=*/0);
  });
}

// loss[r]       = sum_c labels[r,c] * -logsoftmax[r,c]
// backprop[r,c] = softmax[r,c] - labels[r,c]
// As in TensorFlow, backprop is the derivative only if a row of labels sums to 1.
KernelPlan MakeCrossEntropy(const KernelSpec& spec) {
  const RowSizes sizes = RowsOf(spec.inputs[0].shape);
  return VisitFloating(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    using Acc = Accumulator<T>;
    return MakeKernel([sizes](const KernelArgs& args) {
      for (int64_t r = 0; r < sizes.rows; ++r) {
        const T* const x = args.in<T>(0) + r * sizes.classes;
        const T* const labels = args.in<T>(1) + r * sizes.classes;
        T* const backprop = args.out<T>(1) + r * sizes.classes;
        const LogSum<Acc> s = LogSumOf(x, sizes.classes);
        Acc loss = 0;
        for (int64_t c = 0; c < sizes.classes; ++c) {
          const Acc value = static_cast<Acc>(x[c]) - s.maximum;
          const Acc label = static_cast<Acc>(labels[c]);
          // 0 * log(0) is 0: a class with weight 0 does not count.
          if (label != 0) loss += label * (s.log_sum - value);
          backprop[c] = static_cast<T>(std::exp(value - s.log_sum) - label);
        }
        args.out<T>(0)[r] = static_cast<T>(loss);
      }
    });
  });
}

// loss[r]       = -logsoftmax[r, label[r]]
// backprop[r,c] = softmax[r,c] - (c == label[r])
template <typename T, typename Label>
KernelPlan MakeSparse(const KernelSpec& spec) {
  using Acc = Accumulator<T>;
  const RowSizes sizes = RowsOf(spec.inputs[0].shape);
  return MakeKernel([sizes](const KernelArgs& args) {
    const Label* const labels = args.in<Label>(1);
    for (int64_t r = 0; r < sizes.rows; ++r) {
      const int64_t label = static_cast<int64_t>(labels[r]);
      if (label < 0 || label >= sizes.classes) {
        return InvalidArgument(PositionText("row ", r, sizes.rows, args.step), " has label ", label,
                               ", but there are ", sizes.classes,
                               " classes: labels must be in [0, ", sizes.classes, ")");
      }
      const T* const x = args.in<T>(0) + r * sizes.classes;
      T* const backprop = args.out<T>(1) + r * sizes.classes;
      const LogSum<Acc> s = LogSumOf(x, sizes.classes);
      for (int64_t c = 0; c < sizes.classes; ++c) {
        const Acc p = std::exp(static_cast<Acc>(x[c]) - s.maximum - s.log_sum);
        backprop[c] = static_cast<T>(c == label ? p - 1 : p);
      }
      args.out<T>(0)[r] = static_cast<T>(s.log_sum - (static_cast<Acc>(x[label]) - s.maximum));
    }
    return absl::OkStatus();
  });
}

KernelPlan MakeSparseCrossEntropy(const KernelSpec& spec) {
  return VisitFloating(spec.inputs[0].dtype, [&](auto tag) -> KernelPlan {
    using T = decltype(tag);
    if (spec.inputs[1].dtype == DType::kInt32) return MakeSparse<T, int32_t>(spec);
    if (spec.inputs[1].dtype == DType::kInt64) return MakeSparse<T, int64_t>(spec);
    return nullptr;
  });
}

EST_REGISTER_KERNEL("Softmax", KernelTier::kReference, MakeSoftmax<false>);
EST_REGISTER_KERNEL("LogSoftmax", KernelTier::kReference, MakeSoftmax<true>);
EST_REGISTER_KERNEL("SoftmaxCrossEntropyWithLogits", KernelTier::kReference, MakeCrossEntropy);
EST_REGISTER_KERNEL("SparseSoftmaxCrossEntropyWithLogits", KernelTier::kReference,
                    MakeSparseCrossEntropy);

}  // namespace
}  // namespace estimator
