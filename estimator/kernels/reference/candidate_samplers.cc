// UniformCandidateSampler, LogUniformCandidateSampler: classes for the loss of a large vocabulary,
// with the number of times that each class, and each true one, is expected among them.
//
// A draw takes two numbers of the op's stream (random_stream.h). With `unique`, a class that was
// drawn before is left out.
// Source: TF 2.15 range_sampler.cc and candidate_sampler_ops.cc.
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_set>

#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/random_stream.h"

namespace estimator {
namespace {

// P(k) = 1 / range
class UniformClasses {
 public:
  explicit UniformClasses(int64_t range) : range_(static_cast<uint64_t>(range)) {}

  int64_t Draw(PhiloxNumbers& numbers) const {
    const bool power_of_two = (range_ & (range_ - 1)) == 0;
    // Below it, numbers would prefer small classes.
    const uint64_t first = power_of_two ? 0 : ~uint64_t{0} % range_ + 1;
    uint64_t x = 0;
    do {
      const uint64_t low = numbers.Next();
      x = low | uint64_t{numbers.Next()} << 32;
    } while (x < first);
    return static_cast<int64_t>(x % range_);
  }
  float Probability(int64_t) const { return static_cast<float>(1.0 / static_cast<double>(range_)); }

 private:
  uint64_t range_;
};

// P(k) = (log(k + 2) - log(k + 1)) / log(range + 1), for classes in the order of their frequency.
class LogUniformClasses {
 public:
  explicit LogUniformClasses(int64_t range)
      : range_(range), log_range_(std::log1p(static_cast<double>(range))) {}

  int64_t Draw(PhiloxNumbers& numbers) const {
    const uint32_t first = numbers.Next();
    const double x = UniformDouble(first, numbers.Next());
    // Rounding may give the range itself.
    return (static_cast<int64_t>(std::exp(x * log_range_)) - 1) % range_;
  }
  float Probability(int64_t k) const {
    const auto x = static_cast<double>(k);
    return static_cast<float>(std::log((x + 2.0) / (x + 1.0)) / log_range_);
  }

 private:
  int64_t range_;
  double log_range_;
};

// In float32, as TensorFlow.
float ExpectedCount(float probability, int64_t samples, int64_t tries) {
  if (tries == samples) return probability * static_cast<float>(samples);
  return -std::expm1(static_cast<float>(tries) * std::log1p(-probability));
}

constexpr int64_t kMaxTries = std::numeric_limits<int32_t>::max();  // as TensorFlow

template <typename Classes>
KernelPlan SamplerKernel(const KernelSpec& spec) {
  return MakeKernel([classes = Classes(spec.attrs.i("range_max")), unique = spec.attrs.b("unique"),
                     samples = spec.attrs.i("num_sampled"),
                     true_classes = spec.inputs[0].shape.num_elements(),
                     stream = RandomStream(spec)](const KernelArgs& args) -> absl::Status {
    PhiloxNumbers numbers(
        stream.At(args.step, static_cast<uint64_t>(samples) * 2 * kReservedPerNumber));
    auto* const drawn = args.out<int64_t>(0);
    std::unordered_set<int64_t> seen;
    int64_t tries = 0;
    for (int64_t i = 0; i < samples; ++tries) {
      if (tries > kMaxTries)
        return InvalidArgument("drew ", tries, " times and found only ", i, " different classes");
      const int64_t k = classes.Draw(numbers);
      if (!unique || seen.insert(k).second) drawn[i++] = k;
    }
    const auto count = [&](const int64_t* of, int64_t size, float* out) {
      for (int64_t i = 0; i < size; ++i)
        out[i] = ExpectedCount(classes.Probability(of[i]), samples, tries);
    };
    count(args.in<int64_t>(0), true_classes, args.out<float>(1));
    count(drawn, samples, args.out<float>(2));
    return absl::OkStatus();
  });
}

EST_REGISTER_KERNEL("UniformCandidateSampler", KernelTier::kReference,
                    SamplerKernel<UniformClasses>);
EST_REGISTER_KERNEL("LogUniformCandidateSampler", KernelTier::kReference,
                    SamplerKernel<LogUniformClasses>);

}  // namespace
}  // namespace estimator
