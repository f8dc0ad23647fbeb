// RandomUniform in f32 and bf16. It gives the bits of the reference tier, and computes many
// counters at once.
#include "estimator/base/random.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/random_stream.h"

namespace estimator::fused {
namespace {

// The number of counters that are computed at once: two AVX-512 registers of 32-bit lanes.
constexpr int64_t kLanes = 32;

// A 128-bit Philox counter. Only its lower half changes.
struct Stream {
  uint64_t key = 0;
  uint64_t counter_low = 0;
  uint64_t counter_high = 0;
};

// A number in [0, 1) from as many low bits of x as its mantissa has.
template <typename T>
T Uniform(uint32_t x) {
  if constexpr (std::is_same_v<T, float>) {
    return UniformFloat(x);
  } else {
    return T(std::bit_cast<float>((127u << 23) | ((x & 0x7fu) << 16)) - 1.0f);
  }
}

// Writes results first .. first + kLanes - 1 of the stream as uniform numbers, four for each
// result. The lower half of the counter must not overflow; Run makes sure of that.
template <typename T>
void UniformLanes(const Stream& stream, uint64_t first, T* out) {
  constexpr uint64_t kM0 = 0xd2511f53, kM1 = 0xcd9e8d57;
  constexpr uint32_t kW0 = 0x9e3779b9, kW1 = 0xbb67ae85;
  uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  const uint64_t counter = stream.counter_low + first;
#pragma omp simd
  for (int64_t i = 0; i < kLanes; ++i) {
    const uint64_t low = counter + static_cast<uint64_t>(i);
    c0[i] = static_cast<uint32_t>(low);
    c1[i] = static_cast<uint32_t>(low >> 32);
    c2[i] = static_cast<uint32_t>(stream.counter_high);
    c3[i] = static_cast<uint32_t>(stream.counter_high >> 32);
  }
  uint32_t key0 = static_cast<uint32_t>(stream.key), key1 = static_cast<uint32_t>(stream.key >> 32);
  for (int round = 0; round < 10; ++round) {
#pragma omp simd
    for (int64_t i = 0; i < kLanes; ++i) {
      const uint64_t product0 = kM0 * c0[i], product1 = kM1 * c2[i];
      c0[i] = static_cast<uint32_t>(product1 >> 32) ^ c1[i] ^ key0;
      c1[i] = static_cast<uint32_t>(product1);
      c2[i] = static_cast<uint32_t>(product0 >> 32) ^ c3[i] ^ key1;
      c3[i] = static_cast<uint32_t>(product0);
    }
    key0 += kW0;
    key1 += kW1;
  }
  for (int64_t i = 0; i < kLanes; ++i) {
    out[4 * i] = Uniform<T>(c0[i]);
    out[4 * i + 1] = Uniform<T>(c1[i]);
    out[4 * i + 2] = Uniform<T>(c2[i]);
    out[4 * i + 3] = Uniform<T>(c3[i]);
  }
}

template <typename T>
KernelPlan MakeTypedRandomUniform(const KernelSpec& spec) {
  const int64_t size = spec.outputs[0].shape.num_elements();
  constexpr int64_t kBlock = 4 * kLanes;
  const Chunks chunks = MakeChunks((size + kBlock - 1) / kBlock, kBlock);
  return MakeKernel([size, random = RandomStream(spec), chunks](const KernelArgs& args) {
    // Steps times elements are far below 2^56, so the lower half of the counter never overflows.
    const Stream stream{.key = random.Key(args.step),
                        .counter_low = static_cast<uint64_t>(args.step.step) * kReservedPerNumber *
                                       static_cast<uint64_t>(size),
                        .counter_high = random.seed2()};
    T* const out = args.out<T>(0);
    ForEachItem(chunks, [&](int, int64_t block) {
      const auto first = static_cast<uint64_t>(block * kLanes);
      if ((block + 1) * kBlock <= size) {
        UniformLanes(stream, first, out + block * kBlock);
        return;
      }
      // The lanes are always written as a whole, so the last block goes through a copy.
      T rest[kBlock];
      UniformLanes(stream, first, rest);
      std::copy(rest, rest + (size - block * kBlock), out + block * kBlock);
    });
  });
}

KernelPlan MakeRandomUniform(const KernelSpec& spec) {
  const DType dtype = spec.outputs[0].dtype;
  if (dtype == DType::kFloat32) return MakeTypedRandomUniform<float>(spec);
  if (dtype == DType::kBfloat16) return MakeTypedRandomUniform<Bfloat16>(spec);
  return nullptr;
}

EST_REGISTER_KERNEL("RandomUniform", KernelTier::kFused, MakeRandomUniform);

}  // namespace
}  // namespace estimator::fused
