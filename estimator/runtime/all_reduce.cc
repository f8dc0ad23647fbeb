#include "estimator/runtime/all_reduce.h"

#include <algorithm>
#include <type_traits>

#include "estimator/base/status.h"

namespace estimator {
namespace {

template <typename T>
void Sum(int64_t count, const std::vector<const void*>& inputs, const std::vector<void*>& outputs) {
  using Wide =
      std::conditional_t<std::is_same_v<T, Bfloat16> || std::is_same_v<T, Float16>, float, T>;
  // A block and its sums fit in the L1 cache, so every input is read from memory once.
  constexpr int64_t kBlock = 1024;
  const int64_t num_blocks = (count + kBlock - 1) / kBlock;
#pragma omp parallel for schedule(static) if (num_blocks > 16)
  for (int64_t block = 0; block < num_blocks; ++block) {
    const int64_t begin = block * kBlock;
    const int64_t size = std::min(kBlock, count - begin);
    // 16-bit floats are added in f32, so a sum is rounded once and not after each replica.
    Wide sums[kBlock];
    const T* first = static_cast<const T*>(inputs[0]) + begin;
    for (int64_t i = 0; i < size; ++i) sums[i] = static_cast<Wide>(first[i]);
    // Each element is added up in the order of the replicas, whatever the number of threads.
    for (size_t replica = 1; replica < inputs.size(); ++replica) {
      const T* in = static_cast<const T*>(inputs[replica]) + begin;
      for (int64_t i = 0; i < size; ++i)
        sums[i] = static_cast<Wide>(sums[i] + static_cast<Wide>(in[i]));
    }
    for (void* output : outputs) {
      T* out = static_cast<T*>(output) + begin;
      for (int64_t i = 0; i < size; ++i) out[i] = static_cast<T>(sums[i]);
    }
  }
}

}  // namespace

absl::Status AllReduceSum(const TensorSpec& spec, const std::vector<const void*>& inputs,
                          const std::vector<void*>& outputs) {
  bool done = false;
  VisitNumeric(spec.dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (!std::is_same_v<T, bool>) {
      Sum<T>(spec.shape.num_elements(), inputs, outputs);
      done = true;
    }
  });
  if (done) return absl::OkStatus();
  return Unimplemented("CrossReplicaSum of ", spec.ToString(), ": only numbers are summed");
}

}  // namespace estimator
