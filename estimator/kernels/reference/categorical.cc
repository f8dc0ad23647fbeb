// Multinomial: draws a class for every sample of a row, by the cumulative sums of exp(logits -
// max).
//
// A sample takes two numbers of the op's stream (random_stream.h); the rows follow one another.
// Step s begins s * reservation results into the stream.
// Source: TF 2.15 multinomial_op.cc on one thread, and its GuardedPhiloxRandom.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "estimator/base/random.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/reference/loops.h"
#include "estimator/kernels/reference/random_stream.h"

namespace estimator {
namespace {

struct CategoricalSizes {
  int64_t rows, classes, samples;

  // A sample takes two numbers. The samples of a row are rounded up to a whole Philox result.
  uint64_t Reservation() const {
    return static_cast<uint64_t>(rows) * static_cast<uint64_t>((samples + 3) / 4 * 4) * 2 *
           kReservedPerNumber;
  }
};

// A double in [0, 1), made from the next two numbers.
double NextDouble(PhiloxNumbers& numbers) {
  const uint32_t first = numbers.Next();
  return UniformDouble(first, numbers.Next());
}

// The cumulative sums of a row's weights; a logit that is not finite adds nothing. Returns the
// total.
template <typename T>
double SumUp(const T* logits, int64_t classes, double* sums) {
  auto largest = static_cast<double>(std::numeric_limits<Compute<T>>::lowest());
  for (int64_t i = 0; i < classes; ++i) {
    const auto x = static_cast<double>(static_cast<Compute<T>>(logits[i]));
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  double total = 0;
  for (int64_t i = 0; i < classes; ++i) {
    const auto x = static_cast<double>(static_cast<Compute<T>>(logits[i]));
    if (std::isfinite(x)) total += std::exp(x - largest);
    sums[i] = total;
  }
  return total;
}

template <typename T, typename Index>
KernelPlan MultinomialKernel(const KernelSpec& spec) {
  const CategoricalSizes sizes = {.rows = spec.inputs[0].shape.dim(0),
                                  .classes = spec.inputs[0].shape.dim(1),
                                  .samples = spec.outputs[0].shape.dim(1)};
  return MakeKernel(
      [sizes, stream = RandomStream(spec)](const KernelArgs& args) {
        PhiloxNumbers numbers(stream.At(args.step, sizes.Reservation()));
        auto* const sums = static_cast<double*>(args.scratch);
        for (int64_t row = 0; row < sizes.rows; ++row) {
          const double total = SumUp(args.in<T>(0) + row * sizes.classes, sizes.classes, sums);
          for (int64_t i = 0; i < sizes.samples; ++i) {
            // The class is the first one whose cumulative sum is larger than a uniform number.
            const double at = NextDouble(numbers) * total;
            args.out<Index>(0)[row * sizes.samples + i] =
                static_cast<Index>(std::upper_bound(sums, sums + sizes.classes, at) - sums);
          }
        }
      },
      static_cast<size_t>(sizes.classes) * sizeof(double));
}

EST_REGISTER_KERNEL("Multinomial", KernelTier::kReference, [](const KernelSpec& spec) {
  return VisitFloating(spec.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    return spec.outputs[0].dtype == DType::kInt64 ? MultinomialKernel<T, int64_t>(spec)
                                                  : MultinomialKernel<T, int32_t>(spec);
  });
});

}  // namespace
}  // namespace estimator
