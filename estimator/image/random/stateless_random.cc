#include "estimator/image/random/stateless_random.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/array/element_limit.h"
#include "estimator/base/status.h"

namespace estimator::image {
namespace {

// Calls fn(i, x) for number i of a sequence of n numbers of 32 bits.
template <typename Fn>
void ForEach32(Philox philox, int64_t n, Fn&& fn) {
  for (int64_t i = 0; i < n; i += 4) {
    const Philox::Result numbers = philox.Next4();
    for (int64_t j = i; j < std::min(i + 4, n); ++j) fn(j, numbers[static_cast<size_t>(j - i)]);
  }
}

// The same for numbers of 64 bits. The first of two numbers of 32 bits is the lower half.
template <typename Fn>
void ForEach64(Philox philox, int64_t n, Fn&& fn) {
  for (int64_t i = 0; i < n; i += 2) {
    const Philox::Result numbers = philox.Next4();
    fn(i, uint64_t{numbers[1]} << 32 | numbers[0]);
    if (i + 1 < n) fn(i + 1, uint64_t{numbers[3]} << 32 | numbers[2]);
  }
}

absl::Status CheckShape(absl::string_view function, const Shape& shape) {
  if (HasElementsAtMost(shape, std::numeric_limits<int32_t>::max())) return absl::OkStatus();
  return InvalidArgument(function,
                         ": expects a shape of known sizes with at most 2^31 - 1 elements, got ",
                         shape.ToString());
}

absl::Status CheckBounds(int64_t minval, int64_t maxval, int64_t least, int64_t most, DType dtype) {
  constexpr absl::string_view kFunction = "StatelessRandomUniformInt";
  if (minval >= maxval) {
    return InvalidArgument(kFunction, ": need minval < maxval, got ", minval, " >= ", maxval);
  }
  if (minval < least || maxval > most) {
    return InvalidArgument(kFunction, ": minval=", minval, " and maxval=", maxval, " must be in [",
                           least, ", ", most, "], the range of ", DTypeName(dtype),
                           "; give DType::kInt64 for larger ranges");
  }
  return absl::OkStatus();
}

}  // namespace

Philox StatelessPhilox(const Seed& seed) {
  // On disk: do not change. Resumed runs draw the numbers that follow from it.
  constexpr uint64_t kScrambleKey = uint64_t{0x02461e29} << 32 | 0x3ec8f720;
  Philox scramble(kScrambleKey, static_cast<uint64_t>(seed[1]));
  scramble.Skip(static_cast<uint64_t>(seed[0]));  // the lower half of the counter is seed[0]
  const Philox::Result mix = scramble.Next4();
  return Philox(uint64_t{mix[1]} << 32 | mix[0], uint64_t{mix[3]} << 32 | mix[2]);
}

absl::StatusOr<Array> StatelessRandomUniform(const Shape& shape, const Seed& seed, float minval,
                                             float maxval) {
  EST_RETURN_IF_ERROR(CheckShape("StatelessRandomUniform", shape));
  Array result(DType::kFloat32, shape);
  float* out = result.data<float>();
  const float range = maxval - minval;
  ForEach32(StatelessPhilox(seed), result.num_elements(),
            [&](int64_t i, uint32_t x) { out[i] = UniformFloat(x) * range + minval; });
  return result;
}

absl::StatusOr<Array> StatelessRandomUniformInt(const Shape& shape, const Seed& seed,
                                                int64_t minval, int64_t maxval, DType dtype) {
  EST_RETURN_IF_ERROR(CheckShape("StatelessRandomUniformInt", shape));
  if (dtype != DType::kInt32 && dtype != DType::kInt64) {
    return InvalidArgument("StatelessRandomUniformInt: expects dtype int32 or int64, got ",
                           DTypeName(dtype));
  }
  const bool narrow = dtype == DType::kInt32;
  using Limits32 = std::numeric_limits<int32_t>;
  using Limits64 = std::numeric_limits<int64_t>;
  EST_RETURN_IF_ERROR(CheckBounds(minval, maxval, narrow ? Limits32::min() : Limits64::min(),
                                  narrow ? Limits32::max() : Limits64::max(), dtype));
  Array result(dtype, shape);
  const Philox philox = StatelessPhilox(seed);
  // Unsigned, because the sum may pass through numbers that do not fit.
  const uint64_t low = static_cast<uint64_t>(minval);
  const uint64_t range = static_cast<uint64_t>(maxval) - low;
  if (narrow) {
    int32_t* out = result.data<int32_t>();
    ForEach32(philox, result.num_elements(), [&](int64_t i, uint32_t x) {
      out[i] = static_cast<int32_t>(minval + static_cast<int64_t>(x % range));
    });
  } else {
    int64_t* out = result.data<int64_t>();
    ForEach64(philox, result.num_elements(),
              [&](int64_t i, uint64_t x) { out[i] = static_cast<int64_t>(low + x % range); });
  }
  return result;
}

}  // namespace estimator::image
