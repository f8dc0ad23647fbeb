#include "estimator/distributed/tree_sum.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "absl/types/span.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

// A block and its partial sums fit in the L1 cache, so every input is read from memory once.
constexpr int64_t kTreeBlock = 1024;

template <typename T>
constexpr auto SumTypeOf() {
  if constexpr (std::is_same_v<T, Bfloat16> || std::is_same_v<T, Float16>) {
    return float{};
  } else if constexpr (std::is_integral_v<T>) {
    return std::make_unsigned_t<T>{};  // wraps around, where a signed sum would be undefined
  } else {
    return T{};
  }
}

// The sum of elements [begin, begin + size) of the inputs. size <= kTreeBlock.
template <typename T, typename Sum>
void SumBlock(absl::Span<const void* const> inputs, int64_t begin, int64_t size, Sum* sum) {
  const T* first = static_cast<const T*>(inputs[0]) + begin;
  if (inputs.size() == 1) {
    for (int64_t i = 0; i < size; ++i) sum[i] = static_cast<Sum>(first[i]);
    return;
  }
  if (inputs.size() == 2) {
    const T* second = static_cast<const T*>(inputs[1]) + begin;
    for (int64_t i = 0; i < size; ++i) {
      sum[i] = static_cast<Sum>(static_cast<Sum>(first[i]) + static_cast<Sum>(second[i]));
    }
    return;
  }
  const size_t left = std::bit_floor(inputs.size() - 1);
  Sum right[kTreeBlock];
  SumBlock<T>(inputs.subspan(0, left), begin, size, sum);
  SumBlock<T>(inputs.subspan(left), begin, size, right);
  for (int64_t i = 0; i < size; ++i) sum[i] = static_cast<Sum>(sum[i] + right[i]);
}

template <typename T>
void SumAll(int64_t count, const std::vector<const void*>& inputs,
            const std::vector<void*>& outputs) {
  using Sum = decltype(SumTypeOf<T>());
  const int64_t num_blocks = (count + kTreeBlock - 1) / kTreeBlock;
#pragma omp parallel for schedule(static) if (num_blocks > 16)
  for (int64_t block = 0; block < num_blocks; ++block) {
    const int64_t begin = block * kTreeBlock;
    const int64_t size = std::min(kTreeBlock, count - begin);
    Sum sum[kTreeBlock];
    SumBlock<T>(absl::MakeSpan(inputs), begin, size, sum);
    for (void* output : outputs) {
      T* out = static_cast<T*>(output) + begin;
      for (int64_t i = 0; i < size; ++i) out[i] = static_cast<T>(sum[i]);
    }
  }
}

}  // namespace

absl::Status TreeSum(DType dtype, int64_t count, const std::vector<const void*>& inputs,
                     const std::vector<void*>& outputs) {
  bool done = false;
  VisitNumeric(dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (!std::is_same_v<T, bool>) {
      SumAll<T>(count, inputs, outputs);
      done = true;
    }
  });
  if (done) return absl::OkStatus();
  return Unimplemented("a sum of ", DTypeName(dtype), ": only numbers are summed");
}

}  // namespace estimator
