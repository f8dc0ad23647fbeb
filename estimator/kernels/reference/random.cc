// RandomUniform, RandomUniformInt, RandomStandardNormal, TruncatedNormal, RandomShuffle.
//
// One Philox result of the op's stream (random_stream.h) gives a group of numbers; for
// TruncatedNormal a group has a reserved run of results. So any group can be computed by itself, in
// parallel. Step s begins s * 256 * num_elements results into the stream: TensorFlow reserves as
// many for each run.
// Source: TF 2.15 random_op_cpu.h (FillPhiloxRandom), random_distributions.h.
#include "estimator/base/random.h"

#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/reference/loops.h"
#include "estimator/kernels/reference/random_stream.h"

namespace estimator {
namespace {

// The random stream of an op that fills its output.
class Source {
 public:
  explicit Source(const KernelSpec& spec)
      : stream_(spec), num_elements_(spec.outputs[0].shape.num_elements()) {}

  int64_t num_elements() const { return num_elements_; }
  Philox At(const StepContext& step) const {
    return stream_.At(step, kReservedPerNumber * static_cast<uint64_t>(num_elements_));
  }

 private:
  const RandomStream stream_;
  const int64_t num_elements_;
};

// Fills the output with groups of kSize numbers. make(base, g) computes group g.
template <typename T, size_t kSize, typename Make>
void FillGroups(const Source& source, const KernelArgs& args, Make make) {
  const Philox base = source.At(args.step);
  T* const out = args.out<T>(0);
  const int64_t n = source.num_elements();
  constexpr auto kStride = static_cast<int64_t>(kSize);
  const int64_t num_groups = (n + kStride - 1) / kStride;
#pragma omp parallel for if (num_groups > 4096)
  for (int64_t g = 0; g < num_groups; ++g) {
    const auto group = make(base, static_cast<uint64_t>(g));
    for (int64_t i = 0; i < kStride && g * kStride + i < n; ++i) {
      out[g * kStride + i] = static_cast<T>(group[static_cast<size_t>(i)]);
    }
  }
}

Philox::Result ResultAt(Philox philox, uint64_t index) {
  philox.Skip(index);
  return philox.Next4();
}

// A 16-bit float takes as many low bits as it has mantissa bits. They make a number in [1, 2); less
// 1.
template <typename T>
T UniformHalf(uint32_t x) {
  T number;
  if constexpr (std::is_same_v<T, Bfloat16>)
    number.bits = static_cast<uint16_t>(127u << 7 | (x & 0x7fu));
  else
    number.bits = static_cast<uint16_t>(15u << 10 | (x & 0x3ffu));
  return T(static_cast<float>(number) - 1.0f);
}

std::array<double, 2> NormalDoubles(const Philox::Result& x) {
  // The logarithm of 0 is infinite. TensorFlow has the same limit (random_distributions.h,
  // BoxMullerDouble).
  const double u1 = std::fmax(UniformDouble(x[0], x[1]), 1.0e-7);
  const double v1 = 2.0 * std::numbers::pi * UniformDouble(x[2], x[3]);
  const double u2 = std::sqrt(-2.0 * std::log(u1));
  return {std::sin(v1) * u2, std::cos(v1) * u2};
}

// A group of two numbers, from the 128 results that are reserved for it.
std::array<double, 2> TruncatedNormalDoubles(Philox philox, uint64_t group) {
  philox.Skip(group * 2 * kReservedPerNumber / 4);
  std::array<double, 2> kept{};
  size_t num_kept = 0;
  while (true) {
    for (const double x : NormalDoubles(philox.Next4())) {
      // Rejected numbers use up results, so a group has a reserve of its own: otherwise later
      // groups would depend on it.
      if (!(std::abs(x) < 2.0)) continue;
      kept[num_kept++] = x;
      if (num_kept == kept.size()) return kept;
    }
  }
}

template <typename T>
void FillUniform(const Source& source, const KernelArgs& args) {
  if constexpr (std::is_same_v<T, double>) {
    FillGroups<T, 2>(source, args, [](const Philox& base, uint64_t g) {
      const Philox::Result x = ResultAt(base, g);
      return std::array<double, 2>{UniformDouble(x[0], x[1]), UniformDouble(x[2], x[3])};
    });
  } else {
    FillGroups<T, 4>(source, args, [](const Philox& base, uint64_t g) {
      const Philox::Result x = ResultAt(base, g);
      std::array<T, 4> group;
      for (size_t i = 0; i < 4; ++i) {
        if constexpr (kIsHalf<T>)
          group[i] = UniformHalf<T>(x[i]);
        else
          group[i] = UniformFloat(x[i]);
      }
      return group;
    });
  }
}

template <typename T>
void FillNormal(const Source& source, const KernelArgs& args) {
  if constexpr (std::is_same_v<T, double>) {
    FillGroups<T, 2>(source, args, [](const Philox& base, uint64_t g) {
      return NormalDoubles(ResultAt(base, g));
    });
  } else {
    FillGroups<T, 4>(source, args,
                     [](const Philox& base, uint64_t g) { return Normal4(ResultAt(base, g)); });
  }
}

template <typename T>
void FillTruncatedNormal(const Source& source, const KernelArgs& args) {
  if constexpr (std::is_same_v<T, double>) {
    FillGroups<T, 2>(source, args, TruncatedNormalDoubles);
  } else {
    FillGroups<T, 4>(source, args, TruncatedNormal4);
  }
}

// A factory that calls fill(T{}, source, args) for the floating dtypes.
template <typename Fill>
KernelFactory FloatingFactory(Fill fill) {
  return [fill](const KernelSpec& spec) {
    return VisitFloating(spec.outputs[0].dtype, [&](auto tag) {
      return MakeKernel(
          [source = Source(spec), fill, tag](const KernelArgs& args) { fill(tag, source, args); });
    });
  };
}

EST_REGISTER_KERNEL("RandomUniform", KernelTier::kReference,
                    FloatingFactory([](auto tag, const auto& source, const auto& args) {
                      FillUniform<decltype(tag)>(source, args);
                    }));
EST_REGISTER_KERNEL("RandomStandardNormal", KernelTier::kReference,
                    FloatingFactory([](auto tag, const auto& source, const auto& args) {
                      FillNormal<decltype(tag)>(source, args);
                    }));
EST_REGISTER_KERNEL("TruncatedNormal", KernelTier::kReference,
                    FloatingFactory([](auto tag, const auto& source, const auto& args) {
                      FillTruncatedNormal<decltype(tag)>(source, args);
                    }));

// low + x mod (high - low), in unsigned arithmetic. As in TensorFlow, it is slightly uneven for
// large ranges.
template <typename T, size_t kSize>
KernelPlan UniformIntKernel(const KernelSpec& spec) {
  return MakeKernel([source = Source(spec)](const KernelArgs& args) {
    using Unsigned = std::make_unsigned_t<T>;
    const T low = *args.in<T>(1), high = *args.in<T>(2);
    if (low >= high) {
      return InvalidArgument("minval must be less than maxval, got ", low, " and ", high);
    }
    const Unsigned range = static_cast<Unsigned>(high) - static_cast<Unsigned>(low);
    FillGroups<T, kSize>(source, args, [low, range](const Philox& base, uint64_t g) {
      const Philox::Result x = ResultAt(base, g);
      std::array<T, kSize> group;
      for (size_t i = 0; i < kSize; ++i) {
        Unsigned bits;
        if constexpr (kSize == 4)
          bits = x[i];
        else
          bits = x[2 * i] | static_cast<Unsigned>(x[2 * i + 1]) << 32;
        group[i] = static_cast<T>(static_cast<Unsigned>(low) + bits % range);
      }
      return group;
    });
    return absl::OkStatus();
  });
}

KernelPlan MakeRandomUniformInt(const KernelSpec& spec) {
  if (spec.outputs[0].dtype == DType::kInt64) return UniformIntKernel<int64_t, 2>(spec);
  if (spec.outputs[0].dtype == DType::kInt32) return UniformIntKernel<int32_t, 4>(spec);
  return nullptr;
}

EST_REGISTER_KERNEL("RandomUniformInt", KernelTier::kReference, MakeRandomUniformInt);

// Fisher-Yates shuffle from the front: TF 2.15 random_shuffle_op.cc. A step takes size - 1 numbers
// of the stream, rounded up to whole results of four.
KernelPlan MakeRandomShuffle(const KernelSpec& spec) {
  const Shape& shape = spec.inputs[0].shape;
  const int64_t size = shape.rank() == 0 ? 1 : shape.dim(0);
  const size_t row_bytes = size == 0 ? 0
                                     : static_cast<size_t>(shape.num_elements() / size) *
                                           DTypeSize(spec.inputs[0].dtype);
  // Strings are objects, which memcpy must not copy.
  if (DTypeSize(spec.inputs[0].dtype) == 0) return nullptr;
  return MakeKernel(
      [stream = RandomStream(spec), size, row_bytes](const KernelArgs& args) {
        auto* const order = static_cast<int64_t*>(args.scratch);
        std::iota(order, order + size, int64_t{0});
        PhiloxNumbers numbers(stream.At(args.step, (static_cast<uint64_t>(size) + 2) / 4));
        for (int64_t i = 0; i + 1 < size; ++i) {
          const auto left = static_cast<uint32_t>(size - i);
          std::swap(order[i], order[i + static_cast<int64_t>(numbers.Next() % left)]);
        }
        for (int64_t i = 0; i < size && row_bytes > 0; ++i) {
          std::memcpy(args.out<char>(0) + static_cast<size_t>(i) * row_bytes,
                      args.in<char>(0) + static_cast<size_t>(order[i]) * row_bytes, row_bytes);
        }
      },
      static_cast<size_t>(size) * sizeof(int64_t));
}

EST_REGISTER_KERNEL("RandomShuffle", KernelTier::kReference, MakeRandomShuffle);

}  // namespace
}  // namespace estimator
