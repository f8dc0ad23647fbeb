#include "estimator/array/tree_sum.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// Blocks of a few sums fit in the L1 cache.
constexpr int64_t kBlock = 1024;

template <typename T>
using SumOf =
    std::conditional_t<std::is_same_v<T, Bfloat16> || std::is_same_v<T, Float16>, float, T>;

// Integers wrap around.
template <typename Sum>
Sum Add(Sum a, Sum b) {
  if constexpr (std::is_integral_v<Sum>) {
    using Unsigned = std::make_unsigned_t<Sum>;
    return static_cast<Sum>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

// Sets sums[i] to the sum of the elements begin + i of all inputs, for i < size <= kBlock.
template <typename In>
void AddBlock(absl::Span<const void* const> inputs, int64_t begin, int64_t size, SumOf<In>* sums) {
  using Sum = SumOf<In>;
  const auto operand = [&](size_t k) { return static_cast<const In*>(inputs[k]) + begin; };
  const auto add = [](auto a, auto b) { return Add(static_cast<Sum>(a), static_cast<Sum>(b)); };
  // Up to four operands are added in registers.
  if (inputs.size() == 1) {
    const In* a = operand(0);
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) sums[i] = static_cast<Sum>(a[i]);
  } else if (inputs.size() == 2) {
    const In *a = operand(0), *b = operand(1);
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) sums[i] = add(a[i], b[i]);
  } else if (inputs.size() == 4) {
    const In *a = operand(0), *b = operand(1), *c = operand(2), *d = operand(3);
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) sums[i] = add(add(a[i], b[i]), add(c[i], d[i]));
  } else {
    // Pairs, pairs of pairs, ... fill the largest power of two; what is left over comes to it last.
    const size_t left = std::bit_floor(inputs.size() - 1);
    Sum right[kBlock];
    AddBlock<In>(inputs.first(left), begin, size, sums);
    AddBlock<In>(inputs.subspan(left), begin, size, right);
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) sums[i] = add(sums[i], right[i]);
  }
}

template <typename In, typename Out>
void Sum(int64_t count, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) {
  const int64_t num_blocks = (count + kBlock - 1) / kBlock;
#pragma omp parallel for schedule(static) if (num_blocks > 16)
  for (int64_t block = 0; block < num_blocks; ++block) {
    const int64_t begin = block * kBlock;
    const int64_t size = std::min(kBlock, count - begin);
    if constexpr (std::is_same_v<In, Out> && std::is_same_v<Out, SumOf<In>>) {
      // Two processes of a machine: one pass over memory is faster than blocks of sums.
      if (inputs.size() == 2 && outputs.size() == 2) {
        const In *a = static_cast<const In*>(inputs[0]), *b = static_cast<const In*>(inputs[1]);
        Out *x = static_cast<Out*>(outputs[0]), *y = static_cast<Out*>(outputs[1]);
#pragma omp simd
        for (int64_t i = begin; i < begin + size; ++i) x[i] = y[i] = Add(a[i], b[i]);
        continue;
      }
    }
    // Not in an output, which may be an input that is read later.
    SumOf<In> sums[kBlock];
    AddBlock<In>(inputs, begin, size, sums);
    for (void* output : outputs) {
      Out* out = static_cast<Out*>(output) + begin;
      if constexpr (std::is_same_v<Out, SumOf<In>>) {
        std::memcpy(out, sums, static_cast<size_t>(size) * sizeof(Out));
      } else {
#pragma omp simd
        for (int64_t i = 0; i < size; ++i) out[i] = static_cast<Out>(sums[i]);
      }
    }
  }
}

}  // namespace

DType SumDType(DType dtype) {
  return dtype == DType::kBfloat16 || dtype == DType::kFloat16 ? DType::kFloat32 : dtype;
}

absl::Status TreeSum(DType in, DType out, int64_t count, absl::Span<const void* const> inputs,
                     absl::Span<void* const> outputs) {
  CHECK(!inputs.empty());
  CHECK(in == out || SumDType(in) == out || in == SumDType(out));
  // The dtype that says both: that of the two which is not a dtype of sums, if there is one.
  bool done = false;
  VisitNumeric(SumDType(in) == in ? out : in, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (!std::is_same_v<T, bool>) {
      done = true;
      if (in == out) {
        Sum<T, T>(count, inputs, outputs);
      } else if (in == kDTypeOf<T>) {
        Sum<T, SumOf<T>>(count, inputs, outputs);
      } else {
        Sum<SumOf<T>, T>(count, inputs, outputs);
      }
    }
  });
  if (done) return absl::OkStatus();
  return Unimplemented("CrossReplicaSum of ", DTypeShortName(in), ": only numbers are summed");
}

}  // namespace estimator
